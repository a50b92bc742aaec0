"""Calls: parse and check a request, execute it, and render its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw
import orjson

from keyfold_engine.engine import bodies, damage, extensions, operations, shapes, storage
from keyfold_engine.engine.answers import encoded
from keyfold_engine.engine.capacity import name_as_asked
from keyfold_engine.engine.commit_group import Result, bare
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.faults import Faults
from keyfold_engine.engine.lane import SHORT_BYTES, WouldStall, here, may_wait
from keyfold_engine.engine.operations import Operation
from keyfold_engine.engine.principal import Principal
from keyfold_engine.errors import (
    Corrupt,
    OperationError,
    RequestInvalid,
    SerializationError,
    TransportError,
)
from keyfold_engine.operations import SINGLE_WRITES, WRITES

if TYPE_CHECKING:
    from keyfold_engine.engine.direct.requests import Direct, DirectWork

_NOT_UNICODE = "The request has text that is not valid Unicode"
# Operations with an empty wire answer.
_WITHOUT_BODY = frozenset(("TagResource", "UntagResource"))
# Operations whose usual requests have a short way.
_SHORT = SINGLE_WRITES | {"BatchWriteItem", "GetItem", "TransactWriteItems"}
# Errors of one call that do not affect the others in its commit.
_OWN = (OperationError, TransportError, WouldStall)

_Read = dict[str, Any] | Exception | tuple["DirectWork"]
"""A request that was read: checked, with a short way, or refused."""


class Calls:
    """Executes the operations of one database."""

    def __init__(self, database: Database, faults: Faults | None) -> None:
        self._database = database
        self._faults = faults
        # Faults, heat, regions and lag concern every request.
        is_plain = database.heat is None and database.regions is None
        self._has_short_way = is_plain and not database.lag.is_set
        self._direct: Direct | None = None

    def call(
        self, operation: str, request: Mapping[str, Any], *, caller: str | None = None
    ) -> dict[str, Any]:
        """Execute one operation: wire-shaped request in, wire-shaped answer out.

        `caller` is the caller's ARN, if resource policies apply.
        """
        if caller is not None:
            try:
                answered = self.call_bytes_as(Principal(caller), operation, orjson.dumps(request))
            except orjson.JSONEncodeError:
                raise SerializationError(_NOT_UNICODE) from None
            return dict(orjson.loads(answered or b"{}"))
        if type(request) is dict:
            short = self._short_way(operation)
            body = short and short.answer(operation, request)
            if body:
                known: dict[str, Any] = orjson.loads(body)
                return known
        # Through bytes, so that stored items are decoded once and nothing is shared.
        try:
            found = self._answer(operation, self._checked(operation, request))
            answer: dict[str, Any] = orjson.loads(encoded(found))
        except (UnicodeEncodeError, orjson.JSONEncodeError):
            raise SerializationError(_NOT_UNICODE) from None
        return answer

    def call_bytes(self, operation: str, body: bytes) -> bytes:
        """The same with JSON bytes; stored items are spliced into the answer unchanged."""
        if len(body) <= SHORT_BYTES:
            parsed = _parsed(body)
            short = self._short_way(operation)
            answer = short and short.answer(operation, parsed)
            if answer:
                return answer
            return self._encoded(operation, self._checked(operation, parsed, body))
        request = self._read(operation, body)
        if len(body) <= bodies.LARGE or not bodies.has_many(body):
            return self._encoded(operation, request)
        try:
            return self._encoded(operation, request)
        finally:
            # Only requests about items can have that many members without being cached.
            if operation in WRITES:
                bodies.dispose(request)

    def call_bytes_as(self, caller: Principal, operation: str, body: bytes) -> bytes:
        """`call_bytes` for a caller that resource policies may restrict."""
        request = self._read(operation, body)
        for guard in extensions.guards():
            guard.authorize(self._database, caller, operation, request)
        token = self._database.caller.set(caller.principal)
        try:
            return self._encoded(operation, request)
        finally:
            self._database.caller.reset(token)

    def call_many_bytes(self, calls: Sequence[tuple[str, bytes]]) -> list[Result]:
        """Several independent calls whose writes share one commit."""
        if len(calls) == 1:
            [(operation, body)] = calls
            try:
                return [self.call_bytes(operation, body)]
            except _OWN as error:
                return [bare(error)]
        # Work that needs no file is done before taking the lock.
        requests = self._read_each(calls)
        try:
            self._database.commits.start()
        except Exception as error:
            return _same_for_each(self._public_error(error), len(calls))
        return self._run_in_transaction(calls, requests)()

    def start_many_bytes(
        self, calls: Sequence[tuple[str, bytes]]
    ) -> Callable[[], list[Result]] | None:
        """`call_many_bytes` without the commit, which the returned function makes, in any thread.

        Returns None if it would have to wait. Until the commit is made, other writers wait.
        """
        commits = self._database.commits
        if self._faults is not None or not commits.is_free():
            return None
        requests = self._read_each(calls)
        try:
            if not commits.start_at_once():
                return None
        except Exception as error:
            return partial(_same_for_each, self._public_error(error), len(calls))
        return self._run_in_transaction(calls, requests)

    def _run_in_transaction(
        self, calls: Sequence[tuple[str, bytes]], requests: Sequence[_Read]
    ) -> Callable[[], list[Result]]:
        """Execute calls in an open transaction; the returned function commits and returns
        results.
        """
        commits = self._database.commits
        results: list[Result] = []
        lane = here.lane
        try:
            for (operation, body), request in zip(calls, requests, strict=True):
                if lane is not None:
                    lane.begin()
                if isinstance(request, Exception):
                    results.append(request)
                    continue
                try:
                    results.append(self._result(operation, body, request))
                except _OWN as error:
                    results.append(bare(error))
        except BaseException as error:
            commits.abandon()
            if not isinstance(error, Exception):
                raise
            if isinstance(error, Corrupt) and len(calls) > 1:
                return partial(self._one_by_one, calls)
            return partial(_same_for_each, self._public_error(error), len(calls))
        commits.end_gathering()

        def finished() -> list[Result]:
            try:
                commits.finish()
            except Exception as error:
                return _same_for_each(self._public_error(error), len(calls))
            return results

        return finished

    def _short_way(self, operation: str) -> Direct | None:
        if operation not in _SHORT or not self._has_short_way or self._faults is not None:
            return None
        if self._direct is None:
            # A server starts without it.
            from keyfold_engine.engine.direct.requests import Direct

            self._direct = Direct(self._database)
        return self._direct

    def _result(
        self, operation: str, body: bytes, request: dict[str, Any] | tuple[DirectWork]
    ) -> bytes:
        """The answer to a request in an open transaction."""
        if isinstance(request, tuple):
            assert self._direct is not None, "it has read the request"
            answer = self._direct.write(*request)
            if answer is not None:
                return answer
            request = self._read(operation, body)
        return self._encoded(operation, request)

    def _one_by_one(self, calls: Sequence[tuple[str, bytes]]) -> list[Result]:
        """Execute calls separately after one of them met damage, so that the others succeed."""
        results: list[Result] = []
        for call in calls:
            try:
                results.append(self.call_bytes(*call))
            except Exception as error:
                results.append(bare(error))
        return results

    def _public_error(self, error: Exception) -> Exception:
        """The error that callers see for an error of the file."""
        if isinstance(error, apsw.BusyError) and not may_wait():
            return WouldStall()
        if isinstance(error, apsw.Error):
            return storage.translated(error, self._database.commits.path)
        return error

    def _read(self, operation: str, body: bytes) -> dict[str, Any]:
        return self._checked(operation, _parsed(body), body)

    def _read_each(self, calls: Sequence[tuple[str, bytes]]) -> list[_Read]:
        requests: list[_Read] = []
        for operation, body in calls:
            try:
                parsed = _parsed(body)
                short = self._short_way(operation) if len(body) <= SHORT_BYTES else None
                work = None if short is None else short.read(operation, parsed)
                if work is not None:
                    requests.append((work,))
                    continue
                requests.append(self._checked(operation, parsed, body))
            except _OWN as error:
                requests.append(bare(error))
        return requests

    def _checked(self, operation: str, request: Any, body: bytes | None = None) -> dict[str, Any]:
        dialect = self._database.dialect
        try:
            return shapes.check(operation, request, dialect, body)
        except RequestInvalid as error:
            raise dialect.error_in_words(operation, error, request) from None

    def _encoded(self, operation: str, request: dict[str, Any]) -> bytes:
        answer = self._answer(operation, request)
        return b"" if operation in _WITHOUT_BODY else encoded(answer)

    def _answer(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request with a valid shape."""
        work = operations.loaded.get(operation) or operations.load(operation)
        try:
            if self._faults is None and self._database.regions is None:
                return self._run(work, request)
            if self._faults is not None:
                return self._faults.around(
                    operation, request, partial(self._attempt, work), self._database.arn
                )
            return self._attempt(work, request)
        except RequestInvalid as error:
            raise self._database.dialect.error_in_words(operation, error, request) from None

    def _attempt(self, work: Operation, request: dict[str, Any]) -> dict[str, Any]:
        regions = self._database.regions
        if regions is not None and not regions.is_following:
            return regions.run_in_step(self._database, self._run, work, request)
        return self._run(work, request)

    def _run(
        self, work: Operation, request: dict[str, Any], *, is_second: bool = False
    ) -> dict[str, Any]:
        try:
            answer = work(self._database, request)
        except (apsw.Error, storage.SchemaMoved) as error:
            failure = self._public_error(error)
            if isinstance(failure, storage.SchemaMoved) and not is_second:
                # Another process changed the table: retry with the current definition.
                self._database.catalog.forget()
                return self._run(work, request, is_second=True)
            if isinstance(failure, Corrupt):
                failure = damage.named(failure, request)
            raise failure from error
        except Corrupt as error:
            raise damage.named(error, request) from error
        if "ReturnConsumedCapacity" in request:
            name_as_asked(answer, request)
        return answer


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body) if len(body) <= bodies.LARGE else bodies.read(body)
    except ValueError:
        raise SerializationError from None


def _same_for_each(error: Exception, calls: int) -> list[Result]:
    return [error] * calls
