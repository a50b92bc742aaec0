"""Answers: to whom they belong, when they are taken, what they cost, what lists show of them."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, Invalid, NotAllowed, PageRequest
from keyfold_engine.clock import ManualClock
from keyfold.streams import AsyncConsumer
from keyfold_systems import inviter
from keyfold_systems.inviter.entities import (
    MOST_GROUPS_INVITED,
    MOST_USERS_INVITED,
    Answer,
    Hangout,
    Membership,
    Response,
)
from keyfold_systems.inviter.payloads import Guests, HangoutChange, NewHangout
from tests.systems.conftest import ADDRESS, Recorder

from .conftest import NOW, Town
from .test_races import Interposed, clean

PAGE = PageRequest(limit=50)
README = Path(inviter.__path__[0]) / "README.md"


async def answers(db: AsyncDb) -> set[str]:
    return {one.user_id async for one in db.scan(Response)}


async def full(town: Town, guests: int = MOST_USERS_INVITED) -> tuple[Hangout, list[Identity]]:
    """A hangout with as many groups and guests as it can have."""
    await town.settle()
    groups = [
        await town.service.create_group(f"G{n}", town.ada) for n in range(MOST_GROUPS_INVITED)
    ]
    people = [Identity.of(f"u{n}") for n in range(guests)]
    for one in people:
        await town.service.save_user(one.id, one.id)
    new = NewHangout(
        title="All",
        starts_at=NOW + timedelta(hours=1),
        ends_at=NOW + timedelta(hours=2),
        group_ids={one.group_id for one in groups},
        user_ids={one.id for one in people},
    )
    return await town.service.create_hangout(new, town.ada), people


async def test_an_answer_to_a_full_hangout_writes_two_items_that_nobody_else_writes(
    town: Town, db: AsyncDb, client: Recorder
) -> None:
    hangout, people = await full(town)
    written = []
    for one in people[:2]:
        client.requests.clear()
        with db.work("answer") as work:
            await town.service.respond(hangout.hangout_id, Answer.GOING, one)
        assert work.total.write_units <= 6, "143 when it moved the counts itself"
        [transaction] = [r for name, r in client.requests if name == "TransactWriteItems"]
        items = [next(iter(part.values())) for part in transaction["TransactItems"]]
        keys = [part.get("Key") or part["Item"] for part in items]
        written.append({(key["PK"]["S"], key["SK"]["S"]) for key in keys})
    event = f"EVENT#{hangout.hangout_id}"
    assert written[0] == {(event, "RESPONSE#u0"), ("USER#u0", "METADATA")}
    assert not written[0] & written[1], "people who answer at once do not meet"


if ADDRESS is None:  # other servers count units in their own way

    async def test_the_readme_says_what_an_answer_costs(town: Town, db: AsyncDb) -> None:
        hangout, people = await full(town)
        await town.drain()

        async def units(*answering: Identity) -> tuple[float, float]:
            """Write units of those who answer at once, and of the stream."""
            caller = 0.0

            async def answer(one: Identity) -> None:
                nonlocal caller
                with db.work("answer") as work:
                    await town.service.respond(hangout.hangout_id, Answer.GOING, one)
                caller += work.total.write_units

            await asyncio.gather(*map(answer, answering))
            with db.work("stream") as work:
                await AsyncConsumer(db).drain()
            return caller, work.total.write_units

        first, *others = people
        alone = await units(first)
        together = await units(*others)
        rows = re.findall(r"\| write units [^|]* \| \d+ \| (\d+) \|", README.read_text("utf-8"))
        assert [int(one) for one in rows] == [*alone, round(sum(together) / len(others))]


async def test_many_answers_at_once_are_counted_together(
    town: Town, db: AsyncDb, client: Recorder
) -> None:
    hangout, people = await full(town)
    await town.drain()
    await asyncio.gather(
        *(town.service.respond(hangout.hangout_id, Answer.GOING, one) for one in people)
    )
    client.requests.clear()
    await AsyncConsumer(db).drain()
    event = f"EVENT#{hangout.hangout_id}"
    counting = [
        request
        for name, request in client.requests
        if name == "TransactWriteItems"
        and any(
            part.get("Update", {}).get("Key") == {"PK": {"S": event}, "SK": {"S": "METADATA"}}
            for part in request["TransactItems"]
        )
    ]
    assert len(counting) <= 3, "30 answers, each on 46 lists"
    assert (await town.service.hangout(hangout.hangout_id)).going == len(people)
    [card] = await town.service.my_hangouts("u0", PAGE)
    assert card.going == len(people)
    await clean(db)


async def test_a_withdrawn_invitation_takes_its_answer_along(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    for one in (town.ada, town.ben, town.cleo):
        await town.service.respond(hangout.hangout_id, Answer.GOING, one)
    await town.drain()
    await town.service.withdraw(hangout.hangout_id, Guests(user_ids={"cleo"}))
    await clean(db)
    assert await answers(db) == {"ada", "ben"}
    await town.service.withdraw(hangout.hangout_id, Guests(group_ids={group.group_id}))
    await clean(db)
    assert await answers(db) == {"ada"}, "the host stays"
    assert (await town.service.hangout(hangout.hangout_id)).going == 1


async def test_who_is_invited_by_name_and_by_group_keeps_the_answer_without_the_name(
    town: Town, db: AsyncDb
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"ben"})
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    await town.service.withdraw(hangout.hangout_id, Guests(user_ids={"ben"}))
    await clean(db)
    assert await answers(db) == {"ben"}


async def test_an_answer_that_comes_just_after_the_withdrawal_does_not_stay(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, group_ids=set(), user_ids={"cleo"})
    withdraw = town.service.withdraw
    guests = Guests(user_ids={"cleo"})
    Interposed(client, monkeypatch, act=lambda: withdraw(hangout.hangout_id, guests))
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.cleo)
    await clean(db)
    assert await answers(db) == set()
    with pytest.raises(NotAllowed):
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.cleo)


async def test_an_answer_that_comes_just_after_leaving_the_group_does_not_stay(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    leave = town.service.leave_group
    Interposed(client, monkeypatch, act=lambda: leave(group.group_id, "ben"))
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    await clean(db)
    assert await answers(db) == set()


async def test_nobody_answers_or_is_invited_to_what_is_cancelled_or_over(
    town: Town, db: AsyncDb, clock: ManualClock
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    more = Guests(user_ids={"cleo"})
    await town.service.update_hangout(hangout.hangout_id, HangoutChange(cancelled=True))
    with pytest.raises(Conflict, match="cancelled"):
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    with pytest.raises(Conflict, match="cancelled"):
        await town.service.invite(hangout.hangout_id, more, town.ada)
    await town.service.update_hangout(hangout.hangout_id, HangoutChange(cancelled=False))
    clock.advance(25 * 3600)
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    clock.advance(2 * 3600)
    with pytest.raises(Conflict, match="over"):
        await town.service.respond(hangout.hangout_id, Answer.MAYBE, town.ben)
    with pytest.raises(Conflict, match="over"):
        await town.service.invite(hangout.hangout_id, more, town.ada)
    assert await answers(db) == {"ben"}


async def test_a_host_prolongs_and_changes_what_has_begun(town: Town, clock: ManualClock) -> None:
    hangout = await town.hangout(await town.settle())
    clock.advance(25.5 * 3600)
    id, begun = hangout.hangout_id, hangout.starts_at
    later = hangout.ends_at + timedelta(hours=3)
    change = HangoutChange(starts_at=begun, ends_at=later, place="Lake")
    changed = await town.service.update_hangout(id, change)
    assert (changed.starts_at, changed.ends_at, changed.place) == (begun, later, "Lake")
    with pytest.raises(Invalid, match="planned before it starts"):
        await town.service.update_hangout(id, HangoutChange(starts_at=begun - timedelta(minutes=1)))


async def test_a_change_of_nothing_tells_the_version_that_is_there(town: Town) -> None:
    hangout = await town.hangout(await town.settle())
    await town.service.update_hangout(hangout.hangout_id, HangoutChange(place="Lake"))
    same = await town.service.update_hangout(
        hangout.hangout_id, HangoutChange(), expected_version=1
    )
    assert same.version == 2


async def test_a_host_finds_a_hangout_with_direct_invitations_only(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, group_ids=set(), user_ids={"cleo"})
    for cards in (
        await town.service.my_hangouts("ada", PAGE),
        await town.service.hosted("ada", PAGE),
    ):
        assert [one.hangout_id for one in cards] == [hangout.hangout_id]
    assert [one.hangout_id for one in await town.service.my_hangouts("ben", PAGE)] == []


async def test_a_feed_begins_with_what_was_planned_last(town: Town, clock: ManualClock) -> None:
    group = await town.settle()
    made = []
    for hours in (5, 90, 2):
        made.append((await town.hangout(group, hours=hours)).hangout_id)
        clock.advance(1)
    feed = await town.service.group_feed(group.group_id, PageRequest(limit=2), town.ben)
    rest = await town.service.group_feed(
        group.group_id, PageRequest(limit=2, cursor=feed.cursor), town.ben
    )
    assert [one.hangout_id for one in (*feed, *rest)] == made[::-1]


async def test_cards_carry_names_and_the_readers_own_answer(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    await town.service.respond(hangout.hangout_id, Answer.MAYBE, town.ben)
    await town.service.save_user("ada", "Ada Lang")
    await town.drain()
    [mine] = await town.service.my_hangouts("ben", PAGE)
    assert (mine.host_name, mine.group_name, mine.my_answer) == ("Ada Lang", "Runners", "maybe")
    for cards in (
        await town.service.group_feed(group.group_id, PAGE, town.ada),
        await town.service.group_upcoming(group.group_id, PAGE, town.ada),
    ):
        [card] = cards
        assert (card.host_name, card.group_name) == ("Ada Lang", "Runners")
        assert (card.my_answer, card.maybe) == (None, 1)
    [given] = await town.service.responses(hangout.hangout_id, PAGE)
    assert given.user_name == "Ben A"
    await town.service.save_user("ben", "Benno")
    await town.drain()
    [given] = await town.service.responses(hangout.hangout_id, PAGE)
    assert given.user_name == "Benno"


async def test_a_guest_list_has_names_and_answers_in_two_requests(
    town: Town, client: Recorder
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.cleo)
    client.requests.clear()
    guests = await town.service.guests(hangout.hangout_id, town.cleo)
    assert [name for name, _ in client.requests] == ["GetItem", "BatchGetItem"]
    assert [(one.name, one.members) for one in guests.groups] == [("Runners", 2)]
    assert [(one.name, one.answer) for one in guests.users] == [
        ("Ada A", None),
        ("Cleo A", "going"),
    ]
    assert (guests.host_name, guests.my_answer) == ("Ada A", "going")


async def test_text_is_cleared_by_null_and_stays_where_it_is_left_out(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, place="Lake", description="Bring shoes")
    changed = await town.service.update_hangout(
        hangout.hangout_id, HangoutChange.model_validate({"place": None})
    )
    assert (changed.place, changed.description) == ("", "Bring shoes")


async def test_a_hosts_own_answer_stays_when_they_leave_the_group(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.ada)
    await town.service.hand_over_group(group.group_id, "ben", town.ada)
    await town.service.leave_group(group.group_id, "ada")
    await clean(db)
    assert await answers(db) == {"ada"}
    assert (await town.service.hangout(hangout.hangout_id)).going == 1


async def test_who_leaves_a_group_leaves_the_answers_of_other_groups_alone(
    town: Town, db: AsyncDb
) -> None:
    group = await town.settle()
    other = await town.service.create_group("Swimmers", town.ada)
    await town.service.join_group(other.group_id, town.ben)
    for one in (group, other):
        hangout = await town.hangout(one)
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    await town.service.leave_group(group.group_id, "ben")
    await clean(db)
    assert [one.group_id async for one in db.scan(Response)] == [other.group_id]
    assert await db.find(Membership.key(group_id=other.group_id, user_id="ben")) is not None
