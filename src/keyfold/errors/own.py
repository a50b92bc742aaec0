"""Errors that keyfold raises by itself: declarations, items, plans, streams, files, connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from keyfold.errors.root import KeyfoldError


class DeclarationError(KeyfoldError):
    """A declaration that cannot work: which rule, where, and what to do."""

    def __init__(self, code: str, message: str, *, place: str = "", suggestion: str = "") -> None:
        self.code, self.message, self.place, self.suggestion = code, message, place, suggestion
        where = f" {place}:" if place else ""
        hint = f" {suggestion}" if suggestion else ""
        super().__init__(f"{code}{where} {message}{hint}")


class SettingError(KeyfoldError):
    """A setting that does not exist or has a wrong value: which one and where it came from."""


class ItemError(KeyfoldError):
    """An item that is not there, or that the declaration cannot read."""


class NotFound(ItemError):
    """No item has this key."""


class Undecodable(ItemError):
    """An item in the table does not fit its declaration.

    `key` says which one, `entity` as what it was read, `fields` what is wrong with which field.
    Where several items were read, `items` are those that can be, `others` what is wrong with more
    of them, and `cursor` goes on behind the page.
    """

    items: Sequence[Any] = ()
    others: Sequence[Undecodable] = ()
    cursor: str | None = None

    def __init__(
        self,
        message: str,
        key: Mapping[str, Any] | None = None,
        *,
        entity: str = "",
        fields: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.key, self.entity, self.fields = dict(key or {}), entity, dict(fields or {})


class AlreadyExists(ItemError):
    """A create met an item with the same key."""


class UniqueTaken(ItemError):
    """A unique value is held by another item: `field` names it, `holder` is that item's key."""

    def __init__(self, message: str, *, field: str, holder: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.field, self.holder = field, dict(holder)


class VersionConflict(ItemError):
    """Somebody else changed the item since it was read."""


class StepRefused(ItemError):
    """An item is in a state from which it does not get to the one that was asked for.

    `field` holds the state, `state` is what it is now.
    """

    def __init__(self, message: str, *, field: str, state: str) -> None:
        super().__init__(message)
        self.field, self.state = field, state


class PlanError(KeyfoldError):
    """An intent that cannot become requests."""


class TooManyWrites(PlanError):
    """More writes than one transaction takes."""


class MissingKeyField(PlanError):
    """A key cannot be rendered; the missing fields are named."""


class ValueRefused(PlanError):
    """A value that no item can hold, or an item that its declaration could not read back.

    `fields` says what is wrong with which field, under "" what no single one is to blame for.
    """

    def __init__(self, message: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.fields = dict(fields or {})


class KeyValueRefused(PlanError):
    """A value would make a key ambiguous or too long."""


class BudgetExceeded(PlanError):
    """A pattern or unit of work made more requests than it declared, or an N+1 loop."""


class CursorRefused(PlanError):
    """A cursor that is damaged, edited, or made by another pattern."""


class RequestReused(PlanError):
    """A request id came again with another payload."""


class StreamError(KeyfoldError):
    """A change stream that cannot be consumed as it should be."""


class RebuildNeeded(StreamError):
    """Records were lost: the consumer was away for longer than the stream keeps them."""


class IndexBehind(StreamError):
    """An index does not show yet what its table holds; the record waits for it."""


class LeaseLost(StreamError):
    """Another worker has taken the shard over."""


class AlreadyProcessed(StreamError):
    """A record came again; its effect is there already."""


class ProcessorFailed(StreamError):
    """A processor returned something that is not a write."""


class MigrationError(KeyfoldError):
    """A migration that cannot go on."""


class Pending(MigrationError):
    """Live tables and design differ: a migration has to run first."""


class Drifted(MigrationError):
    """A plan no longer matches the tables it was made for."""


class VerifyFailed(MigrationError):
    """The two sides of a migration differ."""


class Irreversible(MigrationError):
    """There is no way back from here that loses nothing."""


class StorageError(KeyfoldError):
    """The data file cannot be used as it is.

    `told` is what callers over the wire read: whether to try again, without the path of the file.
    """

    wire_name: ClassVar[str] = "StorageException"
    status: ClassVar[int] = 500
    told: ClassVar[str] = "The data file cannot be used. The server's log says why."


class Corrupt(StorageError):
    """The file is damaged, truncated or not a keyfold file; `where` names what was looked for."""

    wire_name = "DamagedStorageException"
    # No client tries again by itself after 507, as it would after 500 and 503.
    status = 507
    told = "The data file is damaged here. Trying again does not help; `keyfold doctor` does."

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"{message}: {where}" if where else message)
        self.where = where


class Busy(StorageError):
    """Another process holds the file; nothing was done."""

    wire_name = "BusyStorageException"
    status = 503
    told = "The data file is busy: another process holds it. Nothing was done; try again."


class FormatTooNew(StorageError):
    """The file was written by a newer keyfold."""


class Full(StorageError):
    """The disk is full; nothing was written."""

    wire_name = "FullStorageException"
    status = 507
    told = "The disk is full. Nothing was written; try again when there is room."


class TransportError(KeyfoldError):
    """No usable answer came back; if the request was `sent`, it may have had its effect."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class Timeout(TransportError):
    """No answer in time."""


class Unreachable(TransportError):
    """No connection to the backend."""


class Untrusted(Unreachable):
    """The backend's certificate is not one to trust, however often it is asked."""
