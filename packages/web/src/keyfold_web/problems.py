"""Every error an operation can end with, and what the caller may know of it.

Refused                raised by services and rules
├ Invalid         422  input with field paths
├ NotAuthenticated 401
├ NotAllowed      403
├ Missing         404
├ Conflict        409
└ TooMany         429

`problem_for` maps these and every KeyfoldError to a Problem, the one form from which REST
(problem+json), GraphQL (extensions) and Lambda answers are made. The text of an error that is
not a Refused never reaches a caller: it may hold keys, table names or values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, TypeVar

import pydantic
from pydantic_core import from_json

from keyfold import errors
from keyfold.errors import KeyfoldError
from keyfold_web.complaints import complaint, either, sent_path
from keyfold_web.names import camel

RETRY_SECONDS: Final = 1
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error of one field; `path` is dotted, in public names."""

    path: str
    message: str


class Refused(KeyfoldError):
    """The service refuses the request; code and message are for the caller."""

    status: ClassVar[int] = 400
    title: ClassVar[str] = "Bad request"
    default_code: ClassVar[str] = "BAD_REQUEST"
    retry_after: int | None = None

    def __init__(self, message: str, *, code: str | None = None) -> None:
        self.message, self.code = message, code or self.default_code
        super().__init__(message)


class Invalid(Refused):
    """Invalid input: `Invalid("title", "is empty")` or a list of field errors."""

    status = 422
    title = "Invalid input"
    default_code = "INVALID"

    def __init__(
        self, where: str | Sequence[FieldError], message: str = "", *, code: str | None = None
    ) -> None:
        self.fields = [FieldError(where, message)] if isinstance(where, str) else list(where)
        super().__init__(_lines(self.fields), code=code)


class PreconditionUnsupported(Refused):
    """A header asks for a condition that the operation does not support."""

    title = "Precondition not supported"
    default_code = "PRECONDITION_UNSUPPORTED"

    def __init__(self, header: str) -> None:
        super().__init__(f"This operation does not support {header}. Remove the header.")


class NotAuthenticated(Refused):
    """The caller is not signed in."""

    status = 401
    title = "Not authenticated"
    default_code = "NOT_AUTHENTICATED"

    def __init__(self, message: str = "Sign in first.", *, code: str | None = None) -> None:
        super().__init__(message, code=code)


class NotAllowed(Refused):
    """The caller lacks permission."""

    status = 403
    title = "Not allowed"
    default_code = "NOT_ALLOWED"

    def __init__(self, message: str = "You may not do this.", *, code: str | None = None) -> None:
        super().__init__(message, code=code)


class Missing(Refused):
    """The requested item does not exist."""

    status = 404
    title = "Not found"
    default_code = "NOT_FOUND"

    def __init__(self, message: str = "Not found.", *, code: str | None = None):
        super().__init__(message, code=code)

    @classmethod
    def of(cls, kind: str, id: str) -> Missing:
        """The error for something missing: Missing.of("room", "r-1")."""
        return cls(f'{kind[0].upper()}{kind[1:]} "{id}" does not exist.')

    @classmethod
    def unless(cls, found: T | None, kind: str, id: str) -> T:
        """What was found, or the error: Missing.unless(await room(db, "r-1"), "room", "r-1")."""
        if found is None:
            raise cls.of(kind, id)
        return found


class Conflict(Refused):
    """The request conflicts with the current state."""

    status = 409
    title = "Conflict"
    default_code = "CONFLICT"


class TooMany(Refused):
    """The caller exceeds a rate limit."""

    status = 429
    title = "Too many requests"
    default_code = "TOO_MANY_REQUESTS"

    def __init__(
        self,
        message: str = "Too many requests; try again later.",
        *,
        code: str | None = None,
        retry_after: int = RETRY_SECONDS,
    ) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as the caller sees it."""

    status: int
    code: str
    title: str
    detail: str
    fields: list[FieldError] = field(default_factory=list)
    retry_after: int | None = None

    def body(self, instance: str) -> dict[str, Any]:
        """The problem+json body (RFC 9457); `instance` is the request id in the logs."""
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "instance": instance,
        }
        if self.fields:
            body["errors"] = [{"path": one.path, "message": one.message} for one in self.fields]
        return body

    def extensions(self, instance: str) -> dict[str, Any]:
        """The `extensions` of a GraphQL error."""
        body = self.body(instance)
        del body["type"], body["detail"]
        if self.retry_after is not None:
            body["retryAfter"] = self.retry_after
        return body


@dataclass(frozen=True, slots=True)
class ProblemBody:
    """The schema of a problem+json body."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str
    errors: list[FieldError] | None = None


INTERNAL = Problem(
    500,
    "INTERNAL",
    "Internal error",
    "Something went wrong; the server's log has the details of this instance.",
)
_UNAVAILABLE = Problem(
    503,
    "UNAVAILABLE",
    "Unavailable",
    "The data store is unavailable; try again.",
    retry_after=RETRY_SECONDS,
)
CHANGED = Problem(
    412,
    "VERSION_CONFLICT",
    "Changed meanwhile",
    "Somebody else changed it; read it again and repeat your change.",
)
_BUSY_ITEM = Problem(
    409, "CONFLICT", "Conflict", "Another change is under way; try again.", retry_after=0
)

_NOT_PERMITTED = Problem(
    412, "CONDITION_FAILED", "Condition failed", "Its state does not allow this."
)
_NOT_STORED = Problem(
    422,
    "VALUE_REFUSED",
    "Invalid input",
    "A value cannot be stored: it is too large, too deep, or empty where it must not be.",
)

_KNOWN: Final[tuple[tuple[type[KeyfoldError], Problem], ...]] = (
    (errors.NotFound, Problem(404, "NOT_FOUND", "Not found", "Not found.")),
    (errors.AlreadyExists, Problem(409, "ALREADY_EXISTS", "Conflict", "It already exists.")),
    (errors.VersionConflict, CHANGED),
    (errors.ConditionFailed, _NOT_PERMITTED),
    (errors.StepRefused, _NOT_PERMITTED),
    (errors.TransactionConflict, _BUSY_ITEM),
    (errors.TransactionInProgress, _BUSY_ITEM),
    (errors.TransactionCanceled, _BUSY_ITEM),
    (
        errors.RequestReused,
        Problem(
            422,
            "REQUEST_REUSED",
            "Request id reused",
            "This request id was used with other input; use a new one.",
        ),
    ),
    (
        errors.CursorRefused,
        Problem(400, "CURSOR_REFUSED", "Bad cursor", "Start again without a cursor."),
    ),
    (
        errors.KeyValueRefused,
        Problem(
            422, "VALUE_REFUSED", "Invalid input", "An id is too long or has a forbidden character."
        ),
    ),
    (errors.ValueRefused, _NOT_STORED),
    (errors.ValidationError, _NOT_STORED),
    (
        errors.TooManyWrites,
        Problem(422, "TOO_LARGE", "Too large", "This would change too many things at once."),
    ),
    (errors.CollectionTooLarge, Problem(422, "TOO_LARGE", "Too large", "The collection is full.")),
    (errors.Throttled, _UNAVAILABLE),
    (errors.RequestRateExceeded, _UNAVAILABLE),
    (errors.RequestLimitExceeded, _UNAVAILABLE),
    (errors.Unavailable, _UNAVAILABLE),
    (errors.Pending, _UNAVAILABLE),
    (errors.InternalFailure, _UNAVAILABLE),
    (errors.TransportError, _UNAVAILABLE),
    (errors.Busy, _UNAVAILABLE),
    (errors.Full, _UNAVAILABLE),
)


def problem_for(error: BaseException) -> Problem:
    """What the caller may know about an error; anything unexpected is INTERNAL."""
    if isinstance(error, Refused):
        return Problem(
            error.status,
            error.code,
            error.title,
            error.message,
            error.fields if isinstance(error, Invalid) else [],
            error.retry_after,
        )
    if isinstance(error, errors.UniqueTaken):
        name = camel(error.field)
        detail = f"{name} is taken."
        return Problem(409, "TAKEN", "Conflict", detail, [FieldError(name, "is taken")])
    for kind, problem in _KNOWN:
        if isinstance(error, kind):
            given = error.fields if isinstance(error, errors.ValueRefused) else {}
            fields = [_field_error(*one) for one in given.items()]
            return replace(problem, fields=fields, detail=_lines(fields) or problem.detail)
    return INTERNAL


def _lines(fields: Sequence[FieldError]) -> str:
    return "; ".join(f"{one.path}: {one.message}" if one.path else one.message for one in fields)


def _field_error(path: str, message: str) -> FieldError:
    public = ".".join(camel(part) for part in path.split("."))
    return FieldError(public, message.removeprefix("Value error, "))


def invalid_input(
    error: pydantic.ValidationError,
    sent: Any,
    prefix: str = "",
    names: Mapping[str, str] | None = None,
) -> Invalid:
    """Pydantic's errors as field errors, without the values.

    `sent` is the input, and `names` are the caller's names for fields.
    """
    found: dict[str, list[str]] = {}
    for one in error.errors():
        parts = [*([prefix] if prefix else []), *sent_path(one, sent)]
        path = ".".join((names or {}).get(part, part) for part in parts)
        found.setdefault(path or "body", []).append(complaint(one))
    return Invalid([FieldError(path, either(said)) for path, said in found.items()])


def invalid_json(error: pydantic.ValidationError, body: bytes) -> Invalid:
    """As `invalid_input`, for a body that is validated while it is parsed."""
    try:
        sent = from_json(body)
    except ValueError:
        sent = None
    return invalid_input(error, sent)
