"""Scan."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import selection, start_key
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.read import Reading, read_page
from keyfold_engine.engine.tables import IndexDefinition, TableDefinition, segment
from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.expressions import legacy, parameters
from keyfold_engine.expressions.ast import paths
from keyfold_engine.values import Item

_EXPRESSIONS = ("ProjectionExpression", "FilterExpression")
_LEGACY = ("AttributesToGet", "ScanFilter", "ConditionalOperator")


def scan(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parameters.refuse_mixture(request, _EXPRESSIONS, _LEGACY)
    if "ConditionalOperator" in request:
        legacy.filter(request)
    # Legacy parameters are checked before the starting key and the segments, expressions after.
    is_modern = any(request.get(name) is not None for name in _EXPRESSIONS)
    expressions = parameters.ExpressionParameters() if is_modern else parameters.read(request)
    start = start_key.read(request)
    _check_segments(request.get("Segment"), request.get("TotalSegments"))
    selection.check_select(request)
    if is_modern:
        expressions = parameters.read(request)
    with database.read() as session:
        table = database.catalog.get(session, request["TableName"])
        index = selection.index_of(database.catalog, session, table, request, of_scan=True)
        reading = _reading(table, index, start, request, expressions)
        page = read_page(database, session, reading)
    return selection.answer(request, reading, page)


def _reading(
    table: TableDefinition,
    index: IndexDefinition | None,
    start: Item | None,
    request: dict[str, Any],
    expressions: parameters.ExpressionParameters,
) -> Reading:
    number, total = request.get("Segment") or 0, request.get("TotalSegments") or 1
    first, end = segment(number, total)
    behind = None
    if start is not None:
        behind = start_key.place(table, index, start, of_scan=True)
    shape, fetches = selection.shape_of(index, request.get("Select"), expressions.projection)
    if behind is not None:
        if not first <= behind < end:
            raise ValidationError(
                "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
                f"ExclusiveStartKey with correct Segment. TotalSegments: {total} Segment: {number}"
            )
        first = behind + b"\0"
    if expressions.projection is not None:
        selection.refuse_nested_keys(table, expressions.projection)
    if expressions.filter is not None:
        selection.refuse_nested_keys(table, paths(expressions.filter))
    return Reading(
        table,
        index,
        first,
        end,
        limit=request.get("Limit"),
        matches=selection.visible(index, expressions.filter, expressions.values),
        shape=shape,
        counts_only=request.get("Select") == "COUNT",
        fetches=fetches,
    )


def _check_segments(number: int | None, total: int | None) -> None:
    if number is not None and total is None:
        raise ValidationError(
            "The TotalSegments parameter is required but was not present in the request when "
            "Segment parameter is present"
        )
    if total is not None and number is None:
        raise ValidationError(
            "The Segment parameter is required but was not present in the request when parameter "
            "TotalSegments is present"
        )
    if number is not None and total is not None and number >= total:
        raise RequestInvalid(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {number} is not less than TotalSegments: {total}"
        )
