"""Random operations by people at once: verify is clean and everything equals a plain model.

The model knows what was answered and nothing else. Everybody does one thing at a time, all of them
at once; of several edits of one thing that with the highest version counts.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from tests.systems.conftest import ADDRESS, IndexLag, Recorder, recording

from keyfold import AsyncDb
from keyfold.errors import ConditionFailed, ItemError, TransactionConflict, VersionConflict
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, ConsumerOptions, Policy
from keyfold_engine.clock import ManualClock
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupMembership,
    Hangout,
    HangoutPointer,
    Response,
    User,
    UserHangoutPointer,
)
from keyfold_systems.inviter.service import Inviter
from keyfold_systems.inviter.views import Invitation, NewHangout
from keyfold_web import Conflict, Identity, Invalid, Missing, NotAllowed, PageRequest

NOW = datetime(2031, 8, 9, 12, tzinfo=UTC)

USERS = [f"u{number}" for number in range(8)]
OPERATIONS = 10_000 if os.environ.get("KEYFOLD_FULL") else 500
HISTORIES: list[tuple[int, IndexLag]] = [(1, None), (2, None)]
if ADDRESS is None:
    HISTORIES += [(3, (0.0, 2.0)), (4, "held")]
REFUSED = (
    Conflict,
    Invalid,
    Missing,
    NotAllowed,
    ItemError,
    ConditionFailed,
    TransactionConflict,
    VersionConflict,
)
VERBS = {
    "found": 1,
    "join": 3,
    "leave": 1,
    "rename_group": 1,
    "rename_self": 1,
    "host": 3,
    "change": 2,
    "invite": 2,
    "respond": 6,
    "delete": 0.6,
}


class Idle(Exception):
    """There is nothing to do of this kind now; it does not count."""


class Model:
    """What must be there, by what was answered."""

    def __init__(self) -> None:
        self.users = {user: user for user in USERS}
        self.groups: dict[str, tuple[int, str]] = {}
        self.members: set[tuple[str, str]] = set()
        self.hangouts: dict[str, Hangout] = {}
        self.deleted: set[str] = set()
        self.answers: dict[tuple[str, str], tuple[Answer, str | None]] = {}
        self.doubtful: set[tuple[str, str]] = set()
        """Answers to an invitation that was taken back; given again at once, they may stay."""

    def given(self) -> dict[tuple[str, str], Answer]:
        """The answers to invitations that still hold."""
        return {
            (id, user): answer
            for (id, user), (answer, group) in self.answers.items()
            if id not in self.deleted
            and (
                user in self.hangouts[id].invited_users
                if group is None
                else group in self.hangouts[id].associated_groups
            )
        }

    def shown(
        self, answers: dict[tuple[str, str], Answer]
    ) -> dict[str, tuple[str, set[str], set[str], tuple[int, ...]]]:
        """Each hangout's title, groups, users and counts, with these answers."""
        counts = Counter((hangout, answer) for (hangout, _), answer in answers.items())
        return {
            id: (
                one.title,
                set(one.associated_groups),
                set(one.invited_users),
                tuple(counts[id, answer] for answer in Answer),
            )
            for id, one in self.hangouts.items()
            if id not in self.deleted
        }


class Crowd:
    """People who do things at once; each answer goes into the model."""

    def __init__(self, service: Inviter, seed: int) -> None:
        self.service, self.model = service, Model()
        self.dice = random.Random(seed)
        self.acted = self.refused = 0

    async def act(self, user: str) -> None:
        verb = self.dice.choices(list(VERBS), list(VERBS.values()))[0]
        try:
            await getattr(self, f"_{verb}")(Identity.of(user))
        except Idle:
            return
        except REFUSED:
            self.refused += 1
        self.acted += 1

    def _a_group(self) -> str:
        return self.dice.choice(list(self.model.groups) or ["none"])

    def _a_hangout(self) -> str:
        return self.dice.choice(list(self.model.hangouts) or ["none"])

    async def _found(self, who: Identity) -> None:
        if len(self.model.groups) >= 10:
            raise Idle
        group = await self.service.create_group("New", who)
        self.model.groups[group.group_id] = group.version, group.name
        self.model.members.add((group.group_id, who.id))

    async def _join(self, who: Identity) -> None:
        group_id = self._a_group()
        await self.service.join_group(group_id, who)
        self.model.members.add((group_id, who.id))

    async def _leave(self, who: Identity) -> None:
        group_id = self._a_group()
        if await self.service.verdicts("leave_group", {"who": who}, group_id=group_id) != {
            "who": 200
        }:
            raise Idle
        await self.service.leave_group(group_id, who)
        self.model.members.discard((group_id, who.id))

    async def _rename_group(self, _: Identity) -> None:
        group_id = self._a_group()
        group = await self.service.rename_group(group_id, f"G{self.dice.randrange(1000)}")
        known = self.model.groups[group_id]
        self.model.groups[group_id] = max(known, (group.version, group.name))

    async def _rename_self(self, who: Identity) -> None:
        user = await self.service.save_user(who.id, f"{who.id} {self.dice.randrange(1000)}")
        self.model.users[who.id] = user.name

    async def _host(self, who: Identity) -> None:
        if len(self.model.hangouts) - len(self.model.deleted) >= 60:
            raise Idle
        mine = sorted(group for group, user in self.model.members if user == who.id)
        new = NewHangout(
            title="New",
            start_timestamp=NOW + timedelta(hours=self.dice.randint(1, 900)),
            associated_groups=self.dice.sample(mine, min(2, len(mine))),
            invited_users=self.dice.sample(USERS, 2),
        )
        self._edited(await self.service.create_hangout(new, who))

    async def _change(self, _: Identity) -> None:
        title = f"T{self.dice.randrange(1000)}"
        self._edited(await self.service.update_hangout_title(self._a_hangout(), title))

    async def _invite(self, _: Identity) -> None:
        hangout_id = self._a_hangout()
        host = self.model.hangouts[hangout_id].host_id if hangout_id != "none" else "u0"
        guests = Invitation(
            associated_groups=[
                group
                for group in self.model.hangouts[hangout_id].associated_groups
                if self.dice.random() < 0.7
            ]
            if hangout_id != "none"
            else [],
            invited_users=self.dice.sample(USERS, 2),
        )
        for user in USERS:
            self.model.doubtful.add((hangout_id, user))
        self._edited(await self.service.invite(hangout_id, guests, Identity.of(host)))

    def _edited(self, hangout: Hangout) -> None:
        known = self.model.hangouts.get(hangout.hangout_id)
        if known is None or known.version <= hangout.version:
            self.model.hangouts[hangout.hangout_id] = hangout

    async def _respond(self, who: Identity) -> None:
        groups = {group for group, user in self.model.members if user == who.id}
        mine = [
            id
            for id, one in self.model.hangouts.items()
            if who.id in one.invited_users or groups & set(one.associated_groups)
        ]
        hangout_id = self.dice.choice([*mine, self._a_hangout()])
        answer = self.dice.choice(list(Answer))
        given = await self.service.respond(hangout_id, answer, who)
        self.model.answers[hangout_id, who.id] = answer, given.group_id

    async def _delete(self, _: Identity) -> None:
        hangout_id = self._a_hangout()
        await self.service.delete_hangout(hangout_id)
        self.model.deleted.add(hangout_id)


async def everything(db: AsyncDb, entity: type[Any]) -> list[Any]:
    return [item async for item in db.scan(entity)]


@pytest.mark.parametrize(("seed", "index_lag"), HISTORIES)
async def test_random_operations_end_as_the_model(seed: int, index_lag: IndexLag) -> None:
    clock = ManualClock(NOW.timestamp())
    async with recording("InviterTable", clock, index_lag=index_lag) as client:
        opening = design.open_async(client, clock=clock, table_prefix=client.prefix)
        async with await opening as db:
            await live_and_compare(db, client, clock, seed)


async def live_and_compare(db: AsyncDb, client: Recorder, clock: ManualClock, seed: int) -> None:
    service = Inviter(db)
    for user in USERS:
        await service.save_user(user, user)
    crowd = Crowd(service, seed)
    consumer = AsyncConsumer(db, options=ConsumerOptions(policy=Policy(patience=1)))
    for number in count():
        if crowd.acted >= OPERATIONS:
            break
        await asyncio.gather(*(crowd.act(user) for user in USERS))
        clock.advance(0.05)
        if number % 8 == 0:
            await consumer.run_once()
    client.catch_up()
    await consumer.drain()
    client.catch_up()
    report = await db.run(verification(db.context))
    assert report.clean, report

    model = crowd.model
    assert {
        (m.group_id, m.user_id): (m.group_name, m.user_name)
        for m in await everything(db, GroupMembership)
    } == {
        (group, user): (model.groups[group][1], model.users[user]) for group, user in model.members
    }
    for group in await everything(db, Group):
        assert (group.version, group.name) == model.groups[group.group_id]
        assert group.members == len([1 for one, _ in model.members if one == group.group_id])
    assert {user.user_id: user.name for user in await everything(db, User)} == model.users

    answers = {(r.hangout_id, r.user_id): r.answer for r in await everything(db, Response)}
    given = model.given()
    assert answers.keys() <= model.answers.keys()
    assert given.keys() - answers.keys() <= model.doubtful
    assert answers.keys() - given.keys() <= model.doubtful
    assert len(answers) > 10
    shown = model.shown(answers)
    hangouts = {one.hangout_id: one for one in await everything(db, Hangout)}
    counted = {
        id: (
            one.title,
            set(one.associated_groups),
            set(one.invited_users),
            (one.going, one.maybe, one.not_going),
        )
        for id, one in hangouts.items()
    }
    assert counted == shown
    pointers = [*await everything(db, HangoutPointer), *await everything(db, UserHangoutPointer)]
    assert len(pointers) == sum(len(groups) + len(users) for _, groups, users, _ in shown.values())
    for one in pointers:
        title, groups, guests, counts = shown[one.hangout_id]
        holder = one.group_id if isinstance(one, HangoutPointer) else one.user_id
        assert holder in groups | guests
        assert (one.title, (one.going, one.maybe, one.not_going)) == (title, counts)

    for user in USERS:
        mine = {group for group, one in model.members if one == user}
        listed = [card.hangout_id for card in await service.hangouts(user, PageRequest(200))]
        assert len(listed) == len(set(listed))
        assert set(listed) == {id for id, x in shown.items() if mine & x[1] or user in x[2]}
        starts = [hangouts[id].start_timestamp for id in listed]
        assert starts == sorted(starts)
    assert crowd.refused > OPERATIONS // 50
    assert len(model.members) > 10
    assert len(shown) > 10
