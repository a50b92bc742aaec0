"""Parts of answers that several operations share.

Stored items go into answers as fragments: their bytes are spliced into the wire answer without
being decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from keyfold_engine.engine import capacity
from keyfold_engine.engine.capacity import wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.values import Item

if TYPE_CHECKING:
    from keyfold_engine.engine.write import Prepared


class Listing(dict[str, Any]):
    """An answer whose last member is "Items", given as the stored bytes of whole items."""

    def __init__(self, members: dict[str, Any], bodies: list[bytes]) -> None:
        super().__init__(members)
        self.bodies = bodies


def encoded(answer: dict[str, Any]) -> bytes:
    """An answer as wire bytes."""
    if not isinstance(answer, Listing):
        return orjson.dumps(answer)
    head = orjson.dumps(answer)[:-1] + b',"Items":['
    bodies = answer.bodies
    if not bodies:
        return head + b"]}"
    # One join builds the whole answer: pages are large, and every further copy would show.
    pieces = [*bodies]
    pieces[0] = head + pieces[0]
    pieces[-1] += b"]}"
    return b",".join(pieces)


def body(stored: bytes) -> orjson.Fragment:
    return orjson.Fragment(stored)


def of_write(
    database: Database, answer: dict[str, Any], request: dict[str, Any], done: Prepared
) -> dict[str, Any]:
    """The answer of a single write, with what it consumed and touched if that is asked for."""
    of_writes(database, answer, request, [done])
    if "ConsumedCapacity" in answer:
        [answer["ConsumedCapacity"]] = answer["ConsumedCapacity"]
    for metrics in answer.pop("ItemCollectionMetrics", {}).values():
        [answer["ItemCollectionMetrics"]] = metrics
    return answer


def of_writes(
    database: Database,
    answer: dict[str, Any],
    request: dict[str, Any],
    done: list[Prepared],
    *,
    transacted: bool = False,
) -> dict[str, Any]:
    """The same of several writes, of which each has a list."""
    if (detail := wanted(request)) is not None:
        consumed = (prepared.capacity() for prepared in done)
        answer["ConsumedCapacity"] = capacity.of_writes(consumed, detail, transacted=transacted)
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        answer["ItemCollectionMetrics"] = _metrics_by_table(database, done)
    return answer


def _metrics_by_table(database: Database, done: list[Prepared]) -> dict[str, list[dict[str, Any]]]:
    """The item collections that writes touched, once each, for tables with local indexes."""
    # Few tables have local indexes, and few callers ask for this.
    from keyfold_engine.engine import collections

    touched: dict[bytes, tuple[TableDefinition, Item]] = {}
    for prepared in done:
        table = prepared.write.table
        item = prepared.new.item if prepared.new is not None else prepared.old
        if table.local_indexes and item is not None:
            place = table.schema.partition_place(item)
            touched[table.id.to_bytes(8, "big") + place] = table, item
    metrics: dict[str, list[dict[str, Any]]] = {}
    with database.read() as session:
        for table, item in touched.values():
            metrics.setdefault(table.name, []).append(collections.metrics(session, table, item))
    return metrics
