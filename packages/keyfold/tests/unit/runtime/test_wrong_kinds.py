"""Every verb of a handle, given another kind of thing than it takes, says so in words."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyfold import AsyncDb, Db, Design, Entity, Id, Key
from keyfold.errors import KeyfoldError, PlanError, TableNotFound
from keyfold.maintain import plan, rebuild, repair, repairing, total, verify
from keyfold.streams import AsyncConsumer, Consumer

design = Design("kinds")
table = design.table("Kinds", stream="NEW_AND_OLD_IMAGES")
elsewhere = Design("elsewhere")


class Room(Entity, table=table):
    room_id: Id
    number: int = 0
    key = Key("ROOM#{room_id}", "ROOM")


class Stranger(Entity, table=elsewhere.table("Elsewhere")):
    room_id: Id
    number: int = 0
    key = Key("ROOM#{room_id}", "ROOM")


class Homeless(Entity):
    room_id: Id


room = Room(room_id="1")
KINDS: dict[str, Any] = {
    "nothing": None,
    "text": "Room",
    "number": 5,
    "class": Room,
    "item": room,
    "address": room.ref(),
    "key": Room.key,
    "query": Room.key.query(room_id="1"),
    "writes": [Room(room_id="3")],
    "another design's class": Stranger,
    "another design's item": Stranger(room_id="1"),
    "another design's address": Stranger.key(room_id="1"),
    "another design's query": Stranger.key.query(room_id="1"),
    "a class without a table": Homeless,
    "an item without a table": Homeless(room_id="1"),
    "a design": design,
}
ITEM, ADDRESS, QUERY = frozenset({"item"}), frozenset({"address"}), frozenset({"query"})
FOREIGN = frozenset({"another design's item", "another design's address"})
Verb = Callable[[Any, Any], Any]
VERBS: dict[str, tuple[Verb, frozenset[str]]] = {
    "read": (lambda db, x: db.read(x), QUERY),
    "get": (lambda db, x: db.get(x), ADDRESS),
    "find": (lambda db, x: db.find(x), ADDRESS),
    "get_many": (lambda db, x: db.get_many(x), frozenset()),
    "get_many of": (lambda db, x: db.get_many([x]), ADDRESS),
    "get_together": (lambda db, x: db.get_together(x), ADDRESS),
    "pages": (lambda db, x: db.pages(x), QUERY),
    "iterate": (lambda db, x: db.iterate(x), QUERY),
    "scan": (lambda db, x: db.scan(x), frozenset({"class"})),
    "create": (lambda db, x: db.create(x), ITEM),
    "put": (lambda db, x: db.put(x), ITEM),
    "update": (lambda db, x: db.update(x, number=1), ITEM | ADDRESS),
    "upsert": (lambda db, x: db.upsert(x, number=1), ITEM | ADDRESS),
    # Nothing is changed in the block, so nothing is written.
    "delete": (lambda db, x: db.delete(x), ITEM | ADDRESS),
    "move": (lambda db, x: db.move(x, room_id="2"), ITEM | ADDRESS),
    "transact": (lambda db, x: db.transact(x), frozenset()),
    "put_many": (lambda db, x: db.put_many(x), frozenset({"writes"})),
    "put_many of": (lambda db, x: db.put_many([x]), ITEM),
    "delete_many": (lambda db, x: db.delete_many(x), frozenset()),
    "delete_many of": (lambda db, x: db.delete_many([x]), ADDRESS),
    "bulk": (lambda db, x: db.bulk(x), frozenset({"writes"})),
    "bulk of": (lambda db, x: db.bulk([x]), ITEM),
    "delete_collection": (lambda db, x: db.delete_collection(x), QUERY),
    "once": (lambda db, x: db.once(x, int, result=int), frozenset({"text"})),
    "put where": (lambda db, x: db.put(room, where=x), frozenset({"nothing"})),
    "delete where": (lambda db, x: db.delete(room, where=x), frozenset({"nothing"})),
}
UNNAMED = {"run", "read_pattern", "read_pattern_async", "create_tables", "work", "close"}
"""What is given no item, address, entity or query."""


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(room)
        yield opened


def wrong(verb: str) -> Iterator[tuple[str, Any]]:
    return ((name, thing) for name, thing in KINDS.items() if name not in VERBS[verb][1])


def attempt(done: Any) -> None:
    if hasattr(done, "__enter__"):
        done.__enter__()
    elif isinstance(done, Iterator):
        list(done)


@pytest.mark.parametrize("handle", [Db, AsyncDb])
def test_every_verb_is_tried(handle: type[object]) -> None:
    public = {name for name, _ in inspect.getmembers(handle, inspect.isfunction)}
    tried = {verb.split()[0] for verb in VERBS}
    assert {name for name in public if not name.startswith("_")} - UNNAMED == tried


@pytest.mark.parametrize("verb", VERBS)
def test_another_kind_of_thing_is_refused_in_words(db: Db, verb: str) -> None:
    for name, thing in wrong(verb):
        with pytest.raises(KeyfoldError) as refused:
            attempt(VERBS[verb][0](db, thing))
        assert str(refused.value), (verb, name)
    assert db.get(room.ref()) == room


@pytest.mark.parametrize("verb", VERBS)
def test_another_kind_of_thing_is_refused_on_a_loop(verb: str) -> None:
    async def attempt_on(db: AsyncDb, thing: Any) -> None:
        done = VERBS[verb][0](db, thing)
        if hasattr(done, "__aenter__"):
            await done.__aenter__()
        elif hasattr(done, "__aiter__"):
            _ = [one async for one in done]
        else:
            await done

    async def all_of_them() -> None:
        async with await design.open_async(":memory:") as db:
            await db.create(room)
            for _, thing in wrong(verb):
                with pytest.raises(KeyfoldError):
                    await attempt_on(db, thing)

    asyncio.run(all_of_them())


def test_work_on_a_loop_is_to_be_awaited() -> None:
    async def attempt() -> None:
        work: Any = int
        async with await design.open_async(":memory:") as db:
            with pytest.raises(PlanError, match="returned 0, which cannot be awaited"):
                await db.once("request", work, result=int)

    asyncio.run(attempt())


def test_a_table_of_another_design_is_not_asked_to_be_made(db: Db) -> None:
    with pytest.raises(TableNotFound, match=r"Elsewhere\. The design kinds does not declare it"):
        db.create(Stranger(room_id="1"))
    with pytest.raises(TableNotFound, match="open that one"):
        list(db.scan(Stranger))


def test_addresses_may_come_one_by_one(db: Db) -> None:
    refs: Any = (Room.key(room_id=one) for one in ("1", "2"))
    assert db.get_many(refs) == [room, None]


CARE: dict[str, Callable[[Db, Any], Any]] = {
    "verify": lambda db, x: verify(x),
    "verify only": lambda db, x: verify(db, only=x),
    "repair": lambda db, x: repair(x, verify(db)),
    "repair of": lambda db, x: repair(db, x),
    "repairing": lambda db, x: db.run(repairing(db.context, x)),
    "plan": lambda db, x: plan(x),
    "rebuild": lambda db, x: rebuild(x),
    "rebuild of": lambda db, x: rebuild(db, x),
    "total": lambda db, x: db.run(total(db.context, x, "number")),
    "Consumer": lambda db, x: Consumer(x),
    "AsyncConsumer": lambda db, x: AsyncConsumer(x),
}


@pytest.mark.parametrize("verb", CARE)
def test_care_of_structures_is_given_what_it_takes(db: Db, verb: str) -> None:
    for name, thing in KINDS.items():
        with pytest.raises(KeyfoldError) as refused:
            CARE[verb](db, thing)
        assert str(refused.value), name


def test_a_handle_of_a_loop_is_told_its_own_way() -> None:
    async def attempt() -> None:
        async with await design.open_async(":memory:") as opened:
            handle: Any = opened
            with pytest.raises(PlanError, match=r"await db\.run\(verification\(db\.context\)\)"):
                verify(handle)
            with pytest.raises(PlanError, match="AsyncConsumer"):
                Consumer(handle)

    asyncio.run(attempt())
