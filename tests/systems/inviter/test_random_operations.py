"""Random operations by concurrent users: verify is clean and all lists equal a plain model."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold.errors import KeyfoldError
from keyfold.maintain import verification
from keyfold.serve import Identity, PageRequest
from keyfold.streams import AsyncConsumer
from keyfold_systems.inviter.design import (
    Answer,
    GroupHangout,
    Hangout,
    Membership,
    Response,
    UserHangout,
)
from keyfold_systems.inviter.service import Guests, HangoutChange, Inviter, NewHangout
from tests.systems.conftest import Recorder

from .conftest import NOW

USERS = [f"u{number}" for number in range(8)]
VERBS = {
    "group": 1,
    "join": 2,
    "leave": 1,
    "hangout": 2,
    "respond": 3,
    "rename": 1,
    "change": 2,
    "invite": 1,
    "withdraw": 1,
    "delete": 1,
    "drop_group": 1,
}
OPERATIONS = 10_000 if os.environ.get("KEYFOLD_FULL") else 800


class Crowd:
    """Users who do things at once; what they are refused is refused for a reason we know."""

    def __init__(self, service: Inviter, seed: int) -> None:
        self.service = service
        self.dice = random.Random(seed)
        self.groups: list[str] = []
        self.hangouts: list[str] = []

    async def act(self) -> None:
        who = Identity.of(self.dice.choice(USERS))
        verb = self.dice.choices(list(VERBS), list(VERBS.values()))[0]
        try:
            await getattr(self, f"_{verb}")(who)
        except KeyfoldError:
            return

    def _group_id(self) -> str:
        return self.dice.choice(self.groups or ["none"])

    def _hangout_id(self) -> str:
        return self.dice.choice(self.hangouts or ["none"])

    async def _host(self, hangout_id: str) -> Hangout:
        return await self.service.db.get(Hangout.key(hangout_id=hangout_id))

    async def _group(self, who: Identity) -> None:
        if len(self.groups) < 12:
            self.groups.append((await self.service.create_group("G", who)).group_id)

    async def _join(self, who: Identity) -> None:
        await self.service.join_group(self._group_id(), who)

    async def _leave(self, who: Identity) -> None:
        await self.service.leave_group(self._group_id(), who.id)

    async def _hangout(self, who: Identity) -> None:
        starts = NOW + timedelta(hours=self.dice.randint(1, 90))
        mine = [one.group_id for one in await self.service.groups(who.id, PageRequest(50))]
        new = NewHangout(
            title="H",
            starts_at=starts,
            ends_at=starts + timedelta(hours=1),
            group_ids=set(self.dice.sample(mine, min(2, len(mine)))),
            user_ids=set(self.dice.sample(USERS, 2)),
        )
        self.hangouts.append((await self.service.create_hangout(new, who)).hangout_id)

    async def _respond(self, who: Identity) -> None:
        answer = self.dice.choice(list(Answer))
        await self.service.respond(self._hangout_id(), answer, who)

    async def _rename(self, who: Identity) -> None:
        await self.service.rename_group(self._group_id(), f"G{self.dice.randrange(99)}")

    async def _change(self, who: Identity) -> None:
        change = HangoutChange(title=f"T{self.dice.randrange(99)}")
        await self.service.update_hangout(self._hangout_id(), change)

    async def _invite(self, who: Identity) -> None:
        hangout = await self._host(self._hangout_id())
        guests = Guests(user_ids={self.dice.choice(USERS)})
        await self.service.invite(hangout.hangout_id, guests, Identity.of(hangout.host_id))

    async def _withdraw(self, who: Identity) -> None:
        guests = Guests(user_ids=set(self.dice.sample(USERS, 3)))
        await self.service.withdraw(self._hangout_id(), guests)

    async def _delete(self, who: Identity) -> None:
        if self.dice.random() < 0.4:
            await self.service.delete_hangout(self._hangout_id())

    async def _drop_group(self, who: Identity) -> None:
        if self.dice.random() < 0.05:
            await self.service.delete_group(self._group_id())


async def everything(db: AsyncDb, entity: type[Any]) -> list[Any]:
    return [item async for item in db.scan(entity)]


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_operations_end_right(db: AsyncDb, client: Recorder, seed: int) -> None:
    service = Inviter(db)
    for user in USERS:
        await service.save_user(user, user.upper())
    crowd = Crowd(service, seed)
    for _ in range(OPERATIONS // 8):
        await asyncio.gather(*(crowd.act() for _ in range(8)))
    await AsyncConsumer(db).drain()
    report = await db.run(verification(db.context))
    assert report.clean, report

    memberships = await everything(db, Membership)
    responses = await everything(db, Response)
    hangouts = {h.hangout_id: h for h in await everything(db, Hangout)}
    assert len(hangouts) > 5
    assert len(responses) > 5
    expected = {(g, h.hangout_id) for h in hangouts.values() for g in h.group_ids}
    assert {(p.group_id, p.hangout_id) for p in await everything(db, GroupHangout)} == expected
    invited = {(u, h.hangout_id) for h in hangouts.values() for u in h.user_ids}
    assert {(p.user_id, p.hangout_id) for p in await everything(db, UserHangout)} == invited
    said = Counter((r.hangout_id, r.answer) for r in responses)
    for hangout in hangouts.values():
        counts = (hangout.going, hangout.maybe, hangout.not_going)
        assert counts == tuple(said[hangout.hangout_id, answer] for answer in Answer)
    for user in USERS:
        mine = {m.group_id for m in memberships if m.user_id == user}
        groups = await service.groups(user, PageRequest(200))
        assert {m.group_id for m in groups} == mine
        listed = [c.hangout_id for c in await service.my_hangouts(user, PageRequest(200))]
        seen = {h.hangout_id for h in hangouts.values() if mine & h.group_ids or user in h.user_ids}
        assert len(listed) == len(set(listed))
        assert set(listed) == seen
        starts = [hangouts[one].starts_at for one in listed]
        assert starts == sorted(starts)
