"""DeleteItem."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import answers, write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.write import ItemWrite, Prepared
from keyfold_engine.errors import RequestInvalid
from keyfold_engine.expressions import parameters
from keyfold_engine.values.wire import check_item


def delete_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parameters.refuse_mixture(
        request, ("ConditionExpression",), ("Expected", "ConditionalOperator")
    )
    returns = request.get("ReturnValues", "NONE")
    if returns not in ("NONE", "ALL_OLD"):
        raise RequestInvalid("ReturnValues can only be ALL_OLD or NONE")
    key = check_item(request["Key"])
    test = parameters.read(request, deeper="DeleteItem" in database.dialect.older).test()
    returns_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"

    def work(session: Session) -> Prepared:
        table = database.catalog.get(session, request["TableName"])
        wish = ItemWrite(
            table,
            place_of_key(table, key),
            write.deletion,
            condition=test,
            returns_item=returns_item,
            decodes=False,
        )
        return write.execute(database, session, wish)

    done = database.write(work, changes_last=True)
    answer: dict[str, Any] = {}
    if returns == "ALL_OLD" and done.stored is not None:
        answer["Attributes"] = answers.stored(done.stored)
    return answers.with_metrics(database, answer, request, done)
