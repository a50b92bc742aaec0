"""BatchGetItem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from keyfold_engine.engine import answers
from keyfold_engine.engine.capacity import Capacity, Ledger, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.lane import check
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import parameters
from keyfold_engine.expressions.projection import compile_projection
from keyfold_engine.limits import BATCH_GET_BYTES, BATCH_GET_ITEMS
from keyfold_engine.values import Item
from keyfold_engine.values.units import read_units
from keyfold_engine.values.wire import check_item


def batch_get_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wishes = request["RequestItems"]
    if sum(len(wish["Keys"]) for wish in wishes.values()) > BATCH_GET_ITEMS:
        raise ValidationError("Too many items requested for the BatchGetItem call")
    # Parameters that cannot be combined in one request cannot be combined across its tables either.
    said = {parameter: value for wish in wishes.values() for parameter, value in wish.items()}
    parameters.refuse_mixture(said, ("ProjectionExpression",), ("AttributesToGet",))
    asked = []
    for name, wish in wishes.items():
        parameters.refuse_mixture(wish, ("ProjectionExpression",), ("AttributesToGet",))
        keys = [check_item(key) for key in wish["Keys"]]
        _refuse_repeated(keys)
        asked.append((name, wish, keys, parameters.read(wish).projection))
    answer: dict[str, Any] = {"Responses": {}, "UnprocessedKeys": {}}
    ledger = Ledger()
    total = 0
    with database.read() as session:
        located = []
        for name, wish, keys, projection in asked:
            table = database.catalog.get(session, name)
            places = [place_of_key(table, key) for key in keys]
            located.append((table, name, wish, places, projection))
        for table, name, wish, places, projection in located:
            consistent = bool(wish.get("ConsistentRead"))
            shape = None if projection is None else compile_projection(projection)
            found = answer["Responses"][name] = []
            consumed = Capacity(table.name)
            for at, place in enumerate(places):
                if total >= BATCH_GET_BYTES:
                    answer["UnprocessedKeys"][name] = {**wish, "Keys": wish["Keys"][at:]}
                    break
                stored = session.find(table.id, place)
                size = 0 if stored is None else stored.size
                total += size
                # Unfiltered items are returned as stored, without decoding.
                check(total // 8 if shape is None else total)
                consumed.table += read_units(size, consistent=consistent)
                if stored is not None:
                    found.append(
                        answers.body(stored.body)
                        if shape is None
                        else shape(orjson.loads(stored.body))
                    )
            ledger.add(consumed)
    detail = wanted(request)
    if detail is not None:
        answer["ConsumedCapacity"] = ledger.answer(detail)
    return answer


def _refuse_repeated(keys: Sequence[Item]) -> None:
    if len({orjson.dumps(key, option=orjson.OPT_SORT_KEYS) for key in keys}) < len(keys):
        raise ValidationError("Provided list of item keys contains duplicates")
