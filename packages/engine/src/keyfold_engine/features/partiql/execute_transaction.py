"""ExecuteTransaction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from keyfold_engine.engine import transactions
from keyfold_engine.engine.capacity import Ledger, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.transactions import Part
from keyfold_engine.errors import (
    CancellationReason,
    RequestInvalid,
    TransactionCanceled,
    ValidationError,
)
from keyfold_engine.features.partiql.key_conditions import is_key_alone
from keyfold_engine.features.partiql.parser import parse
from keyfold_engine.features.partiql.plan import item_of, planned
from keyfold_engine.features.partiql.select import select_one
from keyfold_engine.features.partiql.statements import (
    ExistsStatement,
    Removal,
    Select,
    Statement,
    UpdateStatement,
)
from keyfold_engine.values import Item


def execute_transaction(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    statements = []
    for at, wish in enumerate(request["TransactStatements"]):
        try:
            statements.append(parse(wish["Statement"], wish.get("Parameters")))
        except RequestInvalid:
            raise
        except ValidationError as error:
            raise _refusal(at, error.message) from None
    for at, each in enumerate(statements):
        reason = _unsupported(each)
        if reason is not None:
            raise _refusal(at, reason)
    reads = [each for each in statements if isinstance(each, Select)]
    if not reads:
        return _write_all(database, request, statements)
    if len(reads) < len(statements):
        raise ValidationError(
            "ExecuteTransaction API does not support both read and write operations in the same "
            "request."
        )
    return _read_all(database, request, reads)


def _unsupported(statement: Statement) -> str | None:
    if isinstance(statement, (UpdateStatement, Removal)) and statement.returning is not None:
        return "RETURNING clause is not supported in ExecuteTransaction."
    if isinstance(statement, Select) and statement.index is not None:
        return "Reads on indices are not supported within transactions."
    return statement.refused if isinstance(statement, Select) else None


def _refusal(at: int, reason: str) -> ValidationError:
    return ValidationError(f"Validation failed in TransactStatements[{at}]: {reason}")


def _check_reads(database: Database, statements: Sequence[Statement], session: Session) -> None:
    """A SELECT must read one item by its key, an EXISTS must have a condition."""
    for at, each in enumerate(statements):
        if not isinstance(each, (Select, ExistsStatement)):
            continue
        select = each if isinstance(each, Select) else each.select
        schema = database.catalog.get(session, each.table).schema
        is_key = is_key_alone(select.where, schema)
        if isinstance(each, Select) and not is_key:
            raise _refusal(
                at,
                "Select statements within ExecuteTransaction must specify the primary key in the "
                "where clause.",
            )
        if isinstance(each, ExistsStatement) and is_key:
            raise _refusal(at, "EXISTS() must contain a single item read with additional condition")


def _read_all(
    database: Database, request: dict[str, Any], statements: list[Select]
) -> dict[str, Any]:
    ledger = Ledger()
    found: list[Item | None] = []
    reasons: list[CancellationReason] = []
    with database.snapshot() as session:
        _check_reads(database, statements, session)
        _refuse_repeated(database, session, statements)
        for statement in statements:
            try:
                item, capacity = select_one(database, session, statement, consistent=True)
            except ValidationError as error:
                reasons.append(CancellationReason("ValidationError", error.message))
                continue
            ledger.add(capacity.doubled())
            found.append(item)
            reasons.append(CancellationReason())
    if len(found) < len(statements):
        raise TransactionCanceled(reasons=reasons)
    answer: dict[str, Any] = {
        "Responses": [{} if item is None else {"Item": item} for item in found]
    }
    detail = wanted(request)
    if detail is not None:
        answer["ConsumedCapacity"] = ledger.answer(detail, "Read")
    return answer


def _refuse_repeated(database: Database, session: Session, statements: list[Select]) -> None:
    named = set()
    for statement in statements:
        try:
            item = item_of(database, session, statement)
        except ValidationError:
            # It is the reason of its own part.
            continue
        if item in named:
            raise ValidationError(
                "Transaction request cannot include multiple operations on one item"
            )
        named.add(item)


def _write_all(
    database: Database, request: dict[str, Any], statements: list[Statement]
) -> dict[str, Any]:
    # A token belongs to one request of one operation.
    token = f"ExecuteTransaction {given}" if (given := request.get("ClientRequestToken")) else None
    wishes = request["TransactStatements"]

    def part(statement: Statement, wish: dict[str, Any]) -> Part:
        returns_item = wish.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        return lambda session: planned(database, session, statement, returns_item=returns_item)

    parts = [part(statement, wish) for statement, wish in zip(statements, wishes, strict=True)]

    check = partial(_check_reads, database, statements)
    return transactions.answer(database, request, token, parts, check, {"Responses": []})
