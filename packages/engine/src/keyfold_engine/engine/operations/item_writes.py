"""PutItem, UpdateItem and DeleteItem; batches and transactions are made of the same writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold_engine.engine import answers, write
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_item, place_of_key
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.update import ItemUpdate, refuse_large_update
from keyfold_engine.engine.write import Change, ItemWrite, NewItem, Prepared
from keyfold_engine.errors import RequestInvalid
from keyfold_engine.expressions import parameters
from keyfold_engine.expressions.evaluate import Test
from keyfold_engine.expressions.parameters import ExpressionParameters
from keyfold_engine.expressions.projection import project
from keyfold_engine.values import Item
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.wire import check_item

Located = Callable[[TableDefinition], tuple[bytes, Change | None]]
"""The place of a write in its table, and the change."""


def putting(item: Item, *, explains: bool = True) -> Located:
    new = NewItem.put(check_item(item))
    return lambda table: (place_of_item(table, new.item, explains=explains), new.as_change)


def deleting(key: NormalItem) -> Located:
    return lambda table: (place_of_key(table, key), write.deletion)


def updating(key: NormalItem, expressions: ExpressionParameters) -> Located:
    def located(table: TableDefinition) -> tuple[bytes, Change]:
        change = ItemUpdate(table, key, expressions.update, expressions.values)
        return place_of_key(table, key), change

    return located


def item_write(
    table: TableDefinition,
    located: Located,
    wish: dict[str, Any],
    test: Test | None,
    *,
    decodes: bool = False,
) -> ItemWrite:
    """A write as one request or one part of it wishes it."""
    place, change = located(table)
    returns_item = wish.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    return ItemWrite(
        table, place, change, condition=test, returns_item=returns_item, decodes=decodes
    )


def put_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    _check_plain(request)
    located = putting(request["Item"])
    test = parameters.read(request, deeper="PutItem" in database.dialect.older).test()
    return _answer(database, request, _done(database, request, located, test))


def delete_item(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    _check_plain(request)
    located = deleting(check_item(request["Key"]))
    test = parameters.read(request, deeper="DeleteItem" in database.dialect.older).test()
    return _answer(database, request, _done(database, request, located, test))


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
    done = _done(database, request, updating(key, expressions), test, decodes=True)
    return _answer(database, request, done)


def _check_plain(request: dict[str, Any]) -> None:
    """The first checks of a put or deletion."""
    parameters.refuse_mixture(
        request, ("ConditionExpression",), ("Expected", "ConditionalOperator")
    )
    if request.get("ReturnValues", "NONE") not in ("NONE", "ALL_OLD"):
        raise RequestInvalid("ReturnValues can only be ALL_OLD or NONE")


def _done(
    database: Database,
    request: dict[str, Any],
    located: Located,
    test: Test | None,
    *,
    decodes: bool = False,
) -> Prepared:
    def work(session: Session) -> Prepared:
        table = database.catalog.get(session, request["TableName"])
        wish = item_write(table, located, request, test, decodes=decodes)
        return write.execute(database, session, wish)

    return database.write(work, changes_last=True)


def _answer(database: Database, request: dict[str, Any], done: Prepared) -> dict[str, Any]:
    attributes = _returned(request.get("ReturnValues"), done)
    answer = {"Attributes": attributes} if attributes else {}
    return answers.of_write(database, answer, request, done)


def _returned(which: str | None, done: Prepared) -> Item | Any:
    change = done.write.change
    touched = change.touched if isinstance(change, ItemUpdate) else ()
    match which:
        case "ALL_OLD":
            return None if done.stored is None else answers.body(done.stored.body)
        case "ALL_NEW":
            return None if done.new is None else answers.body(done.new.body)
        case "UPDATED_OLD":
            return project(touched, done.old or {})
        case "UPDATED_NEW":
            # Paths are read in the new item as written: an index beyond a list's end finds nothing,
            # a removed one finds what moved there.
            return None if done.new is None else project(touched, done.new.item)
        case _:
            return None
