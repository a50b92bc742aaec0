"""Reports, locks on them, decisions and the trail that they leave; plans and suspensions."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from keyfold_web import Conflict, Identity, Invalid, Missing
from keyfold_systems.gg_core.oversight import Lock, Report, SubjectType
from keyfold_systems.gg_core.payloads import NewReport, NewRoom, ReportView
from tests.systems.opening import LATER, ask, stored, sweep
from tests.systems.suspension import check_suspension

from .conftest import FIRST, MIA, OLGA, ROOT, SAM, World

pytestmark = LATER
MODERATORS = [Identity.of(name, "moderator") for name in ("mo", "mara", "max")]
MO, MARA, _ = MODERATORS


async def reported(world: World, kind: SubjectType = "user", one: str = "sam") -> Report:
    input = NewReport(subject_type=kind, subject_id=one, reason="Spam")
    return await world.service.report(input, caller=OLGA)


def named(report: Report | ReportView) -> tuple[str, SubjectType, str]:
    return report.reporter_id, report.subject_type, report.subject_id


async def trail(world: World) -> list[tuple[str, str, str]]:
    return [(one.by, one.action, one.subject) for one in await world.service.audit(FIRST)]


async def test_a_report_is_listed_until_it_is_handled(world: World) -> None:
    report = await reported(world)
    with pytest.raises(Conflict, match="already"):
        await reported(world)
    assert [named(one) for one in await world.service.reports(FIRST)] == [named(report)]
    await world.register(MO)
    handled = await world.service.handle_report(*named(report), "dismissed", MO, "No spam")
    assert (handled.status, handled.handled_by, handled.note) == ("dismissed", "mo", "No spam")
    assert (await world.service.reports(FIRST)).items == []
    [kept] = await world.service.reports(FIRST, "dismissed")
    assert (named(kept), kept.handled_by_name) == (named(report), "Mo")
    with pytest.raises(Conflict, match="handled"):
        await world.service.handle_report(*named(report), "removed", MARA)
    await world.settle()
    [notice] = await world.service.notifications("olga", FIRST)
    assert (notice.kind, notice.text) == ("report_handled", "dismissed")
    assert await trail(world) == [("mo", "report dismissed", "user sam")]
    assert (await world.service.audit(FIRST))[0].by_name == "Mo"


async def test_moderators_see_what_a_report_is_about_and_whose_it_is(world: World) -> None:
    post = await world.post(SAM, "Buy this")
    input = NewReport(
        subject_type="activity",
        subject_id=post.activity_id,
        place_id="sam",
        created_at=post.created_at,
        reason="Spam",
    )
    await world.service.report(input, caller=OLGA)
    [shown] = await world.service.reports(FIRST)
    assert (shown.excerpt, shown.owner_id, shown.reason) == ("Buy this", "sam", "Spam")
    assert (shown.owner_name, shown.reporter_name) == ("Sam", "Olga")


async def test_what_is_not_there_is_not_reported(world: World) -> None:
    for kind, one in (("user", "nobody"), ("group", "none"), ("activity", "x"), ("message", "x")):
        input = NewReport.model_validate(
            {"subject_type": kind, "subject_id": one, "reason": "Spam"}
        )
        with pytest.raises(Invalid):
            await world.service.report(input, caller=OLGA)


async def test_what_one_does_not_see_or_made_oneself_is_not_reported(world: World) -> None:
    room = await world.service.create_room(NewRoom(scope="dm", members={"sam"}), caller=MIA)
    message = await world.service.send_message(room.room_id, "Psst", caller=MIA)
    group = await world.found(MIA)
    inside = await world.post(MIA, "For members", group=group.group_id)
    for kind, one, place, at in (
        ("message", message.message_id, room.room_id, message.created_at),
        ("activity", inside.activity_id, group.group_id, inside.created_at),
    ):
        given = {"subject_type": kind, "subject_id": one, "place_id": place, "created_at": at}
        input = NewReport.model_validate({**given, "reason": "Spam"})
        with pytest.raises(Invalid, match="does not exist"):
            await world.service.report(input, caller=OLGA)
        with pytest.raises(Invalid, match="your own"):
            await world.service.report(input, caller=MIA)
    await world.service.join_group(group.group_id, caller=OLGA)
    await world.service.report(input, caller=OLGA)


async def test_a_decision_removes_posts_messages_and_groups(world: World) -> None:
    post = await world.post(SAM, "Buy this")
    room = await world.service.create_room(NewRoom(scope="dm", members={"olga"}), caller=SAM)
    message = await world.service.send_message(room.room_id, "Buy this", caller=SAM)
    group = await world.found(SAM)
    things: list[tuple[SubjectType, str, str | None, object]] = [
        ("activity", post.activity_id, "sam", post.created_at),
        ("message", message.message_id, room.room_id, message.created_at),
        ("group", group.group_id, None, None),
    ]
    for kind, one, place, at in things:
        input = NewReport.model_validate(
            {
                "subject_type": kind,
                "subject_id": one,
                "place_id": place,
                "created_at": at,
                "reason": "Spam",
            }
        )
        report = await world.service.report(input, caller=OLGA)
        await world.service.handle_report(*named(report), "removed", MO)
    await world.settle()
    assert (await world.service.activities("sam", FIRST, caller=OLGA)).items == []
    assert (await world.service.messages(room.room_id, FIRST, caller=OLGA)).items == []
    assert (await world.service.groups("sam", FIRST)).items == []
    assert len(await trail(world)) == 3
    told = [one for one in await world.service.notifications("sam", FIRST) if one.kind == "removed"]
    assert sorted(one.text for one in told)[:2] == ["Buy this: Spam"] * 2
    assert len(told) == 3


async def test_one_moderator_at_a_time_looks_into_a_report(world: World) -> None:
    report = await reported(world)
    claims = [world.service.claim_report(*named(report), caller=one) for one in MODERATORS]
    outcomes = await asyncio.gather(*claims, return_exceptions=True)
    [held] = [one for one in outcomes if isinstance(one, Lock)]
    holder, *others = sorted(MODERATORS, key=lambda one: one.id != held.holder_id)
    with pytest.raises(Conflict, match="Another"):
        await world.service.handle_report(*named(report), "dismissed", others[0])
    again = await world.service.claim_report(*named(report), caller=holder)
    assert again.holder_id == holder.id
    # It ends by itself, also before what is over is removed.
    world.clock.advance(15 * 60 + 1)
    taken = await world.service.claim_report(*named(report), caller=others[0])
    assert taken.holder_id == others[0].id
    world.clock.advance(15 * 60 + 1)
    await sweep(world.db, world.sandbox, "gg_core")
    keys = [item["PK"]["S"] for item in await stored(world.db, "gg_core")]
    assert not any(key.startswith("LOCK#") for key in keys)
    await world.service.handle_report(*named(report), "dismissed", others[1])


async def test_who_is_suspended_reads_and_does_not_write(world: World) -> None:
    profile = ("PATCH", "/users/sam", {"fullName": "Samuel"})
    await check_suspension(world.service, "sam", profile, "/users/olga")
    report = await reported(world)
    await world.service.handle_report(*named(report), "removed", MO)
    found = await world.service.suspended("sam")
    assert found is not None
    assert (found.reason, found.until - world.db.context.now() > timedelta(days=29)) == (
        "Spam",
        True,
    )
    await world.settle()
    assert (await world.announced()).count("UserSuspended") == 2


async def test_an_administrator_changes_a_tier_and_nobody_else(world: World) -> None:
    assert (await world.service.user("mia", caller=OLGA)).tier == "free"
    await ask(world.service, "changeTier", ROOT, user_id="mia", tier="pro", note="Won a year")
    assert (await world.service.user("mia", caller=OLGA)).tier == "pro"
    assert await trail(world) == [("root", "tier pro", "user mia")]
    await world.register(ROOT)
    assert (await world.service.audit(FIRST))[0].by_name == "Root"
    with pytest.raises(Missing, match='"nobody" does not exist'):
        await ask(world.service, "changeTier", ROOT, user_id="nobody", tier="pro")
    with pytest.raises(Missing, match="nobody"):
        await ask(world.service, "endPromotion", ROOT, actor_id="nobody")
    callers = {"mia": MIA, "mo": MO, "root": ROOT}
    verdicts = await world.service.verdicts("change_tier", callers, user_id="mia")
    assert verdicts == {"mia": 403, "mo": 403, "root": 200}
    await world.settle()
    assert (await world.announced()).count("UserChanged") == 1


async def test_what_is_removed_over_somebodys_head_leaves_a_trail(world: World) -> None:
    mine, theirs = await world.post(MIA), await world.post(MIA)
    await world.service.delete_activity("mia", mine.activity_id, mine.created_at, caller=MIA)
    await world.service.delete_activity("mia", theirs.activity_id, theirs.created_at, caller=MO)
    subject = f"activity mia/{theirs.activity_id}"
    assert await trail(world) == [("mo", "remove", subject)]
