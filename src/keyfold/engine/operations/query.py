"""Query."""

from __future__ import annotations

from typing import Any

from keyfold.engine import selection
from keyfold.engine.database import Database
from keyfold.engine.read import Reading, key_range, read_page
from keyfold.engine.tables import Index, Table
from keyfold.errors import ValidationError
from keyfold.expressions import evaluate, keys, parameters
from keyfold.expressions.roots import roots

_EXPRESSIONS = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")
_LEGACY = ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions")


def query(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parameters.refuse_mixture(request, _EXPRESSIONS, _LEGACY)
    selection.check_select(request, "Querying")
    expressions = parameters.read(request)
    if expressions.key_terms is None:
        raise ValidationError(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in "
            "the request."
        )
    with database.read() as session:
        table = database.catalog.get(session, request["TableName"])
        index = selection.index_of(database.catalog, session, table, request)
        reading = _reading(table, index, request, expressions)
        page = read_page(database, session, reading)
    if database.heat is not None and reading.index is None:
        consumed = page.capacity(reading, consistent=bool(request.get("ConsistentRead")))
        database.heat.read(table.id, reading.first, consumed.table)
    return selection.answer(request, reading, page)


def _reading(
    table: Table, index: Index | None, request: dict[str, Any], expressions: parameters.Expressions
) -> Reading:
    schema = table.schema if index is None else index.schema
    assert expressions.key_terms is not None
    chosen = keys.select(expressions.key_terms, schema.partition, schema.sort, schema.types)
    place = schema.partition_place(dict(zip(schema.partition, chosen.partition, strict=True)))
    first, end = key_range(chosen, place)
    shape, fetches = selection.shape_of(index, request.get("Select"), expressions.projection)
    backward = request.get("ScanIndexForward") is False
    start = selection.starting_place(table, index, request)
    if start is not None:
        first, end = _resume(start, place, first, end, backward=backward)
    return Reading(
        table,
        index,
        first,
        end,
        backward=backward,
        limit=request.get("Limit"),
        matches=_filter(expressions, table, index),
        shape=shape,
        counts_only=request.get("Select") == "COUNT",
        fetches=fetches,
    )


def _resume(
    start: bytes, partition: bytes, first: bytes, end: bytes, *, backward: bool
) -> tuple[bytes, bytes]:
    """The part of the range that is left behind the starting key."""
    if not start.startswith(partition):
        raise ValidationError(
            "The provided starting key is outside query boundaries based on provided conditions"
        )
    if not first <= start < end:
        raise ValidationError("The provided starting key does not match the range key predicate")
    return (first, start) if backward else (start + b"\0", end)


def _filter(
    expressions: parameters.Expressions, table: Table, index: Index | None
) -> evaluate.Test | None:
    if expressions.filter is None:
        return None
    schema = table.schema if index is None else index.schema
    mentioned = set(roots(expressions.filter))
    for name in schema.attributes:
        if name in mentioned:
            raise ValidationError(
                "Filter Expression can only contain non-primary key attributes: "
                f"Primary key attribute: {name}"
            )
    if index is not None:
        selection.refuse_unprojected_filter(index, expressions.filter)
    return evaluate.compiled(expressions.filter)
