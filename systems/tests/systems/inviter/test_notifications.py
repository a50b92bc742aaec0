"""Notifications: who gets them, once each, and what reading them changes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity, PageRequest
from keyfold_engine.clock import ManualClock
from keyfold_systems.inviter.entities import (
    NOTIFICATION_DAYS,
    Answer,
    Mailing,
    NoticeKind,
    Notification,
    User,
)
from keyfold_systems.inviter.payloads import Guests, HangoutChange
from tests.systems.conftest import Recorder
from tests.systems.opening import forget_progress

from .conftest import Town
from .test_races import clean

PAGE = PageRequest(limit=200)


async def told(town: Town, user: str) -> list[tuple[str, str, str | None]]:
    """What somebody has on their list, the oldest first."""
    await town.drain()
    found = await town.service.notifications(user, PAGE)
    return [(one.kind.value, one.title, one.actor_name) for one in found][::-1]


async def test_everybody_concerned_is_told(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    assert await told(town, "cleo") == [("invited", "Run", "Ada A")]
    assert await told(town, "ben") == [("invited", "Run", "Ada A")]
    assert await told(town, "ada") == [("group_joined", "Runners", "Ben A")]
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    assert (await told(town, "ada"))[1:] == [("answered", "Run", "Ben A")]
    await town.service.update_hangout(hangout.hangout_id, HangoutChange(title="Long run"))
    await town.drain()
    await town.service.update_hangout(hangout.hangout_id, HangoutChange(cancelled=True))
    assert [one[0] for one in (await told(town, "ben"))[1:]] == ["changed", "cancelled"]
    assert await told(town, "cleo") == [("invited", "Run", "Ada A")], "who does not come"
    await town.service.invite_to_group(group.group_id, "cleo", town.ben)
    await town.service.hand_over_group(group.group_id, "ben", town.ada)
    assert (await told(town, "cleo"))[1:] == [("group_invited", "Runners", "Ben A")]
    assert (await told(town, "ben"))[-1] == ("group_handed_over", "Runners", "Ada A")


async def test_a_large_group_is_told_in_parts_and_everybody_once(
    town: Town, db: AsyncDb, clock: ManualClock
) -> None:
    group = await town.settle()
    other = await town.service.create_group("Swimmers", town.ada)
    people = [Identity.of(f"u{n:02d}") for n in range(70)]
    for one in people:
        await town.service.save_user(one.id, one.id)
        await town.service.join_group(group.group_id, one)
    for one in people[:5]:
        await town.service.join_group(other.group_id, one)
    await town.drain()
    await town.hangout(group, group_ids={group.group_id, other.group_id}, user_ids={"u69"})
    await town.drain()
    await forget_progress(db)
    clock.advance(60)
    await clean(db)
    found = [one async for one in db.scan(Notification) if one.kind == NoticeKind.INVITED]
    assert sorted(one.user_id for one in found) == sorted({*(p.id for p in people), "ben"})
    assert [one async for one in db.scan(Mailing)] == []


async def test_reading_moves_the_number_of_unread_ones(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    for hour in (1, 2, 3):
        await town.hangout(group, hours=hour, user_ids={"cleo"})
    await town.drain()
    notes = [one.note_id for one in await town.service.notifications("cleo", PAGE)]
    assert (await town.service.profile("cleo")).unread == 3
    service = town.service
    for named, read, changed, unread in (
        ({notes[0], notes[1], "none"}, True, 2, 1),
        ({notes[0]}, True, 0, 1),
        ({notes[0]}, False, 1, 2),
    ):
        assert (await service.read_notifications("cleo", named, read=read)).count == changed
        assert (await service.unread("cleo")).unread == unread
    shown = await town.service.notifications("cleo", PAGE)
    assert [one.read for one in shown] == [False, True, False]
    await clean(db)


async def test_notifications_end_after_a_while(
    town: Town, db: AsyncDb, client: Recorder, clock: ManualClock
) -> None:
    await town.hangout(await town.settle(), user_ids={"cleo"})
    await town.drain()
    [note] = [one async for one in db.scan(Notification) if one.user_id == "cleo"]
    assert note.at is not None
    assert note.expires_at == note.at + timedelta(days=NOTIFICATION_DAYS)


async def test_nobody_is_told_of_what_they_did_themselves(town: Town) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    await town.service.respond(hangout.hangout_id, Answer.GOING, town.ada)
    await town.service.update_hangout(hangout.hangout_id, HangoutChange(place="Lake"))
    assert await told(town, "ada") == [("group_joined", "Runners", "Ben A")]


@pytest.mark.parametrize("gone", ["hangout", "guest"])
async def test_what_is_gone_is_told_to_nobody(town: Town, db: AsyncDb, gone: str) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    await town.service.invite(hangout.hangout_id, Guests(user_ids={"cleo"}), town.ada)
    if gone == "hangout":
        await town.service.delete_hangout(hangout.hangout_id)
    else:
        await town.service.delete_user("cleo")
    await clean(db)
    told_of = {one.user_id async for one in db.scan(Notification) if one.kind == "invited"}
    assert told_of == ({"cleo"} if gone == "hangout" else {"ben"})
    assert [one async for one in db.scan(Mailing)] == []
    assert {one.user_id for one in [u async for u in db.scan(User)]} >= {"ada", "ben"}
