"""Edges: one relationship, read from both sides.

The other side is either an index of the same item (`On`) or a second item kept equal in the same
transaction (`Mirror`). Either can be sharded for very large accounts.
"""

from __future__ import annotations

from types import new_class
from typing import Any, ClassVar, TypeVar, cast
from zlib import crc32

from pydantic import model_validator

from keyfold.design import codes
from keyfold.design.address import OpenKey
from keyfold.design.declaration import Declared, refuse
from keyfold.design.entity import Entity
from keyfold.design.formats import ShardNumber, text_of
from keyfold.design.keys import Key
from keyfold.design.markers import StructureMarker
from keyfold.design.query_merge import Merge, merge
from keyfold.design.read import Each
from keyfold.design.table import Table
from keyfold.errors import PlanError
from keyfold.maintain.pointer import Pointer

E = TypeVar("E", bound=Entity)


class Sharded(StructureMarker):
    """Marks the field that spreads a partition: `shard: Annotated[int, Sharded("user_id", 8)] = 0`.

    Its value is derived from another field when the edge is created, and stored. So the number of
    shards may grow: edges stay where they are, and reads query every shard.
    """

    spreads = True

    def __init__(self, by: str, shards: int) -> None:
        if shards < 1:
            refuse(
                codes.MARKER_MISUSED,
                f"shards must be at least 1, not {shards}.",
                "Give it one or more.",
            )
        self.by, self.shards = by, shards

    def attach_field(self, entity: type[Entity], field: str) -> None:
        # A mirror or pointer keeps the shard of its edge.
        if not issubclass(entity, Edge | Pointer):
            refuse(
                codes.MARKER_MISUSED,
                f"{field} is sharded, but {entity.__name__} is not an Edge.",
                f"Write class {entity.__name__}(Edge, table=...).",
            )

    def shard(self, value: object, shards: int | None = None) -> int:
        """The shard of an edge with this value; accounts may use fewer shards than declared."""
        count = self.shards if shards is None else shards
        if not 1 <= count <= self.shards:
            raise PlanError(f"{count} shards were requested; {self.shards} are declared")
        return crc32(text_of(value).encode()) % count


class Edge(Entity):
    """A relationship. Its key is one side; an `On` or a `Mirror` is the other."""

    __sharded__: ClassVar[dict[str, Sharded]] = {}

    @model_validator(mode="before")
    @classmethod
    def _find_shard(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        computed = {}
        for name, sharded in cls.__sharded__.items():
            by = values.get(sharded.by, values.get(cls.model_fields[sharded.by].alias))
            if by is not None and values.keys().isdisjoint((name, cls.model_fields[name].alias)):
                computed[name] = sharded.shard(by)
        return {**values, **computed} if computed else values

    @classmethod
    def __pydantic_init_subclass__(cls, *, table: Table | None = None, **options: Any) -> None:
        super().__pydantic_init_subclass__(table=table, **options)
        if table is None:
            return
        cls.__spec__.role = "edge"
        cls.__sharded__ = sharded_fields(cls)
        for name, sharded in cls.__sharded__.items():
            if sharded.by not in cls.__spec__.fields:
                refuse(
                    codes.UNKNOWN_REFERENCE,
                    f"{name} is sharded by {sharded.by!r}, which {cls.__name__} does not declare.",
                    f"Declared: {', '.join(cls.__spec__.fields)}.",
                )
        for declared in vars(cls).values():
            if isinstance(declared, Mirror):
                declared.build(cls)


class Mirror(Declared):
    """An edge's second item: `followers = Mirror("USER#{followee_id}", "FOLLOWER#{follower_id}")`.

    It holds all fields of the edge and is read like a key: `Follow.followers.query(...)`. Values
    are escaped if the edge's own key escapes them.
    """

    def __init__(self, partition: str, sort: str | None = None) -> None:
        super().__init__()
        self.partition, self.sort = partition, sort
        self.entity: type[Entity]

    def attach(self, entity: type[Entity]) -> None:
        if not issubclass(entity, Edge):
            refuse(
                codes.MARKER_MISUSED,
                f"{entity.__name__} has a mirror but is not an Edge.",
                f"Write class {entity.__name__}(Edge, table=...).",
            )

    def build(self, edge: type[Edge]) -> None:
        """Declare the second item."""
        escape = edge.__spec__.key.templates.partition.escape
        suffix = "".join(part.capitalize() for part in self.name.split("_"))

        def body(namespace: dict[str, Any]) -> None:
            namespace["__doc__"] = f"{edge.__name__} seen from the other side."
            namespace["__module__"] = edge.__module__
            namespace["__annotations__"] = dict(_annotations(edge))
            for field, info in edge.model_fields.items():
                if not info.is_required():
                    namespace[field] = info.default
            namespace["key"] = Key(self.partition, self.sort, escape=escape)

        parent: Any = Pointer[edge]  # type: ignore[valid-type]
        name, options = f"{edge.__name__}{suffix}", {"table": edge.__table__}
        self.entity = new_class(name, (parent,), options, body)
        self.entity.__spec__.role = "edge"
        maintainer = cast("Any", self.entity).__maintainer__
        maintainer.kind, maintainer.label = "edge", f"edge {edge.__name__}.{self.name}"

    def __get__(self, instance: object, owner: type[E]) -> OpenKey[E]:
        # The second item has the edge's fields and is read as the edge.
        mirrored = cast("type[E]", self.entity)
        return OpenKey(mirrored, mirrored.__spec__.key)


def sharded_fields(entity: type[Entity]) -> dict[str, Sharded]:
    fields = entity.__spec__.fields.values()
    return {f.name: f.mark(Sharded) for f in fields if f.mark(Sharded) is not None}


def across_shards(key: OpenKey[E], /, *, shards: int | None = None, **values: Any) -> Merge[E]:
    """All items of a sharded partition: one query per shard, merged by sort key.

    `shards` is for accounts known to use fewer than declared.
    """
    partition = key.declared.templates.partition
    found = {n: s.shards for n, s in sharded_fields(key.entity).items() if n in partition.fields}
    slots = partition.slots
    hashed = {slot.field: slot.format.shards for slot in slots if slot.format.shards is not None}
    found.update(hashed)
    if len(found) != 1:
        raise PlanError(
            f"{key.entity.__name__}.{key.declared.name} is not sharded; read it with query(...)"
        )
    name, declared = next(iter(found.items()))
    numbers = range(declared if shards is None else shards)
    every = Each([ShardNumber(one) for one in numbers] if hashed else numbers)
    return merge(key.query(**values, **{name: every}))


def _is_copied(mark: object) -> bool:
    return isinstance(mark, Sharded) or not isinstance(mark, StructureMarker)


def _annotations(edge: type[Entity]) -> list[tuple[str, Any]]:
    from typing import Annotated

    found: list[tuple[str, Any]] = []
    for name, info in edge.model_fields.items():
        marks = [m for m in info.metadata if _is_copied(m)]
        annotation: Any = info.annotation
        for mark in marks:
            annotation = Annotated[annotation, mark]
        found.append((name, annotation))
    return found
