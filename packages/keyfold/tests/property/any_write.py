"""Random writes of random models, and what they make of a table, reckoned without keyfold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from hypothesis import strategies as st
from tests.property.any_model import NOTHING, Draw, Kind, Part, Shape, Values, draw_shape, only

from keyfold import (
    Db,
    Design,
    Entity,
    Index,
    Key,
    On,
    Unique,
    Version,
    add,
    append,
    clear,
    delete,
    put,
    remove,
    update,
    upsert,
)
from keyfold.testing import Sandbox

THEIRS = "legacy"
"""An attribute that no entity declares: whatever is written, its item keeps it."""
Done = tuple[str, Any]
Table = dict[str, Values]
WORD = Kind(str, st.sampled_from(["a", "b", "c"]), lambda w: only("S", w))
RANK = Kind(int, st.integers(0, 2), lambda w: int(only("N", w)))
WAYS = [
    *("create", "put", "put_many", "update", "update", "update_item", "transact"),
    *("upsert", "delete"),
]


class World:
    """A table of one random entity, and what should be in it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        shape = draw_shape(draw)
        self.versioned, self.unique = draw(st.booleans()), draw(st.booleans())
        word = Part(WORD, optional=draw(st.booleans()))
        parts = {**shape.parts, "word": word, "rank": Part(RANK, optional=False, default=0)}
        self.shape = Shape(parts, shape.ordered, shape.together)
        self.design = Design("models")
        self.table = self.design.table("models", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])
        self.entity = self._entity()
        self.expected: Table = {}

    def _entity(self) -> Any:
        annotations: dict[str, Any] = {"name": str}
        namespace: dict[str, Any] = {
            "__module__": __name__,
            "__qualname__": "Thing",
            "__annotations__": annotations,
            "key": Key("THING#{name}", "THING"),
            "by_word": On("GSI1", "WORD#{word}", "{rank:02d}#{name}", when="word")
            if self.shape.parts["word"].optional
            else On("GSI1", "WORD#{word}", "{rank:02d}#{name}"),
            "agree": self.shape.validator(),
        }
        for name, (annotation, default) in self.shape.annotations().items():
            annotations[name] = annotation
            if default is not ...:
                namespace[name] = default
        if self.versioned:
            annotations["version"] = Annotated[int, Version()]
            namespace["version"] = 0
        if self.unique:
            namespace["one_word"] = Unique("word")
        meta: Any = type(Entity)
        return meta("Thing", (Entity,), namespace, table=self.table)

    # What is given

    def item(self, name: str, values: Values) -> Any:
        given = {n: part.given(values[n]) for n, part in self.shape.parts.items()}
        return self.entity.model_construct(
            name=name, **given, **({"version": 0} if self.versioned else {})
        )

    def values(self) -> Values:
        """Values of an item, in most cases good ones."""
        tries = (self.draw(self.shape.any_values) for _ in range(6))
        first: Values = next(tries)
        if self.draw(st.integers(0, 3)) == 0:
            return first
        return next((one for one in (first, *tries) if self.accepted(one)), first)

    def ref(self, name: str) -> Any:
        return self.entity.key(name=name)

    def changes(self) -> dict[str, Done]:
        names = st.lists(
            st.sampled_from(sorted(self.shape.parts)), min_size=1, max_size=3, unique=True
        )
        return {name: self._change(self.shape.parts[name].kind) for name in self.draw(names)}

    def _change(self, kind: Kind) -> Done:
        ways = ["set", "set", "clear"]
        ways += ["add"] * 2 if kind.added is not None else []
        ways += ["remove"] if kind.is_set else []
        ways += ["append"] * 2 if kind.appended is not None else []
        way = self.draw(st.sampled_from(ways))
        if way == "clear":
            return way, None
        drawn: Any = {"set": kind.values, "append": kind.appended}.get(way, kind.added)
        return way, self.draw(drawn)

    def as_given(self, name: str, done: Done) -> Any:
        way, value = done
        kind = self.shape.parts[name].kind
        if way == "clear":
            return clear
        value = kind.given(value)
        makers: dict[str, Callable[[Any], Any]] = {"add": add, "remove": remove, "append": append}
        return makers[way](value) if way in makers else value

    # What should come of it

    def changed(self, before: Values, done: dict[str, Done]) -> Values | None:
        """The values after the changes; None where one of them cannot be made."""
        after = dict(before)
        for name, (way, value) in done.items():
            part, old = self.shape.parts[name], before[name]
            if way == "clear":
                if not (part.optional or part.kind.is_set):
                    return None
                after[name] = None
            elif way == "add":
                empty: Any = frozenset() if part.kind.is_set else 0
                old = empty if old is None else old
                after[name] = old | value if part.kind.is_set else old + value
            elif way == "remove":
                after[name] = (old or frozenset()) - value
            else:
                after[name] = [*(old or ()), *value] if way == "append" else value
        return self.accepted(after)

    def accepted(self, values: Values) -> Values | None:
        normal = self.shape.normal(values)
        return normal if self.shape.fits(normal) else None

    def first(self, done: dict[str, Done]) -> Values | None:
        """The item that changes make of nothing."""
        missing = {n for n, part in self.shape.parts.items() if part.default is NOTHING}
        if missing - done.keys():
            return None
        begins = {
            name: part.normal(None) if part.default is NOTHING else part.default
            for name, part in self.shape.parts.items()
        }
        return self.changed(begins, done)

    def agreed(self, table: Table, after: dict[str, Values | None]) -> Table | None:
        """The table with these items; None where that cannot be."""
        if any(values is None for values in after.values()):
            return None
        table = table | {
            name: {**values, THEIRS: table.get(name, {}).get(THEIRS)}
            for name, values in after.items()
            if values
        }
        held = [one["word"] for one in table.values() if one["word"] is not None]
        return None if self.unique and len(set(held)) < len(held) else table

    # What is there

    def leave_behind(self, sandbox: Sandbox, name: str) -> None:
        """Another program writes an attribute of its own."""
        if name in self.expected:
            theirs = {"L": [{"S": "x"}, {"NULL": True}]}
            request = {
                "TableName": "models",
                "Key": self.ref(name).wire(),
                "UpdateExpression": f"SET {THEIRS} = :theirs",
                "ExpressionAttributeValues": {":theirs": theirs},
            }
            sandbox.engine.call("UpdateItem", request)
            self.expected = self.expected | {name: {**self.expected[name], THEIRS: theirs}}

    def stored(self, sandbox: Sandbox) -> Table:
        """The items as they stand in the table, read by hand."""
        found: Table = {}
        support = 0
        for item in sandbox.items("models"):
            if item.get("type") != {"S": "Thing"}:
                support += 1
                continue
            name = only("S", item.pop("name"))
            assert item.pop("PK") == {"S": f"THING#{name}"}
            assert item.pop("SK") == {"S": "THING"}
            item.pop("type")
            index = {n: item.pop(n) for n in ("GSI1PK", "GSI1SK") if n in item}
            if self.versioned:
                assert int(only("N", item.pop("version"))) >= 1
            theirs = item.pop(THEIRS, None)
            found[name] = {**self.shape.read(item), THEIRS: theirs}
            word = found[name]["word"]
            rank = f"{found[name]['rank']:02d}#{name}"
            placed = {"GSI1PK": {"S": f"WORD#{word}"}, "GSI1SK": {"S": rank}}
            assert index == ({} if word is None else placed)
        claims = sum(one["word"] is not None for one in found.values())
        assert support == (claims if self.unique else 0)
        return found


@dataclass(frozen=True)
class Write:
    """A write, and what it makes of a table; None where it must be refused."""

    call: Callable[[Db], Any]
    effect: Callable[[Table], Table | None]


def draw_write(world: World, way: str, name: str) -> Write:
    if way in ("create", "put", "put_many"):
        return _draw_whole(world, way, name)
    ref, done = world.ref(name), world.changes()
    changes = {field: world.as_given(field, one) for field, one in done.items()}

    def changed(table: Table) -> Table | None:
        before = table.get(name)
        after = None if before is None else world.changed(before, done)
        return world.agreed(table, {name: after})

    if way == "delete":
        return Write(
            lambda db: db.transact(delete(ref)),
            lambda table: {other: one for other, one in table.items() if other != name},
        )
    if way == "update":
        return Write(lambda db: db.update(ref, **changes), changed)
    if way == "update_item":
        return Write(lambda db: db.update(db.get(ref), **changes), changed)
    if way == "upsert":
        return Write(
            lambda db: db.transact(upsert(ref, **changes)),
            lambda table: (
                changed(table) if name in table else world.agreed(table, {name: world.first(done)})
            ),
        )
    if way == "transact":
        other, values = "j" if name == "i" else "i", world.values()
        item, accepted = world.item(other, values), world.accepted(values)

        def both(table: Table) -> Table | None:
            before = table.get(name)
            after = None if before is None else world.changed(before, done)
            return world.agreed(table, {name: after, other: accepted})

        return Write(lambda db: db.transact(update(ref, **changes), put(item)), both)
    raise AssertionError(way)


def _draw_whole(world: World, way: str, name: str) -> Write:
    values = world.values()
    item, after = world.item(name, values), world.accepted(values)
    calls: dict[str, Callable[[Db], Any]] = {
        "create": lambda db: db.create(item),
        "put": lambda db: db.put(item),
        "put_many": lambda db: db.put_many([item]),
    }

    def effect(table: Table) -> Table | None:
        refused = (way == "create" and name in table) or (way == "put_many" and world.unique)
        return None if refused else world.agreed(table, {name: after})

    return Write(calls[way], effect)
