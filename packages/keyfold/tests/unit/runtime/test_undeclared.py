"""Attributes that a design does not declare are somebody's: writes carry them along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On, Version, put, update
from keyfold.errors import ValueRefused, VersionConflict

design = Design("undeclared")
table = design.table("undeclared", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])
THEIRS = {"legacy": {"M": {"a": {"N": "1"}}}, "GSI9PK": {"S": "x"}, "note2": {"NULL": True}}


class Plain(Entity, table=table):
    item_id: Id
    title: str = ""
    tags: set[str] = set()
    mood: str | None = None
    key = Key("PLAIN#{item_id}", "PLAIN")
    by_mood = On("GSI1", "MOOD#{mood}", "PLAIN#{item_id}", when="mood")


class Versioned(Plain, table=table):
    version: Annotated[int, Version()] = 0
    key = Key("VERSIONED#{item_id}", "VERSIONED")
    by_mood = On("GSI1", "VMOOD#{mood}", "VERSIONED#{item_id}", when="mood")


class Parent(Entity, table=table):
    parent_id: Id
    name: str = ""
    children: Annotated[int, Counter("Child")] = 0
    key = Key("PARENT#{parent_id}", "PARENT")


class Child(Entity, table=table):
    parent_id: Id
    child_id: Id
    key = Key("PARENT#{parent_id}", "CHILD#{child_id}")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        yield handle


def stored(db: Db, one: Entity) -> dict[str, Any]:
    request = {"TableName": "undeclared", "Key": one.ref().wire(), "ConsistentRead": True}
    found: dict[str, Any] = db.client.call("GetItem", request).get("Item", {})
    return found


def mark(db: Db, one: Entity) -> None:
    item = {**stored(db, one), **THEIRS}
    db.client.call("PutItem", {"TableName": "undeclared", "Item": item})


WRITES: dict[str, Callable[[Db, Any], Any]] = {
    "update": lambda db, one: db.update(one, title="new"),
    "clear": lambda db, one: db.update(one.ref(), mood=None),
    "put": lambda db, one: db.put(one.model_copy(update={"title": "new", "mood": None})),
    "put in a transaction": lambda db, one: db.transact(
        put(one.model_copy(update={"title": "new"})), put(Plain(item_id="other"))
    )[0],
    "update in a transaction": lambda db, one: db.transact(
        update(one.ref(), mood="good"), put(Plain(item_id="other"))
    )[0],
    "put_many": lambda db, one: db.put_many([one.model_copy(update={"title": "new"})]),
    "move": lambda db, one: db.move(one, item_id="moved"),
}


@pytest.mark.parametrize("kind", [Plain, Versioned])
@pytest.mark.parametrize("write", WRITES)
def test_a_write_leaves_them_as_they_are(db: Db, kind: type[Plain], write: str) -> None:
    made = db.create(kind(item_id="i", title="old", tags={"a"}, mood="bad"))
    mark(db, made)
    WRITES[write](db, made)
    now = db.find(made.ref()) or db.get(kind.key(item_id="moved"))
    assert stored(db, now) == {**THEIRS, **kind.__spec__.encode(now)}
    assert now.title in ("new", "old")


def test_dropping_them_is_said(db: Db) -> None:
    made = db.create(Plain(item_id="i", title="old"))
    mark(db, made)
    db.put_many([made], drop_undeclared=True)
    assert stored(db, made) == Plain.__spec__.encode(made)


def test_a_put_of_something_new_is_a_whole_item(db: Db) -> None:
    made = db.put(Plain(item_id="i", mood="bad"))
    assert stored(db, made) == Plain.__spec__.encode(made)
    assert db.put_many([Plain(item_id=str(n)) for n in range(60)]) == 60


def test_a_move_does_not_lose_what_somebody_changed_meanwhile(db: Db) -> None:
    made = db.create(Plain(item_id="i"))
    mark(db, made)
    call = db.client.call

    def between(operation: str, request: Any) -> Any:
        if operation == "TransactWriteItems":
            db.client.call = call  # type: ignore[method-assign]
            changed = {**stored(db, made), "legacy": {"S": "changed"}}
            call("PutItem", {"TableName": "undeclared", "Item": changed})
        return call(operation, request)

    db.client.call = between  # type: ignore[method-assign]
    with pytest.raises(VersionConflict):
        db.move(made, item_id="moved")
    assert stored(db, made)["legacy"] == {"S": "changed"}


def test_what_is_counted_begins_with_nothing(db: Db) -> None:
    for write in (db.create, db.put, lambda one: db.transact(put(one))):
        with pytest.raises(ValueRefused, match="children is a counter"):
            write(Parent(parent_id="p", children=7))
    made = db.put(Parent(parent_id="p"))
    db.create(Child(parent_id="p", child_id="c"))
    assert db.put(made.model_copy(update={"name": "n"})).children == 1
    assert db.put(made.model_copy(update={"children": 9})).children == 1
