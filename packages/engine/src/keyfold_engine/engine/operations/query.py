"""Query."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import selection, start_key
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.places import HASH_BYTES
from keyfold_engine.engine.read import Reading, key_range, read_page
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import evaluate, keys, parameters
from keyfold_engine.expressions.ast import paths, roots
from keyfold_engine.values import Item

_EXPRESSIONS = ("ProjectionExpression", "FilterExpression", "KeyConditionExpression")
_LEGACY = ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions")
_LEGACY_BUT_KEYS = frozenset(("AttributesToGet", "QueryFilter"))


def query(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parameters.refuse_mixture(request, _EXPRESSIONS, _LEGACY)
    selection.check_select(request)
    if not _LEGACY_BUT_KEYS.isdisjoint(request):
        # These are checked before the starting key, key conditions after it.
        parameters.read({name: request[name] for name in request if name != "KeyConditions"})
    start = start_key.read(request)
    if request.get("KeyConditions") is None and request.get("KeyConditionExpression") is None:
        raise ValidationError(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in "
            "the request."
        )
    expressions = parameters.read(request, deeper="Query" in database.dialect.older)
    with database.read() as session:
        table = database.catalog.get(session, request["TableName"])
        index = selection.index_of(database.catalog, session, table, request, of_scan=False)
        reading = _reading(table, index, start, request, expressions)
        page = read_page(database, session, reading)
    if database.heat is not None and reading.index is None:
        consumed = page.capacity(reading, consistent=bool(request.get("ConsistentRead")))
        database.heat.read(table, reading.first, consumed.table)
    return selection.answer(request, reading, page)


def _reading(
    table: TableDefinition,
    index: IndexDefinition | None,
    start: Item | None,
    request: dict[str, Any],
    expressions: parameters.ExpressionParameters,
) -> Reading:
    schema = table.schema if index is None else index.schema
    assert expressions.key_terms is not None, "a query has key conditions"
    behind = None
    if start is not None:
        behind = start_key.place(table, index, start, of_scan=False)
    chosen = keys.select(expressions.key_terms, schema.partition, schema.sort, schema.types)
    place = schema.partition_place(dict(zip(schema.partition, chosen.partition, strict=True)))
    first, end = key_range(chosen, place)
    backward = request.get("ScanIndexForward") is False
    if behind is not None:
        has_range = bool(chosen.sort_equal or chosen.range)
        _check_boundaries(behind, place, first, end, has_range=has_range)
        first, end = (first, behind) if backward else (behind + b"\0", end)
    if expressions.projection is not None:
        selection.refuse_nested_keys(table, expressions.projection)
    matches = _filter(request, expressions, table, index)
    shape, fetches = selection.shape_of(index, request.get("Select"), expressions.projection)
    return Reading(
        table,
        index,
        first,
        end,
        backward=backward,
        limit=request.get("Limit"),
        matches=matches,
        shape=shape,
        counts_only=request.get("Select") == "COUNT",
        fetches=fetches,
    )


def _check_boundaries(
    start: bytes, partition: bytes, first: bytes, end: bytes, *, has_range: bool
) -> None:
    """A query can only continue after a key at which it could have ended."""
    if first <= start < end:
        return
    if not has_range:
        raise ValidationError(
            "The provided starting key is outside query boundaries based on provided conditions"
        )
    if not _in_range(start, partition, first, end):
        raise ValidationError("The provided starting key does not match the range key predicate")
    raise ValidationError("The query can return at most one row and cannot be restarted")


def _in_range(start: bytes, partition: bytes, first: bytes, end: bytes) -> bool:
    """Whether the sort part of a key of another partition is in the range."""
    if start.startswith(partition):
        return False
    sort = start[start.index(b"\0\0", HASH_BYTES) + 2 :]
    return first <= partition + sort < end


def _filter(
    request: dict[str, Any],
    expressions: parameters.ExpressionParameters,
    table: TableDefinition,
    index: IndexDefinition | None,
) -> evaluate.Test | None:
    if expressions.filter is None:
        return None
    schema = table.schema if index is None else index.schema
    parameter = "Filter Expression" if "FilterExpression" in request else "QueryFilter"
    mentioned = set(roots(expressions.filter))
    for name in schema.attributes:
        if name in mentioned:
            raise ValidationError(
                f"{parameter} can only contain non-primary key attributes: "
                f"Primary key attribute: {name}"
            )
    selection.refuse_nested_keys(table, paths(expressions.filter))
    if index is not None:
        selection.refuse_unprojected_filter(index, expressions.filter)
    return evaluate.compile_condition(expressions.filter, expressions.values)
