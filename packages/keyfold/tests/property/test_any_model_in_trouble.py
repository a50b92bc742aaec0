"""Random models on a backend that refuses, loses answers and dies, with another writer in between.

The table is read by hand around every request. A write changes it once at most, from what it met
to what it makes of that; it says that it did, or that it did not, or that nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.property.any_write import WAYS, Table, World, Write, draw_write

from keyfold import Db, Entity
from keyfold.errors import (
    InternalFailure,
    KeyfoldError,
    Throttled,
    TransactionConflict,
    TransportError,
    VersionConflict,
)
from keyfold.testing import Sandbox
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.wire import BackgroundServer

PASSING = (Throttled, TransactionConflict, VersionConflict)
"""Nothing was done; it may be done another time."""
UNKNOWN = (TransportError, InternalFailure)
FAULTS = ["throttled", "conflict", "lost", "answer lost", "answer failed", "killed", "killed after"]
RACES = ["race", "race", "conflict"]


READS = ("GetItem", "BatchGetItem", "TransactGetItems", "Query")
Plan = dict[str, list[tuple[str, Write]]]
NO_WRITE = Write(lambda db: None, lambda table: table)


class Killed(BaseException):
    """The process ends here."""


class Trouble:
    """Stands before a client's requests, and watches what they do to the table."""

    def __init__(self, client: Any, world: World, sandbox: Sandbox) -> None:
        self.client, self.world, self.sandbox = client, world, sandbox
        self.call = client.call
        client.call = self
        self.plan: Plan = {}
        self.write: Write | None = None
        self.happened: list[str] = []
        self.seen: list[Table] = []
        self.committed = 0
        self.stored: list[dict[str, Any]] = []

    def begin(self, write: Write, plan: Plan) -> None:
        self.write, self.plan = write, plan
        self.seen, self.happened, self.committed = [self.world.expected], [], 0

    def end(self) -> None:
        self.write = None

    def __call__(self, operation: str, request: Mapping[str, Any]) -> Any:
        if self.write is None:
            return self.call(operation, request)
        coming = self.plan.get("read" if operation in READS else "write")
        trouble, other = coming.pop() if coming else ("", NO_WRITE)
        self.happened += [trouble] if trouble else []
        if trouble == "race":
            self._race(other)
        if trouble == "throttled":
            raise Throttled("too fast")
        if trouble == "conflict":
            raise TransactionConflict("another transaction is at it")
        if trouble == "lost":
            raise TransportError("the request did not arrive")
        if trouble == "killed":
            raise Killed
        try:
            answer = self.call(operation, request)
        finally:
            self._note(self.write)
        if trouble == "answer lost":
            raise TransportError("the answer did not arrive")
        if trouble == "answer failed":
            raise InternalFailure("something is wrong")
        if trouble == "killed after":
            raise Killed
        return answer

    def _race(self, other: Write) -> None:
        """Another writer, in a process of its own, writes as if it was alone."""
        after = other.effect(self.world.expected)
        with EmbeddedDb(self.world, self.sandbox) as db:
            if after is None:
                with pytest.raises(KeyfoldError):
                    other.call(db)
            else:
                other.call(db)
                self.world.expected = after
        assert self.world.stored(self.sandbox) == self.world.expected
        self.seen.append(self.world.expected)

    def _note(self, write: Write) -> None:
        before, after = self.world.expected, self.world.stored(self.sandbox)
        if before == after:
            return
        self.committed += 1
        self.stored = self.sandbox.items("models")
        assert after == write.effect(before)
        self.world.expected = after
        self.seen.append(after)


class EmbeddedDb:
    """A second handle on a sandbox's engine, which stays open."""

    def __init__(self, world: World, sandbox: Sandbox) -> None:
        self.db = world.design.open(
            EmbeddedClient(sandbox.engine), create_tables=False, clock=sandbox.clock
        )

    def __enter__(self) -> Db:
        return self.db

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_write_in_trouble_is_done_once_or_not_at_all(data: Any) -> None:
    world = World(data.draw)
    with Sandbox() as sandbox, sandbox.open(world.design) as db:
        write_in_trouble(world, sandbox, db)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_the_same_holds_over_http(data: Any) -> None:
    world = World(data.draw)
    with (
        Sandbox() as sandbox,
        BackgroundServer(sandbox.engine) as server,
        world.design.open(server.url, create_tables=True, clock=sandbox.clock) as db,
    ):
        write_in_trouble(world, sandbox, db)


def write_in_trouble(world: World, sandbox: Sandbox, db: Db) -> None:
    draw = world.draw
    trouble = Trouble(db.client, world, sandbox)
    for step in range(draw(st.integers(2, 9))):
        way = draw(st.sampled_from(WAYS)) if step else "create"
        name = draw(st.sampled_from("iij"))
        if draw(st.integers(0, 3)) == 0:
            world.leave_behind(sandbox, name)
        write = draw_write(world, way, name)
        trouble.begin(write, draw_plan(world) if step else {})
        told, raised = carry_out(write, db)
        trouble.end()
        if raised is None:
            assert trouble.committed == 1 or any(
                write.effect(one) == one for one in trouble.seen
            ), "what is done is done once"
            check_told(told, trouble, sandbox)
        elif not isinstance(raised, (*UNKNOWN, Killed)):
            assert trouble.committed == 0, "what is refused is not done"
            if not isinstance(raised, PASSING):
                assert any(write.effect(one) is None for one in trouble.seen), raised
            else:
                assert trouble.happened
        assert world.stored(sandbox) == world.expected
        for one in world.expected:
            assert db.get(world.ref(one)) is not None
        for one in trouble.happened:
            event(f"{one}: {'done' if raised is None else type(raised).__name__}")


def draw_plan(world: World) -> Plan:
    """What happens at the next reads and writes, the last of them first."""
    troubles = ["", *world.draw(st.sampled_from([RACES, FAULTS, [*RACES, *FAULTS]]))]
    at = {"read": st.sampled_from(["", "", "", *troubles]), "write": st.sampled_from(troubles)}
    return {
        kind: [
            (one, draw_other(world) if one == "race" else NO_WRITE)
            for one in world.draw(st.lists(drawn, max_size=2))
        ]
        for kind, drawn in at.items()
    }


def draw_other(world: World) -> Write:
    way = world.draw(st.sampled_from([*WAYS, "update", "update"]))
    return draw_write(world, way, world.draw(st.sampled_from("iij")))


def carry_out(write: Write, db: Db) -> tuple[Any, BaseException | None]:
    try:
        return write.call(db), None
    except (KeyfoldError, Killed) as raised:
        return None, raised


def check_told(told: Any, trouble: Trouble, sandbox: Sandbox) -> None:
    """What the caller is told is what was stored."""
    items = trouble.stored if trouble.committed else sandbox.items("models")
    for one in told if isinstance(told, tuple) else (told,):
        if isinstance(one, Entity):
            stored = [item for item in items if one.ref().wire().items() <= item.items()]
            theirs = one.__spec__.undeclared_attributes(stored[0])
            assert stored == [{**theirs, **one.__spec__.encode(one)}]
