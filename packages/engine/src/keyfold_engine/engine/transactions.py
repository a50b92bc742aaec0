"""Transactions: many writes prepared together, all stored or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import orjson

from keyfold_engine.engine import answers, write
from keyfold_engine.engine.capacity import Capacity, wanted
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.write import ItemWrite, Prepared
from keyfold_engine.errors import (
    CancellationReason,
    CollectionTooLarge,
    ConditionFailed,
    DuplicateItem,
    EmptyKey,
    IdempotentParameterMismatch,
    TransactionCanceled,
    ValidationError,
)
from keyfold_engine.limits import TRANSACTION_BYTES, TRANSACTION_TOKEN_SECONDS
from keyfold_engine.values.units import read_units

# Locates a write in its table; an error is the reason of one part, not of the request.
Part = Callable[[Session], ItemWrite]


def answer(
    database: Database,
    request: dict[str, Any],
    token: str | None,
    parts: Sequence[Part],
    check: Callable[[Session], None],
    answer: dict[str, Any],
) -> dict[str, Any]:
    """Execute a transaction after a check, unless its token says that it was; adds to the answer
    what it consumed.
    """
    request_digest = digest(request) if token else b""

    def work(session: Session) -> list[Prepared] | bytes:
        if token and (known := _replayed(database, session, token, request_digest)) is not None:
            return known
        check(session)
        done = _execute(database, session, parts)
        if token:
            cost = replay_cost([each.largest() for each in done])
            remember(database, session, token, request_digest, cost)
        return done

    done = database.write(work)
    if not isinstance(done, bytes):
        return answers.of_writes(database, answer, request, done, transacted=True)
    if (detail := wanted(request)) is not None:
        answer["ConsumedCapacity"] = [
            Capacity(name, units).answer(detail, "Read") for name, units in orjson.loads(done)
        ]
    return answer


def _execute(database: Database, session: Session, parts: Sequence[Part]) -> list[Prepared]:
    """Prepare all parts, then store them; any that fails cancels them all."""
    writes = _item_writes(session, parts)
    _refuse_repeated_items(writes)
    prepared = _attempt(writes, lambda each: write.prepare(session, each))
    if sum([each.new.size for each in prepared if each.new is not None]) > TRANSACTION_BYTES:
        raise ValidationError("Transaction request size limit exceeded")
    _attempt(prepared, lambda each: write.store(database, session, each))
    return prepared


def _item_writes(session: Session, parts: Sequence[Part]) -> list[ItemWrite]:
    """The places of all parts. If several are invalid, DynamoDB reports only the first."""
    writes = []
    for at, part in enumerate(parts):
        try:
            writes.append(part(session))
        except EmptyKey:
            raise
        except ValidationError as failure:
            reasons = [CancellationReason()] * len(parts)
            reasons[at] = CancellationReason("ValidationError", failure.message)
            raise TransactionCanceled(reasons=reasons) from None
    return writes


def _attempt(parts: Sequence[Any], step: Callable[[Any], Any]) -> list[Any]:
    """Run a step for every part; the reasons of failed ones cancel the transaction."""
    done = []
    failed: dict[int, CancellationReason] = {}
    for at, part in enumerate(parts):
        try:
            done.append(step(part))
        except ConditionFailed as failure:
            failed[at] = CancellationReason("ConditionalCheckFailed", failure.message, failure.item)
        except EmptyKey:
            raise
        except DuplicateItem as failure:
            failed[at] = CancellationReason("DuplicateItem", failure.message)
        except CollectionTooLarge as failure:
            failed[at] = CancellationReason("ItemCollectionSizeLimitExceeded", failure.message)
        except ValidationError as failure:
            failed[at] = CancellationReason("ValidationError", failure.message)
    if failed:
        reasons = [failed.get(at) or CancellationReason() for at in range(len(parts))]
        raise TransactionCanceled(reasons=reasons)
    return done


def _refuse_repeated_items(writes: Sequence[ItemWrite]) -> None:
    if len({(each.table.id, each.place) for each in writes}) < len(writes):
        raise ValidationError("Transaction request cannot include multiple operations on one item")


def digest(request: dict[str, Any]) -> bytes:
    """The digest that identifies a request with a token."""
    content = {
        name: value
        for name, value in request.items()
        if name not in ("ClientRequestToken", "ReturnConsumedCapacity")
    }
    return sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()


def _replayed(
    database: Database, session: Session, token: str, request_digest: bytes
) -> bytes | None:
    """The answer of the same request, if its token was used in the last ten minutes."""
    known = session.token(token)
    if known is None or known[1] < database.clock.now() - TRANSACTION_TOKEN_SECONDS:
        return None
    if known[0] != request_digest:
        raise IdempotentParameterMismatch(
            "The request uses the same client token as a previous, but non-identical request."
        )
    return known[2]


def remember(
    database: Database, session: Session, token: str, request_digest: bytes, answer: bytes
) -> None:
    now = database.clock.now()
    session.forget_token(now - TRANSACTION_TOKEN_SECONDS)
    session.remember_token(token, request_digest, now, answer)


def correct(database: Database, session: Session) -> None:
    """Reset tokens from a clock that was ahead, so that they expire."""
    session.correct_tokens(database.clock.now(), TRANSACTION_TOKEN_SECONDS)


def replay_cost(largest: Iterable[tuple[str, int]]) -> bytes:
    """The cost of a repeated request, to be stored: transactional reads of the items, given as
    their tables and the larger of their sizes before and after.
    """
    units: dict[str, float] = {}
    for name, size in largest:
        units[name] = units.get(name, 0.0) + 2 * read_units(size, consistent=True)
    return orjson.dumps(list(units.items()))
