"""UpdateItem."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import answers, write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.update import ItemUpdate, refuse_large_update
from keyfold_engine.engine.write import ItemWrite, Prepared
from keyfold_engine.expressions import parameters
from keyfold_engine.expressions.projection import project
from keyfold_engine.values import Item
from keyfold_engine.values.wire import check_item


def update_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parameters.refuse_mixture(
        request,
        ("UpdateExpression", "ConditionExpression"),
        ("AttributeUpdates", "Expected", "ConditionalOperator"),
    )
    key = check_item(request["Key"])
    expressions = parameters.read(request, deeper="UpdateItem" in database.dialect.older)
    test = expressions.test()
    if "AttributeUpdates" not in request and database.dialect.charges_updates:
        refuse_large_update(expressions)
    returns_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"

    def work(session: Session) -> tuple[Prepared, ItemUpdate]:
        table = database.catalog.get(session, request["TableName"])
        update = ItemUpdate(table, key, expressions.update, expressions.values)
        place = place_of_key(table, key)
        wish = ItemWrite(table, place, update, condition=test, returns_item=returns_item)
        return write.execute(database, session, wish), update

    done, update = database.write(work, changes_last=True)
    answer: dict[str, Any] = {}
    attributes = _returned(request.get("ReturnValues", "NONE"), done, update)
    if attributes:
        answer["Attributes"] = attributes
    return answers.with_metrics(database, answer, request, done)


def _returned(which: str, done: Prepared, update: ItemUpdate) -> Item | Any:
    match which:
        case "ALL_OLD":
            return None if done.stored is None else answers.stored(done.stored)
        case "ALL_NEW":
            return None if done.new is None else answers.body(done.new.body)
        case "UPDATED_OLD":
            return project(update.touched, done.old or {})
        case "UPDATED_NEW":
            # Paths are read in the new item as written: an index beyond a list's end finds nothing,
            # a removed one finds what moved there.
            return None if done.new is None else project(update.touched, done.new.item)
        case _:
            return None
