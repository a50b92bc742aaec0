"""Sharded counters: a hot number spread over several items, summed on read."""

from __future__ import annotations

from decimal import Decimal
from types import new_class
from typing import Any, Final

from keyfold.design import codes
from keyfold.design.address import Ref, checked_ref
from keyfold.design.declaration import refuse
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.markers import CountMarker
from keyfold.design.table import Table
from keyfold.errors import PlanError
from keyfold.runtime.batch import get_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold_engine.values.number import exact_sum

AMOUNT: Final = "amount"
TYPE_NAME: Final = "CounterShard"


def shard_entity(table: Table) -> type[Entity]:
    """The entity of a table's counter shards, declared with the first sharded counter."""
    for entity in table.entities:
        if entity.__spec__.role == "counter" and entity.__spec__.type_name == TYPE_NAME:
            return entity
    if table.schema.partition_type != "S" or table.schema.sort_type != "S":
        refuse(
            codes.MARKER_MISUSED,
            f"the table {table.name} has a key that is not a string, so it cannot hold the shards "
            "of a counter.",
            "Use a table with text keys.",
        )
    name = TYPE_NAME if TYPE_NAME not in table.design.entities else f"{table.name}{TYPE_NAME}"

    def body(namespace: dict[str, Any]) -> None:
        namespace["__doc__"] = "A part of a hot counter."
        namespace["__annotations__"] = {
            "counter": str,
            "holder": str,
            "shard": int,
            AMOUNT: Decimal,
        }
        namespace[AMOUNT] = Decimal(0)
        namespace["__module__"] = __name__
        partition = "COUNTER#{counter}#{holder}#{shard:03d}"
        sort = None if table.schema.sort is None else "COUNTER"
        namespace["key"] = Key(partition, sort, escape=True)

    made: type[Entity] = new_class(name, (Entity,), {"table": table, "type_name": TYPE_NAME}, body)
    made.__spec__.role = "counter"
    return made


def holder_text(holder: Ref[Any]) -> str:
    """The key of a sharded counter's holder, as text."""
    return "/".join([text for value in holder.wire().values() for text in value.values()])


def counter_name(holder: Ref[Any], field: str) -> str:
    return f"{holder.entity.__name__}.{field}"


def shard_ref(holder: Ref[Any], field: str, shard: int) -> Ref[Any]:
    entity = shard_entity(holder.entity.__table__)
    counter = counter_name(holder, field)
    return Ref(entity, {"counter": counter, "holder": holder_text(holder), "shard": shard})


def total(context: Context, holder: Ref[Any], field: str) -> Flow[Decimal]:
    """A sharded counter's value: its shards, plus what the field itself held before."""
    spec = checked_ref(holder).entity.__spec__
    mark = spec.fields[field].mark(CountMarker) if field in spec.fields else None
    if mark is None:
        raise PlanError(f"{spec.name}.{field} is not a counter")
    count: int = mark.shards
    refs = [shard_ref(holder, field, shard) for shard in range(count)] if count > 1 else []
    found = yield from get_many(context, [holder, *refs])
    base = getattr(found[0], field) if found[0] is not None else 0
    parts = [getattr(one, AMOUNT) for one in found[1:] if one is not None]
    return exact_sum([base or 0, *parts])
