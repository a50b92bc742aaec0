"""An item that must be judged before a unit of work goes on is read along with its first read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest

from keyfold import AsyncDb, Design, Entity, Key, Timestamp, Ttl
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.engine import Engine
from keyfold.errors import BudgetExceeded
from keyfold.runtime.read_along import judge_first, judge_now

design = Design("notes")
table = design.table("Notes", ttl="ttl")
other = design.table("Others")


class Person(Entity, table=table):
    user_id: str

    key = Key("USER#{user_id}", "PROFILE")


class Ban(Entity, table=table):
    user_id: str
    until: Annotated[Timestamp, Ttl()]

    key = Key("USER#{user_id}", "BAN")


class Elsewhere(Entity, table=other):
    user_id: str

    key = Key("USER#{user_id}", "HERE")


class Banned(Exception):
    pass


def refuse(found: Ban | None) -> None:
    if found is not None:
        raise Banned


class Seen(AsyncEmbeddedClient):
    """Notes what is sent; `unprocessed` keys come back so."""

    sent: list[str]
    unprocessed: dict[str, Any] | None = None

    async def call(self, operation: str, request: Any) -> dict[str, Any]:
        self.sent.append(operation)
        answer = await super().call(operation, request)
        if operation == "BatchGetItem" and self.unprocessed is not None:
            key, self.unprocessed = self.unprocessed, None
            left = [one for one in answer["Responses"]["Notes"] if not key.items() <= one.items()]
            answer["Responses"]["Notes"] = left
            answer["UnprocessedKeys"] = {"Notes": {"Keys": [key], "ConsistentRead": True}}
        return answer


@pytest.fixture
async def db() -> AsyncIterator[AsyncDb]:
    client = Seen(Engine.open())
    client.sent = []
    async with await design.open_async(client) as opened:
        await opened.put(Person(user_id="ada"))
        await opened.put(Person(user_id="ben"))
        await opened.put(Elsewhere(user_id="ada"))
        client.sent.clear()
        yield opened


ADA, BEN = Person.key(user_id="ada"), Person.key(user_id="ben")
BAN = Ban.key(user_id="ada")


def sent(db: AsyncDb) -> list[str]:
    assert isinstance(db.client, Seen)
    return db.client.sent


async def ban(db: AsyncDb, until: timedelta = timedelta(hours=1)) -> None:
    await db.put(Ban(user_id="ada", until=datetime.now(UTC) + until))
    sent(db).clear()


async def test_it_rides_with_one_item(db: AsyncDb) -> None:
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        assert sent(db) == []
        assert await db.get(ADA) == Person(user_id="ada")
        assert await db.find(Person.key(user_id="nobody")) is None
    assert sent(db) == ["BatchGetItem", "GetItem"]


async def test_who_is_refused_gets_and_writes_nothing(db: AsyncDb) -> None:
    await ban(db)
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        with pytest.raises(Banned):
            await db.get(ADA)
        with pytest.raises(Banned):
            await db.put(Person(user_id="made"))
    assert await db.find(Person.key(user_id="made")) is None


async def test_what_has_expired_refuses_nobody(db: AsyncDb) -> None:
    await ban(db, timedelta(hours=-1))
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        assert await db.get(ADA) == Person(user_id="ada")


async def test_it_rides_with_several_also_when_it_is_one_of_them(db: AsyncDb) -> None:
    await ban(db)
    for refs in ([ADA, BEN], [ADA, BAN]):
        with db.work("call"):
            await judge_first(db, BAN, refuse)
            with pytest.raises(Banned):
                await db.get_many(refs)
    await db.delete(BAN)
    sent(db).clear()
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        found = await db.get_many([BEN, ADA, Person.key(user_id="nobody")])
    assert found == [Person(user_id="ben"), Person(user_id="ada"), None]
    assert sent(db) == ["BatchGetItem"]


@pytest.mark.parametrize("amount", [99, 100, 101])
async def test_a_full_batch_has_no_room_for_it(db: AsyncDb, amount: int) -> None:
    refs = [Person.key(user_id=f"p{number}") for number in range(amount)]
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        await db.get_many(refs)
    batches = ["BatchGetItem"] * (1 + (amount > 100))
    assert sent(db) == batches if amount == 99 else ["GetItem", *batches]


async def test_before_anything_else_it_is_read_alone(db: AsyncDb) -> None:
    for work in (
        lambda: db.put(Person(user_id="made")),
        lambda: db.read(Person.key.query(user_id="ada")),
        lambda: db.find(ADA, consistent=False),
        lambda: db.get(Elsewhere.key(user_id="ada")),
    ):
        sent(db).clear()
        with db.work("call"):
            await judge_first(db, BAN, refuse)
            await work()
        assert (sent(db)[0], len(sent(db))) == ("GetItem", 2)
    await ban(db)
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        with pytest.raises(Banned):
            await db.put(Person(user_id="never"))
    assert sent(db) == ["GetItem"]


async def test_work_without_a_read_asks_at_its_end(db: AsyncDb) -> None:
    await ban(db)
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        with pytest.raises(Banned):
            await judge_now(db)
        await judge_now(db)
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        with pytest.raises(Banned):
            await db.get(ADA)
        sent(db).clear()
        await judge_now(db)
    assert sent(db) == []


@pytest.mark.parametrize("key", [ADA, BAN])
async def test_what_is_throttled_is_asked_for_again(db: AsyncDb, key: Any) -> None:
    assert isinstance(db.client, Seen)
    for wanted in (lambda: db.get(ADA), lambda: db.get_many([ADA])):
        db.client.unprocessed = dict(key.wire())
        with db.work("call"):
            await judge_first(db, BAN, refuse)
            found = await wanted()
        assert found in (Person(user_id="ada"), [Person(user_id="ada")])


async def test_what_is_sent_at_once_waits_for_the_verdict(db: AsyncDb) -> None:
    await ban(db)
    with db.work("call"):
        await judge_first(db, BAN, refuse)
        both = asyncio.gather(db.get(ADA), db.put(Person(user_id="made")), return_exceptions=True)
        assert [type(one) for one in await both] == [Banned, Banned]
    assert sent(db) == ["BatchGetItem"]


async def test_a_read_that_failed_is_tried_again(db: AsyncDb) -> None:
    await ban(db)
    with db.work("call", requests=0):
        await judge_first(db, BAN, refuse)
        with pytest.raises(BudgetExceeded):
            await db.get(ADA)
        with pytest.raises(BudgetExceeded):
            await db.get(ADA)


async def test_outside_a_unit_of_work_it_is_read_at_once(db: AsyncDb) -> None:
    await ban(db)
    with pytest.raises(Banned):
        await judge_first(db, BAN, refuse)
    await judge_now(db)
