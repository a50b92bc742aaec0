"""A room with as many members as it takes, who all state as much as they may."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from keyfold_web import Identity, PageRequest
from keyfold_systems.search_room.combination import Mode
from keyfold_systems.search_room.entities import MOST_MEMBERS
from keyfold_systems.search_room.payloads import NewCriteria
from keyfold_systems.search_room.wishes import LONGEST_WORD, MOST_BYTES, MOST_CRITERIA, MOST_WORDS

from .conftest import MIA, Home


def much(of: str, places: int) -> NewCriteria:
    """So many criteria with long names, each with one long word; in characters of four bytes."""
    word = of.rjust(LONGEST_WORD, "🏡")
    names = (f"{number:03d}{word[3:]}" for number in range(places))
    return NewCriteria.model_validate({"criteria": {name: [word] for name in names}})


def most(of: str) -> NewCriteria:
    """As many of them as can be stated."""
    places = 1
    while True:
        try:
            much(of, places + 1)
        except ValidationError:
            return much(of, places)
        places += 1


def test_who_states_too_much_is_told_how_much_it_may_be() -> None:
    with pytest.raises(ValidationError, match=f"state less than {MOST_BYTES:,} bytes"):
        much("mia", MOST_CRITERIA)


@pytest.mark.parametrize("mode", ["strict", "mixed", "all"])
async def test_what_everybody_states_is_shown_and_combined(home: Home, mode: Mode) -> None:
    others = [Identity.of(f"u{number:02d}") for number in range(MOST_MEMBERS - 2)]
    for one in others:
        await home.join(one)
    everybody = [MIA.id, "jonas", *(one.id for one in others)]
    for user in everybody:
        await home.service.save_criteria(home.room.room_id, most(user), Identity.of(user))
    stated = await home.service.criteria(home.room.room_id)
    assert sorted(one.user_id for one in stated) == sorted(everybody)
    combined = await home.service.combine_criteria(home.room.room_id, mode, MIA)
    assert sorted(combined.from_user_ids) == sorted(everybody)


async def test_an_activity_names_some_of_many_conflicts_and_how_many_more(home: Home) -> None:
    for user, word in (("mia", "a"), ("jonas", "b")):
        names = (f"{n:02d} {'x' * LONGEST_WORD}"[:LONGEST_WORD] for n in range(MOST_CRITERIA))
        await home.wish(Identity.of(user), **{name: [word] for name in names})
    await home.service.combine_criteria(home.room.room_id, "strict", MIA)
    (last,) = (await home.service.activities(home.room.room_id, PageRequest(1))).items
    assert last.text.endswith(f", 19 {'x' * (LONGEST_WORD - 3)} and 20 more)")


def test_a_statement_has_many_words() -> None:
    """The bound is far above what somebody states who means it."""
    wishes = {f"criterion {number}": ["Bern", "Thun", "Köniz"] for number in range(MOST_CRITERIA)}
    wishes["location"] = ["Ostermundigen"] * MOST_WORDS
    del wishes["criterion 0"]
    assert NewCriteria.model_validate({"criteria": wishes}).criteria == wishes
