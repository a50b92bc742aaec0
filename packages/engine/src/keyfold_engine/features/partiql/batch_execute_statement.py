"""BatchExecuteStatement."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine.capacity import Ledger, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import ConditionFailed, OperationError, RequestInvalid, ValidationError
from keyfold_engine.features.partiql.execute_statement import carry_out, returned
from keyfold_engine.features.partiql.key_conditions import is_key_alone
from keyfold_engine.features.partiql.parser import parse
from keyfold_engine.features.partiql.plan import item_of, refuse_several
from keyfold_engine.features.partiql.select import select_one
from keyfold_engine.features.partiql.statements import ExistsStatement, Select, Statement

# Codes in a batch's answers are the errors' wire names without their suffix, with one exception.
_ENDING = "Exception"
_CODES = {"ValidationException": "ValidationError"}


def batch_execute_statement(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wishes = request["Statements"]
    parsed = [_parsed(database, wish) for wish in wishes]
    reads = [isinstance(each, Select) for each in parsed if not isinstance(each, OperationError)]
    if any(reads) and not all(reads):
        raise ValidationError(
            "Read and write requests together in the same batch is not supported."
        )
    with database.read() as session:
        named = [place for each in parsed if (place := _item_of(database, session, each))]
    if len(set(named)) < len(named):
        raise ValidationError("Provided list of item keys contains duplicates")
    ledger = Ledger()
    answer: dict[str, Any] = {
        "Responses": [
            _response(database, wish, statement, ledger)
            for wish, statement in zip(wishes, parsed, strict=True)
        ]
    }
    detail = wanted(request)
    if detail is not None:
        answer["ConsumedCapacity"] = ledger.answer(detail)
    return answer


def _item_of(
    database: Database, session: Session, statement: Statement | OperationError
) -> tuple[int, bytes] | None:
    """The item of a statement; errors are reported when it runs."""
    if isinstance(statement, OperationError):
        return None
    try:
        return item_of(database, session, statement)
    except OperationError:
        return None


def _parsed(database: Database, wish: dict[str, Any]) -> Statement | OperationError:
    try:
        return parse(wish["Statement"], wish.get("Parameters"))
    except RequestInvalid as error:
        return database.dialect.error_in_words("BatchExecuteStatement", error, wish)
    except ValidationError as error:
        return error


def _response(
    database: Database,
    wish: dict[str, Any],
    statement: Statement | OperationError,
    ledger: Ledger,
) -> dict[str, Any]:
    if isinstance(statement, OperationError):
        return {"Error": _error(statement)}
    try:
        return {"TableName": statement.table, **_done(database, wish, statement, ledger)}
    except ValidationError as error:
        return {"Error": _error(error)}
    except OperationError as error:
        return {"TableName": statement.table, "Error": _error(error)}


def _error(error: OperationError) -> dict[str, Any]:
    name = error.wire_name
    told: dict[str, Any] = {
        "Code": _CODES.get(name, name.removesuffix(_ENDING)),
        "Message": error.message,
    }
    if isinstance(error, ConditionFailed) and error.item is not None:
        told["Item"] = error.item
    return told


def _done(
    database: Database, wish: dict[str, Any], statement: Statement, ledger: Ledger
) -> dict[str, Any]:
    if isinstance(statement, ExistsStatement):
        raise ValidationError("EXISTS is only supported in ExecuteTransaction")
    if not isinstance(statement, Select):
        prepared = carry_out(database, statement, wish)
        ledger.add(prepared.capacity())
        items = returned(statement, prepared)
        return {"Item": items[0]} if items else {}
    consistent = bool(wish.get("ConsistentRead"))
    with database.read() as session:
        table = database.catalog.get(session, statement.table)
        if statement.index in table.indexes_by_name:
            refuse_several(table.indexes_by_name[statement.index])
        if statement.refused is not None:
            raise ValidationError(statement.refused)
        if statement.index is not None or not is_key_alone(statement.where, table.schema):
            raise ValidationError(
                "Select statements within BatchExecuteStatement must specify the primary key in "
                "the where clause."
            )
        item, capacity = select_one(database, session, statement, consistent=consistent)
    ledger.add(capacity)
    return {} if item is None else {"Item": item}
