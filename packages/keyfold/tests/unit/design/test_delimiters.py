"""Whatever stands between two fields of a key, two different pairs never get one key."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from keyfold import Design, Entity, Key, Timestamp
from keyfold.design.template import parse_template
from keyfold.errors import KeyValueRefused

DELIMITERS = ["|", ":", "/", "_", ".", "-", "~", "--", "#", "::", "#AND#", "aa"]


def pair(delimiter: str, *, escape: bool = False) -> Any:
    design = Design("delimited")

    class Thing(Entity, table=design.table("things")):
        a: str
        b: str
        key = Key(f"U{delimiter}{{a}}{delimiter}{{b}}", "U", escape=escape)

    return Thing


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_a_value_that_holds_what_ends_its_place_is_refused(delimiter: str) -> None:
    thing = pair(delimiter)
    with pytest.raises(KeyValueRefused, match="holds"):
        thing.key(a=f"x{delimiter}y", b="z").wire()
    assert thing.key(a="x", b="y").wire()["PK"] == {"S": f"U{delimiter}x{delimiter}y"}


def test_two_pairs_are_two_items() -> None:
    thing = pair("|")
    with thing.__table__.design.open(":memory:") as db:
        db.put(thing(a="x", b="y|z"))
        with pytest.raises(KeyValueRefused, match=r"a='x\|y' holds the key delimiter '\|'"):
            db.put(thing(a="x|y", b="z"))
        assert db.get(thing.key(a="x", b="y|z")).b == "y|z"


def test_the_end_of_a_value_cannot_be_taken_for_the_delimiter() -> None:
    thing = pair("--")
    with pytest.raises(KeyValueRefused):
        thing.key(a="x-", b="y").wire()
    assert thing.key(a="x", b="-y").wire()["PK"] == {"S": "U--x---y"}


_TEXT = st.text("x|:-~a#%", min_size=1, max_size=5)


@given(st.sampled_from(DELIMITERS), st.booleans(), _TEXT, _TEXT, _TEXT, _TEXT)
def test_different_pairs_have_different_keys_and_are_read_back(
    delimiter: str, escape: bool, a: str, b: str, c: str, d: str
) -> None:
    template = parse_template(f"U{{one}}{delimiter}{{other}}", escape=escape)
    pairs = [{"one": a, "other": b}, {"one": c, "other": d}]
    try:
        first, second = (template.render(one) for one in pairs)
    except KeyValueRefused:
        assume(not escape)
        return
    assert (first == second) == (pairs[0] == pairs[1])
    assert template.parse(first) == pairs[0]


@given(st.sampled_from(DELIMITERS), _TEXT, _TEXT)
def test_an_escaped_key_takes_every_value(delimiter: str, a: str, b: str) -> None:
    template = parse_template(f"U{{one}}{delimiter}{{other}}", escape=True)
    assert template.parse(template.render({"one": a, "other": b})) == {"one": a, "other": b}


def test_values_of_a_fixed_width_may_hold_it() -> None:
    design = Design("fixed")

    class Log(Entity, table=design.table("logs")):
        day: date
        id: UUID
        at: Timestamp
        text: str
        number: int
        key = Key("{day}-{id}-{at:iso}:{at:%Y-%m}-{number:04d}-{text}", "LOG")

    with design.open(":memory:") as db:
        log = Log(
            day=date(2026, 1, 2),
            id=UUID(int=7),
            at=datetime(2026, 1, 2, tzinfo=UTC),
            text="a-b:c",
            number=7,
        )
        db.put(log)
        assert db.get(log.ref()) == log
