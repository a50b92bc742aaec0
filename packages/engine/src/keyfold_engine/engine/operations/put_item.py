"""PutItem."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import answers, write
from keyfold_engine.engine.capacity import wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_item
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.write import Condition, ItemWrite, NewItem, Old, Prepared
from keyfold_engine.errors import RequestInvalid
from keyfold_engine.expressions import parameters
from keyfold_engine.values.wire import check_item

_REQUIRED = 2


def put_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    if len(request) == _REQUIRED:
        # Most requests have only a table and an item.
        _put(database, request["TableName"], NewItem.put(check_item(request["Item"])))
        return {}
    parameters.refuse_mixture(
        request, ("ConditionExpression",), ("Expected", "ConditionalOperator")
    )
    returns = request.get("ReturnValues", "NONE")
    if returns not in ("NONE", "ALL_OLD"):
        raise RequestInvalid("ReturnValues can only be ALL_OLD or NONE")
    new = NewItem.put(check_item(request["Item"]))
    test = parameters.read(request, deeper="PutItem" in database.dialect.older).test()
    returns_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    is_asked = returns != "NONE" or wanted(request) is not None

    done = _put(
        database,
        request["TableName"],
        new,
        condition=test,
        returns_item=returns_item,
        needs=Old.BYTES if is_asked else Old.NOTHING,
    )
    answer: dict[str, Any] = {}
    if returns == "ALL_OLD" and done.stored is not None:
        answer["Attributes"] = answers.stored(done.stored)
    return answers.with_metrics(database, answer, request, done)


def _put(
    database: Database,
    name: str,
    new: NewItem,
    *,
    condition: Condition | None = None,
    returns_item: bool = False,
    needs: Old = Old.NOTHING,
) -> Prepared:
    def work(session: Session) -> Prepared:
        table = database.catalog.get(session, name)
        place = place_of_item(table, new.item)
        wish = ItemWrite(
            table,
            place,
            new.as_change,
            condition=condition,
            returns_item=returns_item,
            needs=needs,
        )
        prepared = write.prepare(session, wish)
        write.store(database, session, prepared)
        return prepared

    return database.write(work, changes_last=True)
