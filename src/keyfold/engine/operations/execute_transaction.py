"""ExecuteTransaction."""

from __future__ import annotations

from typing import Any

from keyfold.engine import transactions
from keyfold.engine.capacity import Ledger, wanted
from keyfold.engine.database import Database
from keyfold.engine.partiql.parser import parse
from keyfold.engine.partiql.plan import item_of, planned
from keyfold.engine.partiql.select import select_one
from keyfold.engine.partiql.statements import Removal, Select, Statement, UpdateStatement
from keyfold.engine.storage import Session
from keyfold.engine.transactions import Part
from keyfold.engine.write import Prepared
from keyfold.errors import CancellationReason, TransactionCanceled, ValidationError
from keyfold.values import Item


def execute_transaction(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wishes = request["TransactStatements"]
    statements = [parse(wish["Statement"], wish.get("Parameters")) for wish in wishes]
    for at, each in enumerate(statements):
        reason = _unsupported(each)
        if reason is not None:
            raise ValidationError(f"Validation failed in TransactStatements[{at}]: {reason}")
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
    return None


def _read_all(
    database: Database, request: dict[str, Any], statements: list[Select]
) -> dict[str, Any]:
    ledger = Ledger()
    found: list[Item | None] = []
    reasons: list[CancellationReason] = []
    with database.snapshot() as session:
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
    # A token means one request of one operation.
    token = f"ExecuteTransaction {given}" if (given := request.get("ClientRequestToken")) else None
    digest = transactions.digest(request) if token else b""
    wishes = request["TransactStatements"]

    def part(statement: Statement, wish: dict[str, Any]) -> Part:
        returns_item = wish.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        return lambda session: (
            planned(database, session, statement, returns_item=returns_item).write
        )

    parts = [part(statement, wish) for statement, wish in zip(statements, wishes, strict=True)]

    def work(session: Session) -> list[Prepared] | bytes:
        if token:
            known = transactions.replayed(database, session, token, digest)
            if known is not None:
                return known
        done = transactions.execute(database, session, parts)
        if token:
            cost = transactions.replay_cost(done)
            transactions.remember(database, session, token, digest, cost)
        return done

    done = database.write(work)
    answer: dict[str, Any] = {"Responses": []}
    detail = wanted(request)
    if detail is None:
        return answer
    if isinstance(done, bytes):
        answer["ConsumedCapacity"] = transactions.replay_capacity(done, detail)
        return answer
    ledger = Ledger()
    for prepared in done:
        ledger.add(prepared.capacity().doubled())
    answer["ConsumedCapacity"] = ledger.answer(detail, "Write")
    return answer
