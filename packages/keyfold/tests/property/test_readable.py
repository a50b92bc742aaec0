"""After any sequence of writes each item is readable, undeclared attributes are unchanged, and what
the caller was told is what is stored; with faults, and with somebody else writing in between."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator, model_validator

from keyfold import (
    AtMost,
    Created,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Stored,
    Timestamp,
    Updated,
    Version,
    add,
    append,
    put,
    remove,
    update,
)
from keyfold.errors import KeyfoldError
from keyfold.testing import Sandbox
from keyfold_engine.wire import BackgroundServer

design = Design("any")
table = design.table("any", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])
THEIRS = {"legacy": {"L": [{"S": "x"}, {"N": "1"}]}, "aa": {"NULL": True}}


class Box(BaseModel):
    wide: float = 1.0
    label: str | None = None


class Plain(Entity, table=table):
    item_id: Id
    low: int = 0
    high: int = 5
    stock: Annotated[int, Field(ge=0, le=20)] = 3
    weight: float = 0.5
    price: Decimal = Decimal("1.10")
    code: str = "A"
    either: int | str = 0
    box: Box | None = None
    tags: Annotated[set[str], AtMost(3)] = set()
    log: Annotated[list[str], AtMost(4)] = []
    at: Annotated[Timestamp | None, Stored("epoch_ms")] = None
    until: Annotated[Timestamp | None, Stored("iso_s")] = None
    made_at: Annotated[Timestamp | None, Created(), Stored("iso_ms")] = None
    changed_at: Annotated[Timestamp | None, Updated(), Stored("epoch")] = None
    key = Key("PLAIN#{item_id}", "PLAIN")
    by_time = On("GSI1", "CODE#{code}", "{at:iso}#{low:04d}", when="at")

    @field_validator("code")
    @classmethod
    def _upper(cls, value: str) -> str:
        if not value.isupper():
            raise ValueError("must be upper case")
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Plain:
        if not 0 <= self.low <= self.high:
            raise ValueError("low must not exceed high")
        return self


class Versioned(Plain, table=table):
    version: Annotated[int, Version()] = 0
    key = Key("VERSIONED#{item_id}", "VERSIONED")
    by_time = On("GSI1", "VCODE#{code}", "{at:iso}", when="at")


moments = st.none() | st.datetimes(
    datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)
)
numbers = st.integers(-3, 9)
words = st.sampled_from(["a", "b", "c", "d", "e"])
values: dict[str, st.SearchStrategy[Any]] = {
    "low": numbers | numbers.map(add),
    "high": numbers | numbers.map(add),
    "stock": numbers | st.integers(-30, 30).map(add),
    "weight": st.sampled_from([0.1, 0.2, 1e-7]) | st.sampled_from([0.1, 0.2]).map(add),
    "price": st.decimals("-1", "1", places=3) | st.decimals("-1", "1", places=3).map(add),
    "code": st.sampled_from(["A", "B", "c", ""]),
    "either": numbers | words,
    "box": st.none() | st.builds(Box, wide=st.sampled_from([1.0, 2.5]), label=st.none() | words),
    "tags": st.sets(words) | st.sets(words, min_size=1).map(add) | st.sets(words).map(remove),
    "log": st.lists(words, max_size=5) | st.lists(words, min_size=1, max_size=3).map(append),
    "at": moments,
    "until": moments,
}
changes = st.dictionaries(st.sampled_from(sorted(values)), st.none(), max_size=3).flatmap(
    lambda names: st.fixed_dictionaries({name: values[name] for name in names})
)
kinds = st.sampled_from([Plain, Versioned])
names = st.sampled_from(["i", "j"])
ways = st.sampled_from(["ref", "item", "transact", "put", "put_many", "create", "move", "stale"])


def item_of(db: Db, ref: Any) -> dict[str, Any]:
    request = {"TableName": "any", "Key": ref.wire(), "ConsistentRead": True}
    found: dict[str, Any] = db.client.call("GetItem", request).get("Item", {})
    return found


def whole(kind: type[Plain], name: str, given: dict[str, Any]) -> Plain:
    """An item with these values, whether its validators like them or not."""
    plain = {n: v for n, v in given.items() if type(v).__module__ != "keyfold.runtime.changes"}
    return kind(item_id=name).model_copy(update=plain)


def write(db: Db, way: str, kind: type[Plain], name: str, given: dict[str, Any]) -> Any:
    """One write; gives what the caller is told, if it is told the item."""
    ref: Any = kind.key(item_id=name)
    if way == "ref":
        return db.update(ref, **given)
    if way in ("item", "stale"):
        item = db.get(ref)
        if way == "stale":
            with suppress(KeyfoldError):
                db.update(ref, high=9)
        return db.update(item, **given)
    if way == "transact":
        other: Any = put(kind(item_id="other"))
        return db.transact(update(ref, **given), other)[0]
    if way == "put":
        return db.put(whole(kind, name, given))
    if way == "put_many":
        db.put_many([whole(kind, name, given)])
        return None
    if way == "create":
        return db.create(whole(kind, name, given))
    return db.move(ref, item_id="j" if name == "i" else "i")


class Interfering:
    """Fails some requests before or after they had their effect, and writes in between."""

    def __init__(self, db: Db, plan: list[int]) -> None:
        self.call, self.plan, self.db = db.client.call, plan, db
        self.busy = False

    def __call__(self, operation: str, request: Any) -> Any:
        happens = self.plan.pop() if self.plan and not self.busy else 0
        self.busy = True
        try:
            if happens == 1:
                raise KeyfoldError("lost before it arrived")
            if happens == 2:
                with suppress(KeyfoldError):
                    self.db.update(Plain.key(item_id="i"), high=4)
                with suppress(KeyfoldError):
                    self.db.update(Versioned.key(item_id="i"), low=2, high=6)
            answer = self.call(operation, request)
            if happens == 3:
                raise KeyfoldError("the answer was lost")
            return answer
        finally:
            self.busy = False


def check(db: Db, told: Any) -> None:
    items = db.client.call("Scan", {"TableName": "any"})["Items"]
    for item in items:
        kind = Plain if item["type"]["S"] == "Plain" else Versioned
        read = kind.__spec__.decode(item)
        theirs = kind.__spec__.undeclared_attributes(item)
        assert item == {**theirs, **kind.__spec__.encode(read)}, "keys and values are of one item"
        assert theirs in ({}, THEIRS)
    if isinstance(told, Entity):
        assert item_of(db, told.ref()) == {
            **told.__spec__.undeclared_attributes(item_of(db, told.ref())),
            **told.__spec__.encode(told),
        }


Steps = list[tuple[str, type[Plain], str, dict[str, Any], int]]
any_steps = st.lists(st.tuples(ways, kinds, names, changes, st.integers(0, 40)), max_size=12)
any_plan = st.lists(st.sampled_from([0, 0, 0, 0, 1, 2, 3]), max_size=30)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(any_steps, any_plan)
def test_every_item_is_readable_and_as_told(steps: Steps, plan: list[int]) -> None:
    with Sandbox() as sandbox, sandbox.open(design) as db:
        carry_out(sandbox, db, steps, plan)


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(any_steps, any_plan)
def test_the_same_over_http(steps: Steps, plan: list[int]) -> None:
    with (
        Sandbox() as sandbox,
        BackgroundServer(sandbox.engine) as server,
        design.open(server.url, create_tables=True, clock=sandbox.clock) as db,
    ):
        carry_out(sandbox, db, steps, plan)


def carry_out(sandbox: Sandbox, db: Db, steps: Steps, plan: list[int]) -> None:
    for kind in (Plain, Versioned):
        made = db.create(kind(item_id="i"))
        item = {**item_of(db, made.ref()), **THEIRS}
        db.client.call("PutItem", {"TableName": "any", "Item": item})
    client: Any = db.client
    quiet, interfering = client.call, Interfering(db, plan)
    for way, kind, name, changed, seconds in steps:
        sandbox.clock.advance(timedelta(milliseconds=seconds * 37.123).total_seconds())
        told = None
        client.call = interfering
        with suppress(KeyfoldError):
            told = write(db, way, kind, name, changed)
        client.call = quiet
        check(db, told)
    kept = [item for item in sandbox.items("any") if "legacy" in item]
    assert len(kept) == 2, "nothing undeclared is lost, wherever its item is now"
