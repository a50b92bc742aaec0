"""TransactWriteItems."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import answers, transactions, write
from keyfold_engine.engine.capacity import Ledger, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.keys import place_of_item, place_of_key
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.transactions import Part
from keyfold_engine.engine.update import ItemUpdate
from keyfold_engine.engine.write import Change, ItemWrite, NewItem, Prepared
from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import evaluate, parameters
from keyfold_engine.values.wire import check_item


def transact_write_items(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    parts = [_part(database, wish) for wish in request["TransactItems"]]
    names = {asked["TableName"] for wish in request["TransactItems"] for asked in wish.values()}
    token = request.get("ClientRequestToken")
    digest = transactions.digest(request) if token else b""

    def work(session: Session) -> list[Prepared] | bytes:
        if token:
            known = transactions.replayed(database, session, token, digest)
            if known is not None:
                return known
        for name in names:
            database.catalog.get(session, name)
        done = transactions.execute(database, session, parts)
        if token:
            kept = transactions.replay_cost([each.largest() for each in done])
            transactions.remember(database, session, token, digest, kept)
        return done

    done = database.write(work)
    answer: dict[str, Any] = {}
    detail = wanted(request)
    if isinstance(done, bytes):
        if detail is not None:
            answer["ConsumedCapacity"] = transactions.replay_capacity(done, detail)
        return answer
    if detail is not None:
        ledger = Ledger()
        for prepared in done:
            ledger.add(prepared.capacity().doubled())
        answer["ConsumedCapacity"] = ledger.answer(detail, "Write")
    if answers.wants_collection_metrics(request):
        answer["ItemCollectionMetrics"] = answers.metrics_by_table(database, done)
    return answer


def _part(database: Database, wish: dict[str, Any]) -> Part:
    if not wish:
        raise ValidationError(
            "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
        )
    if len(wish) > 1:
        raise ValidationError("TransactItems can only contain one of Check, Put, Update or Delete")
    [(kind, asked)] = wish.items()
    return _PARSERS[kind](database, asked)


def _put(database: Database, wish: dict[str, Any]) -> Part:
    new = NewItem.put(check_item(wish["Item"]))
    condition = _expressions(wish).test()
    return lambda session: _write(
        wish,
        table := _table(database, session, wish),
        place_of_item(table, new.item),
        new.as_change,
        condition,
        decodes=False,
    )


def _delete(database: Database, wish: dict[str, Any]) -> Part:
    condition, key = _expressions(wish).test(), check_item(wish["Key"])
    return lambda session: _write(
        wish,
        table := _table(database, session, wish),
        place_of_key(table, key),
        write.deletion,
        condition,
        decodes=False,
    )


def _check(database: Database, wish: dict[str, Any]) -> Part:
    condition, key = _expressions(wish).test(), check_item(wish["Key"])
    return lambda session: _write(
        wish, table := _table(database, session, wish), place_of_key(table, key), None, condition
    )


def _update(database: Database, wish: dict[str, Any]) -> Part:
    expressions = _expressions(wish)
    key = check_item(wish["Key"])
    condition = expressions.test()

    def located(session: Session) -> ItemWrite:
        table = _table(database, session, wish)
        change = ItemUpdate(table, key, expressions.update, expressions.values)
        return _write(wish, table, place_of_key(table, key), change, condition)

    return located


def _expressions(wish: dict[str, Any]) -> parameters.ExpressionParameters:
    return parameters.read(wish, deeper=True)


_PARSERS = {"ConditionCheck": _check, "Put": _put, "Delete": _delete, "Update": _update}


def _table(database: Database, session: Session, wish: dict[str, Any]) -> TableDefinition:
    return database.catalog.get(session, wish["TableName"])


def _write(
    wish: dict[str, Any],
    table: TableDefinition,
    place: bytes,
    change: Change | None,
    condition: evaluate.Test | None,
    *,
    decodes: bool = True,
) -> ItemWrite:
    returns_item = wish.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    return ItemWrite(
        table, place, change, condition=condition, returns_item=returns_item, decodes=decodes
    )
