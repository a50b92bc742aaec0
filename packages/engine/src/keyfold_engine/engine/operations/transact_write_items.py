"""TransactWriteItems."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import transactions
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_key
from keyfold_engine.engine.operations.item_writes import (
    Located,
    deleting,
    item_write,
    putting,
    updating,
)
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.transactions import Part
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import parameters
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.wire import check_item


def transact_write_items(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parts = [_part(database, wish) for wish in request["TransactItems"]]
    names = {asked["TableName"] for wish in request["TransactItems"] for asked in wish.values()}

    def check(session: Session) -> None:
        for name in names:
            database.catalog.get(session, name)

    token = request.get("ClientRequestToken")
    return transactions.answer(database, request, token, parts, check, {})


def _part(database: Database, wish: dict[str, Any]) -> Part:
    if not wish:
        raise ValidationError(
            "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    if len(wish) > 1:
        raise ValidationError("TransactItems can only contain one of Check, Put, Update or Delete")
    [(kind, asked)] = wish.items()
    located = putting(asked["Item"]) if kind == "Put" else None
    expressions = parameters.read(asked, deeper=True)
    if located is None:
        located = _of_key(kind, check_item(asked["Key"]), expressions)
    test, decodes = expressions.test(), kind == "Update"
    return lambda session: item_write(
        database.catalog.get(session, asked["TableName"]), located, asked, test, decodes=decodes
    )


def _of_key(kind: str, key: NormalItem, expressions: parameters.ExpressionParameters) -> Located:
    if kind == "Update":
        return updating(key, expressions)
    if kind == "Delete":
        return deleting(key)
    return lambda table: (place_of_key(table, key), None)
