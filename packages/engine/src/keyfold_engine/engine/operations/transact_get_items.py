"""TransactGetItems."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold_engine.engine import answers
from keyfold_engine.engine.capacity import Capacity, Ledger, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.lane import check
from keyfold_engine.errors import CancellationReason, EmptyKey, TransactionCanceled, ValidationError
from keyfold_engine.expressions import parameters
from keyfold_engine.expressions.projection import project
from keyfold_engine.limits import TRANSACTION_BYTES
from keyfold_engine.values.units import read_units
from keyfold_engine.values.wire import check_item


def transact_get_items(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wishes = [wish["Get"] for wish in request["TransactItems"]]
    asked = [(wish, check_item(wish["Key"]), parameters.read(wish).projection) for wish in wishes]
    with database.snapshot() as session:
        tables = [database.catalog.get(session, wish["TableName"]) for wish in wishes]
        places, reasons = [], []
        for table, (_wish, key, _projection) in zip(tables, asked, strict=True):
            try:
                places.append(place_of_key(table, key))
                reasons.append(CancellationReason())
            except EmptyKey:
                raise
            except ValidationError as failure:
                reasons.append(CancellationReason("ValidationError", failure.message))
        if len(places) < len(asked):
            raise TransactionCanceled(reasons=reasons)
        if len({(t.id, p) for t, p in zip(tables, places, strict=True)}) < len(places):
            raise ValidationError(
                "Transaction request cannot include multiple operations on one item"
            )
        found = [session.find(t.id, p) for t, p in zip(tables, places, strict=True)]
    size = sum(stored.size for stored in found if stored is not None)
    check(size // 8)
    if size > TRANSACTION_BYTES:
        raise ValidationError("Transaction response size limit exceeded")
    ledger = Ledger()
    responses: list[dict[str, Any]] = []
    for table, stored, (_wish, _key, projection) in zip(tables, found, asked, strict=True):
        size = 0 if stored is None else stored.size
        ledger.add(Capacity(table.name, 2 * read_units(size, consistent=True)))
        if stored is None:
            responses.append({})
        elif projection is None:
            responses.append({"Item": answers.body(stored.body)})
        else:
            shown = project(projection, orjson.loads(stored.body))
            responses.append({"Item": shown} if shown else {})
    answer: dict[str, Any] = {"Responses": responses}
    detail = wanted(request)
    if detail is not None:
        answer["ConsumedCapacity"] = ledger.answer(detail, "Read")
    return answer
