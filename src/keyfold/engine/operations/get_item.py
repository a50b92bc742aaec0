"""GetItem."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold.engine import answers
from keyfold.engine.capacity import Capacity, wanted
from keyfold.engine.database import Database
from keyfold.engine.keys import place_of_key
from keyfold.engine.lane import check
from keyfold.engine.selection import refuse_nested_keys
from keyfold.expressions import parameters
from keyfold.expressions.projection import project
from keyfold.values.units import read_units
from keyfold.values.wire import check_item


def get_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parameters.refuse_mixture(request, ("ProjectionExpression",), ("AttributesToGet",))
    key = check_item(request["Key"])
    projection = parameters.read(request).projection
    table = database.table(request["TableName"])
    place = place_of_key(table, key)
    if projection is not None:
        refuse_nested_keys(table, projection)
    stored = database.find(table, place)
    consistent = bool(request.get("ConsistentRead"))
    if database.heat is not None:
        units = read_units(stored.size if stored else 0, consistent=consistent)
        database.heat.read(table, place, units)
    answer: dict[str, Any] = {}
    if stored is not None:
        if projection is None:
            answer["Item"] = answers.stored(stored)
        else:
            check(len(stored.body))
            answer["Item"] = project(projection, orjson.loads(stored.body))
    detail = wanted(request)
    if detail is not None:
        units = read_units(stored.size if stored else 0, consistent=consistent)
        answer["ConsumedCapacity"] = Capacity(table.name, units).answer(detail)
    return answer
