"""What Inviter announces: each change once, also when requests and deliveries are repeated."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_engine.clock import ManualClock
from keyfold.streams import AsyncConsumer, Event, Queue
from keyfold_systems.inviter.entities import Answer
from keyfold_systems.inviter.payloads import Guests, HangoutChange
from tests.systems.conftest import Recorder, served
from tests.systems.opening import forget_progress
from tests.systems.repeats import check_repeats

from .conftest import Town
from .test_repeats import STEPS

ANNOUNCED = {
    "report": "ContentReported",
    "decide": "ModeratorDecided",
    "suspendUser": "ModeratorDecided",
    "restoreUser": "ModeratorDecided",
    "saveUser": "UserCreated",
    "deleteUser": "UserDeleted",
    "deletePersonalData": "UserDeleted",
    "createGroup": "GroupCreated",
    "renameGroup": "GroupRenamed",
    "setPrivacy": "GroupPrivacyChanged",
    "handOverGroup": "GroupHandedOver",
    "inviteToGroup": "GroupInvitationSent",
    "declineGroup": "GroupInvitationEnded",
    "deleteGroup": "GroupDeleted",
    "joinGroup": "GroupJoined",
    "leaveGroup": "GroupLeft",
    "createHangout": "HangoutCreated",
    "updateHangout": "HangoutChanged",
    "deleteHangout": "HangoutDeleted",
    "invite": "GuestsInvited",
    "withdraw": "GuestsWithdrawn",
    "respond": "InvitationAnswered",
}


async def announced(db: AsyncDb) -> list[Event]:
    """Everything that was sent out so far."""
    queue = Queue("events")
    await AsyncConsumer(db, sinks=[queue]).drain()
    return await db.run(queue.messages(db.context))


async def test_every_mutation_is_announced_once_though_each_is_sent_twice(
    town: Town, client: Recorder, db: AsyncDb
) -> None:
    async with served(town.service) as web:
        await check_repeats(web, client, STEPS)
    names = Counter(event.name for event in await announced(db))
    # The founder joins with the group; guests are invited with the hangout and again.
    several = {"GroupJoined": 3, "GroupLeft": 3, "GuestsInvited": 2, "UserCreated": 3}
    several |= {"GroupPrivacyChanged": 2, "UserDeleted": 2, "ModeratorDecided": 3}
    # What is read is between the reader and their list.
    assert {*ANNOUNCED, "readNotifications"} == {step.operation for step in STEPS}
    assert names == {**dict.fromkeys(ANNOUNCED.values(), 1), **several}


async def test_an_event_says_what_happened_and_no_more(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    before = len(await announced(db))
    ids: dict[str, Any] = {"hangoutId": hangout.hangout_id}
    service = town.service
    await service.respond(hangout.hangout_id, Answer.MAYBE, town.ben)
    await service.respond(hangout.hangout_id, Answer.MAYBE, town.ben)
    await service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    await service.update_hangout(hangout.hangout_id, HangoutChange(place="Lake", title="Run"))
    await service.update_hangout(hangout.hangout_id, HangoutChange(cancelled=True))
    await service.update_hangout(hangout.hangout_id, HangoutChange(cancelled=False))
    await service.withdraw(hangout.hangout_id, Guests(user_ids={"cleo", "ben"}))
    await service.rename_group(group.group_id, "Runners")
    events = (await announced(db))[before:]
    assert [(one.name, one.payload) for one in events] == [
        ("InvitationAnswered", {**ids, "userId": "ben", "answer": "maybe"}),
        ("InvitationAnswered", {**ids, "userId": "ben", "answer": "going"}),
        ("HangoutChanged", {**ids, "place": "Lake"}),
        ("HangoutCancelled", ids),
        ("HangoutReinstated", ids),
        ("GuestsWithdrawn", {**ids, "groupIds": [], "userIds": ["cleo"]}),
    ]


async def test_records_that_are_delivered_again_announce_nothing_new(
    town: Town, db: AsyncDb, clock: ManualClock
) -> None:
    await town.hangout(await town.settle())
    before = await announced(db)
    await forget_progress(db)
    clock.advance(60)
    assert await announced(db) == before
    assert len(before) > 5


@pytest.mark.parametrize("name", ["Ada A", "Eda"])
async def test_a_name_that_stays_is_no_news(name: str, town: Town, db: AsyncDb) -> None:
    await town.settle()
    before = len(await announced(db))
    await town.service.save_user("ada", name)
    events = (await announced(db))[before:]
    assert [one.name for one in events] == ([] if name == "Ada A" else ["UserRenamed"])
