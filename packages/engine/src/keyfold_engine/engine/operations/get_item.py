"""GetItem."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold_engine.engine.capacity import Capacity, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.lane import check
from keyfold_engine.engine.selection import refuse_nested_keys
from keyfold_engine.engine.storage import StoredItem
from keyfold_engine.expressions import parameters
from keyfold_engine.expressions.projection import project
from keyfold_engine.values.units import read_units
from keyfold_engine.values.wire import check_item

_REQUIRED = 2


def get_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    # Most requests have only a table and a key.
    has_more = len(request) > _REQUIRED
    if has_more:
        parameters.refuse_mixture(request, ("ProjectionExpression",), ("AttributesToGet",))
    key = check_item(request["Key"])
    projection = parameters.read(request).projection if has_more else None
    table = database.table(request["TableName"])
    place = place_of_key(table, key)
    if projection is not None:
        refuse_nested_keys(table, projection)
    stored = database.find(table, place)
    if database.heat is not None:
        database.heat.read(table, place, _units(request, stored))
    answer: dict[str, Any] = {}
    if stored is not None:
        if projection is None:
            answer["Item"] = orjson.Fragment(stored.body)
        else:
            check(len(stored.body))
            answer["Item"] = project(projection, orjson.loads(stored.body))
    if has_more and (detail := wanted(request)) is not None:
        units = _units(request, stored)
        answer["ConsumedCapacity"] = Capacity(table.name, units).answer(detail)
    return answer


def _units(request: dict[str, Any], stored: StoredItem | None) -> float:
    size = stored.size if stored is not None else 0
    return read_units(size, consistent=bool(request.get("ConsistentRead")))
