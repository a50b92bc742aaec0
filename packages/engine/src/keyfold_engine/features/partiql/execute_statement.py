"""ExecuteStatement."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold_engine.engine import write
from keyfold_engine.engine.capacity import wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.update import ItemUpdate
from keyfold_engine.engine.write import Prepared
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions.projection import project
from keyfold_engine.features.partiql.parser import parse
from keyfold_engine.features.partiql.plan import planned
from keyfold_engine.features.partiql.select import select
from keyfold_engine.features.partiql.statements import (
    ExistsStatement,
    Removal,
    Select,
    Statement,
    UpdateStatement,
)
from keyfold_engine.values import Item


def execute_statement(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    statement = parse(request["Statement"], request.get("Parameters"))
    if isinstance(statement, Select):
        return _selected(database, statement, request)
    if isinstance(statement, ExistsStatement):
        raise ValidationError("EXISTS is only supported in ExecuteTransaction")
    done = carry_out(database, statement, request)
    answer: dict[str, Any] = {"Items": returned(statement, done)}
    detail = wanted(request)
    if detail is not None:
        answer["ConsumedCapacity"] = done.capacity().answer(detail)
    return answer


def carry_out(database: Database, statement: Statement, request: dict[str, Any]) -> Prepared:
    """Execute an INSERT, UPDATE or DELETE."""
    returns_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"

    def work(session: Session) -> Prepared:
        wish = planned(database, session, statement, returns_item=returns_item)
        return write.execute(database, session, wish)

    return database.write(work)


def returned(statement: Statement, done: Prepared) -> list[Item]:
    """The items that a RETURNING clause requests."""
    if not isinstance(statement, (UpdateStatement, Removal)):
        return []
    old = done.old or {}
    new = {} if done.new is None else done.new.item
    change = done.write.change
    match statement.returning:
        case "ALL_OLD":
            item = old
        case "ALL_NEW":
            item = new
        case "MODIFIED_OLD" if isinstance(change, ItemUpdate):
            item = project(change.touched, old)
        case "MODIFIED_NEW" if isinstance(change, ItemUpdate):
            item = project(change.touched, new)
        case _:
            return []
    return [orjson.loads(orjson.dumps(item))] if item else []


def _selected(database: Database, statement: Select, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        page = select(database, session, statement, request)
    answer: dict[str, Any] = {"Items": page.items}
    if page.token is not None:
        answer["NextToken"] = page.token
    if page.last is not None:
        answer["LastEvaluatedKey"] = page.last
    detail = wanted(request)
    if detail is not None:
        answer["ConsumedCapacity"] = page.capacity.answer(detail)
    return answer
