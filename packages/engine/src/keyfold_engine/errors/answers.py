"""DynamoDB's errors: the same class on every backend, to and from the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from keyfold_engine.errors.backend import StorageError
from keyfold_engine.errors.root import KeyfoldError

Item = dict[str, Any]


class OperationError(KeyfoldError):
    """An error answered by DynamoDB; `wire_name` is its name on the wire."""

    wire_name: ClassVar[str] = "InternalServerError"
    status: ClassVar[int] = 400
    namespace: ClassVar[str] = "com.amazonaws.dynamodb.v20120810"

    def __init__(self, message: str = "") -> None:
        self.message = message
        super().__init__(message)


class ValidationError(OperationError):
    wire_name = "ValidationException"
    namespace = "com.amazon.coral.validate"


INVALID_PARAMETER = "One or more parameter values were invalid: "


def parameter_invalid(reason: str) -> ValidationError:
    """The error for values that do not fit together or to their table."""
    return ValidationError(f"{INVALID_PARAMETER}{reason}")


class RequestInvalid(ValidationError):
    """A request that is invalid regardless of data; its wording depends on the dialect.

    `newer` is DynamoDB's wording since 2026, `older` that of operations that still parse numbers as
    Java's BigDecimal, where it differs.
    """

    def __init__(
        self, message: str = "", newer: str | None = None, older: str | None = None
    ) -> None:
        super().__init__(message)
        self.newer, self.older = newer, older


class EmptyKey(ValidationError):
    """An empty key value; it fails a whole transaction before its parts are checked."""


def empty_key(kind: str, name: str) -> EmptyKey:
    """The error for an empty key of this type."""
    what = "string" if kind == "S" else "binary"
    return EmptyKey(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
        f"contain an empty {what} value. Key: {name}"
    )


class SerializationError(OperationError):
    wire_name = "SerializationException"
    namespace = "com.amazon.coral.service"


class UnknownOperation(OperationError):
    wire_name = "UnknownOperationException"
    namespace = "com.amazon.coral.service"


class MissingAuthentication(OperationError):
    wire_name = "MissingAuthenticationTokenException"
    namespace = "com.amazon.coral.service"


class IncompleteSignature(OperationError):
    wire_name = "IncompleteSignatureException"
    namespace = "com.amazon.coral.service"


class InvalidSignature(OperationError):
    wire_name = "InvalidSignatureException"
    namespace = "com.amazon.coral.service"


class UnrecognizedClient(OperationError):
    wire_name = "UnrecognizedClientException"
    namespace = "com.amazon.coral.service"


class AccessDenied(OperationError):
    wire_name = "AccessDeniedException"
    namespace = "com.amazon.coral.service"


class ConditionFailed(OperationError):
    """A condition did not hold; `item` is the stored item if it was requested."""

    wire_name = "ConditionalCheckFailedException"

    def __init__(self, message: str = "The conditional request failed", item: Item | None = None):
        super().__init__(message)
        self.item = item


class CancellationReason:
    """Why one part of a transaction was cancelled; `code` is "None" for parts without fault."""

    __slots__ = ("code", "item", "message")

    def __init__(self, code: str = "None", message: str | None = None, item: Item | None = None):
        self.code, self.message, self.item = code, message, item

    def __repr__(self) -> str:
        return f"CancellationReason({self.code!r}, {self.message!r})"


class TransactionCanceled(OperationError):
    """A transaction was cancelled; `reasons` has one entry for each of its parts."""

    wire_name = "TransactionCanceledException"

    def __init__(self, message: str = "", reasons: Sequence[CancellationReason] = ()) -> None:
        if not message:
            codes = ", ".join(reason.code for reason in reasons)
            message = (
                "Transaction cancelled, please refer cancellation reasons for specific reasons "
                f"[{codes}]"
            )
        super().__init__(message)
        self.reasons = list(reasons)


class TransactionConflict(OperationError):
    wire_name = "TransactionConflictException"


class TransactionInProgress(OperationError):
    wire_name = "TransactionInProgressException"


class IdempotentParameterMismatch(OperationError):
    wire_name = "IdempotentParameterMismatchException"


class TableNotFound(OperationError):
    wire_name = "ResourceNotFoundException"


class TableInUse(OperationError):
    wire_name = "ResourceInUseException"


def in_use(reason: str) -> TableInUse:
    """The error for a change of what is being changed."""
    return TableInUse(f"Attempt to change a resource which is still in use: {reason}")


class NamedTableNotFound(OperationError):
    wire_name = "TableNotFoundException"


class TableAlreadyExists(OperationError):
    wire_name = "TableAlreadyExistsException"


class NamedTableInUse(OperationError):
    wire_name = "TableInUseException"


class LimitExceeded(OperationError):
    wire_name = "LimitExceededException"


class CollectionTooLarge(OperationError):
    wire_name = "ItemCollectionSizeLimitExceededException"


class DuplicateItem(OperationError):
    wire_name = "DuplicateItemException"


class BackupNotFound(OperationError):
    wire_name = "BackupNotFoundException"


class BackupInUse(OperationError):
    wire_name = "BackupInUseException"


class RecoveryUnavailable(OperationError):
    wire_name = "PointInTimeRecoveryUnavailableException"


class InvalidRestoreTime(OperationError):
    wire_name = "InvalidRestoreTimeException"


class ContinuousBackupsUnavailable(OperationError):
    wire_name = "ContinuousBackupsUnavailableException"


class InvalidExportTime(OperationError):
    wire_name = "InvalidExportTimeException"


class ExportNotFound(OperationError):
    wire_name = "ExportNotFoundException"


class ImportNotFound(OperationError):
    wire_name = "ImportNotFoundException"


class GlobalTableNotFound(OperationError):
    wire_name = "GlobalTableNotFoundException"


class PolicyNotFound(OperationError):
    wire_name = "PolicyNotFoundException"


class ReplicatedWriteConflict(OperationError):
    wire_name = "ReplicatedWriteConflictException"


class ExportConflict(OperationError):
    wire_name = "ExportConflictException"


class GlobalTableAlreadyExists(OperationError):
    wire_name = "GlobalTableAlreadyExistsException"


class ImportConflict(OperationError):
    wire_name = "ImportConflictException"


class IndexNotFound(OperationError):
    wire_name = "IndexNotFoundException"


class ReplicaAlreadyExists(OperationError):
    wire_name = "ReplicaAlreadyExistsException"


class ReplicaNotFound(OperationError):
    wire_name = "ReplicaNotFoundException"


class ExpiredIterator(OperationError):
    wire_name = "ExpiredIteratorException"


class TrimmedData(OperationError):
    wire_name = "TrimmedDataAccessException"


class ThrottlingReason:
    """Which limit a request exceeded: a table's or an index's, by ARN."""

    __slots__ = ("reason", "resource")

    def __init__(self, reason: str, resource: str = "") -> None:
        self.reason, self.resource = reason, resource

    def __repr__(self) -> str:
        return f"ThrottlingReason({self.reason!r}, {self.resource!r})"


class ThrottlingError(OperationError):
    """A throttled request; `reasons` name the limits if the server does."""

    reasons_member: ClassVar[str] = "ThrottlingReasons"

    def __init__(self, message: str = "", reasons: Sequence[ThrottlingReason] = ()) -> None:
        super().__init__(message)
        self.reasons = list(reasons)


class Throttled(ThrottlingError):
    wire_name = "ProvisionedThroughputExceededException"


class RequestRateExceeded(ThrottlingError):
    wire_name = "ThrottlingException"
    reasons_member = "throttlingReasons"


class RequestLimitExceeded(ThrottlingError):
    wire_name = "RequestLimitExceeded"


class InternalFailure(OperationError):
    wire_name = "InternalServerError"
    status = 500


class Unavailable(OperationError):
    wire_name = "ServiceUnavailable"
    status = 503


class RequestTooLarge(OperationError):
    wire_name = "RequestEntityTooLargeException"
    status = 413


class UnexpectedAnswer(OperationError):
    """An error unknown to this registry; `name` is its wire name."""

    def __init__(self, name: str, message: str = "") -> None:
        super().__init__(f"{name}: {message}" if message else name)
        self.name = name


K = TypeVar("K", OperationError, StorageError)


def _by_wire_name(kind: type[K]) -> dict[str, type[K]]:
    # A class without its own wire name refines its parent, which stands for both.
    found = {kind.wire_name: kind} if "wire_name" in vars(kind) else {}
    for child in kind.__subclasses__():
        found.update(_by_wire_name(child))
    return found


BY_WIRE_NAME: dict[str, type[OperationError]] = _by_wire_name(OperationError)
_STORAGE_BY_WIRE_NAME: dict[str, type[StorageError]] = _by_wire_name(StorageError)


def to_wire(error: OperationError | StorageError) -> tuple[int, dict[str, Any]]:
    """The HTTP status and JSON body that DynamoDB would answer with."""
    if isinstance(error, StorageError):
        return error.status, {"__type": f"keyfold#{error.wire_name}", "message": error.told}
    body: dict[str, Any] = {"__type": f"{error.namespace}#{error.wire_name}"}
    # DynamoDB spells the key "Message" for unreadable requests and for cancelled transactions.
    capital = isinstance(error, SerializationError | TransactionCanceled)
    if error.message:
        body["Message" if capital else "message"] = error.message
    if isinstance(error, TransactionCanceled):
        body["CancellationReasons"] = [_reason_to_wire(reason) for reason in error.reasons]
    if isinstance(error, ConditionFailed) and error.item is not None:
        body["Item"] = error.item
    if isinstance(error, ThrottlingError) and error.reasons:
        body[error.reasons_member] = [
            {"reason": one.reason, "resource": one.resource} for one in error.reasons
        ]
    return error.status, body


def _reason_to_wire(reason: CancellationReason) -> dict[str, Any]:
    body: dict[str, Any] = {"Code": reason.code}
    if reason.message is not None:
        body["Message"] = reason.message
    if reason.item is not None:
        body["Item"] = reason.item
    return body


def from_wire(status: int, body: Mapping[str, Any]) -> OperationError | StorageError:
    """The error in an answer of any DynamoDB-compatible server."""
    name = str(body.get("__type", "")).rpartition("#")[2] or str(body.get("code", ""))
    message = str(body.get("message") or body.get("Message") or "")
    if name in _STORAGE_BY_WIRE_NAME:
        return _STORAGE_BY_WIRE_NAME[name](message)
    kind = BY_WIRE_NAME.get(name)
    if kind is None:
        return InternalFailure(message) if status >= 500 else UnexpectedAnswer(name, message)
    if kind is TransactionCanceled:
        reasons = [
            CancellationReason(r.get("Code", "None"), r.get("Message"), r.get("Item"))
            for r in body.get("CancellationReasons", ())
        ]
        return TransactionCanceled(message, reasons)
    if kind is ConditionFailed:
        return ConditionFailed(message, body.get("Item"))
    if issubclass(kind, ThrottlingError):
        told = body.get(kind.reasons_member) or ()
        limits = [ThrottlingReason(r.get("reason", ""), r.get("resource", "")) for r in told]
        return kind(message, limits)
    return kind(message)
