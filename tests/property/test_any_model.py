"""Whatever a write accepts can be read back; whatever it refuses leaves the table as it was.

Models and writes are drawn at random. What must be in the table is reckoned here from the shape of
the model, and compared with the stored items themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
from keyfold.errors import KeyfoldError
from keyfold.testing import Sandbox
from keyfold.wire import BackgroundServer
from tests.property.any_model import NOTHING, Draw, Kind, Part, Shape, Values, draw_shape, only

Done = tuple[str, Any]
Table = dict[str, Values]
WORD = Kind(str, st.sampled_from(["a", "b"]), lambda w: only("S", w))
WAYS = [
    *("create", "put", "put_many", "update", "update", "update_item", "transact"),
    *("edit", "edit", "edit_address", "upsert", "delete"),
]


class World:
    """A table of one random entity, and what should be in it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        shape = draw_shape(draw)
        self.versioned, self.unique = draw(st.booleans()), draw(st.booleans())
        word = Part(WORD, optional=draw(st.booleans()))
        self.shape = Shape({**shape.parts, "word": word}, shape.ordered, shape.together)
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
            "by_word": On("GSI1", "WORD#{word}", "{name}", when="word")
            if self.shape.parts["word"].optional
            else On("GSI1", "WORD#{word}", "{name}"),
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

    def agreed(self, after: dict[str, Values | None]) -> Table | None:
        """The table with these items; None where that cannot be."""
        if any(values is None for values in after.values()):
            return None
        table = self.expected | {name: values for name, values in after.items() if values}
        held = [one["word"] for one in table.values() if one["word"] is not None]
        return None if self.unique and len(set(held)) < len(held) else table

    # What is there

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
            found[name] = self.shape.read(item)
            word = found[name]["word"]
            placed = {"GSI1PK": {"S": f"WORD#{word}"}, "GSI1SK": {"S": name}}
            assert index == ({} if word is None else placed)
        claims = sum(one["word"] is not None for one in found.values())
        assert support == (claims if self.unique else 0)
        return found


def carry_out(world: World, db: Db, way: str, name: str) -> tuple[Callable[[], Any], Table | None]:
    """A write, and the table that it leaves; None where it must be refused."""
    draw = world.draw
    before, there = world.expected.get(name), name in world.expected
    if way in ("create", "put", "put_many"):
        values = world.values()
        item = world.item(name, values)
        refused = (way == "create" and there) or (way == "put_many" and world.unique)
        after = None if refused else world.accepted(values)
        calls = {
            "create": lambda: db.create(item),
            "put": lambda: db.put(item),
            "put_many": lambda: db.put_many([item]),
        }
        return calls[way], world.agreed({name: after})
    if way == "delete":
        left = {other: one for other, one in world.expected.items() if other != name}
        return (lambda: db.transact(delete(world.ref(name)))), left
    done = world.changes()
    changes = {field: world.as_given(field, one) for field, one in done.items()}
    changed = None if before is None else world.changed(before, done)
    after_all = world.agreed({name: changed})
    if way == "update":
        return (lambda: db.update(world.ref(name), **changes)), after_all
    if way == "update_item":
        return (lambda: db.update(db.get(world.ref(name)), **changes)), after_all
    if way == "upsert":
        made = changed if there else world.first(done)
        return (lambda: db.transact(upsert(world.ref(name), **changes))), world.agreed({name: made})
    if way == "transact":
        other = "j" if name == "i" else "i"
        values = world.values()
        both = world.agreed({name: changed, other: world.accepted(values)})
        item = world.item(other, values)
        return (lambda: db.transact(update(world.ref(name), **changes), put(item))), both
    target, in_place = world.ref(name), way == "edit" and draw(st.booleans())

    def edit() -> None:
        with db.edit(target if way == "edit_address" else db.get(target)) as draft:
            for field, one in done.items():
                make(draft, field, one, world, in_place)

    return edit, after_all


def make(draft: Any, field: str, done: Done, world: World, in_place: bool) -> None:
    """One change, as a program makes it to a draft."""
    way, value = done
    kind = world.shape.parts[field].kind
    if way == "clear":
        setattr(draft, field, set() if kind.is_set else None)
    elif way == "set":
        setattr(draft, field, kind.given(value))
    elif not in_place or getattr(draft, field) is None:
        setattr(draft, field, world.as_given(field, done))
    elif way == "append":
        getattr(draft, field).extend(kind.given(value))
    elif way == "remove":
        held = getattr(draft, field)
        for element in value:
            held.discard(element)
    elif kind.is_set:
        getattr(draft, field).update(value)
    else:
        setattr(draft, field, getattr(draft, field) + value)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_what_is_accepted_can_be_read_and_what_is_refused_leaves_nothing(data: Any) -> None:
    world = World(data.draw)
    with Sandbox() as sandbox, sandbox.open(world.design) as db:
        write_at_random(world, sandbox, db)


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
        write_at_random(world, sandbox, db)


def write_at_random(world: World, sandbox: Sandbox, db: Db) -> None:
    draw = world.draw
    for step in range(draw(st.integers(2, 9))):
        way = draw(st.sampled_from(WAYS)) if step else "create"
        name = draw(st.sampled_from("iij"))
        call, after = carry_out(world, db, way, name)
        raw = sandbox.items("models")
        if after is None:
            with pytest.raises(KeyfoldError):
                call()
            assert sandbox.items("models") == raw, "a refusal leaves the table as it was"
        else:
            call()
            world.expected = after
        assert world.stored(sandbox) == world.expected
        for one in world.expected:
            assert db.get(world.ref(one)) is not None
