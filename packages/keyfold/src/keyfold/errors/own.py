"""keyfold's own errors: declarations, items, plans, streams, files, connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyfold_engine.errors.root import KeyfoldError


class DeclarationError(KeyfoldError):
    """A declaration that cannot work: the rule, the place, and the remedy.

    `fix` is a text of the declaration and its replacement, if that needs no decision.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        place: str = "",
        suggestion: str = "",
        fix: tuple[str, str] | None = None,
    ) -> None:
        self.code, self.message, self.place, self.suggestion = code, message, place, suggestion
        self.fix = fix
        where = f" {place}:" if place else ""
        hint = f" {suggestion}" if suggestion else ""
        super().__init__(f"{code}{where} {message}{hint}")


class ItemError(KeyfoldError):
    """An item that is missing or cannot be decoded."""


class NotFound(ItemError):
    """No item has this key; `entity` and `key` say which, if known."""

    def __init__(
        self, message: str = "", *, entity: str = "", key: Mapping[str, Any] | None = None
    ) -> None:
        self.entity, self.key = entity, key or {}
        super().__init__(message)


class Undecodable(ItemError):
    """A stored item does not match its declaration.

    `key` identifies it, `entity` is what it was read as, `fields` lists the errors by field. When
    several items were read, `items` are the decoded ones, `others` further errors, and `cursor`
    continues after the page.
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
    """A create found an item with the same key."""


class UniqueTaken(ItemError):
    """Another item holds a unique value: `field` names it, `holder` is that item's key."""

    def __init__(self, message: str, *, field: str, holder: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.field, self.holder = field, dict(holder)


class VersionConflict(ItemError):
    """The item was changed since it was read."""


class StepRefused(ItemError):
    """The item's current state does not allow the requested transition.

    `field` holds the state, `state` is its current value.
    """

    def __init__(self, message: str, *, field: str, state: str) -> None:
        super().__init__(message)
        self.field, self.state = field, state


class PlanError(KeyfoldError):
    """An intent that cannot be turned into requests."""


class TooManyWrites(PlanError):
    """More writes than one transaction allows."""


class Unsupported(PlanError):
    """The server lacks something that the design needs; said when the design is opened."""


class MissingKeyField(PlanError):
    """A key cannot be rendered; the missing fields are named."""


class ValueRefused(PlanError):
    """A value that cannot be stored, or an item that could not be read back.

    `fields` lists the errors by field, under "" those that concern no single field.
    """

    def __init__(self, message: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.fields = dict(fields or {})


class KeyValueRefused(PlanError):
    """A value would make a key ambiguous or too long."""


class BudgetExceeded(PlanError):
    """A pattern or unit of work made more requests than declared, or an N+1 loop."""


class CursorRefused(PlanError):
    """A cursor that is damaged, edited, expired or made by another pattern."""


class RequestReused(PlanError):
    """A request id was used again with another payload."""


class StreamError(KeyfoldError):
    """A change stream that cannot be consumed correctly."""


class RebuildNeeded(StreamError):
    """Records were lost: the consumer was down for longer than the stream keeps them."""


class IndexBehind(StreamError):
    """An index does not yet show what its table holds; the record waits."""


class LeaseLost(StreamError):
    """Another worker has taken the shard over."""


class AlreadyProcessed(StreamError):
    """A record was delivered again; its effect already exists."""


class ProcessorFailed(StreamError):
    """A processor returned something that is not a write."""


class MigrationError(KeyfoldError):
    """A migration that cannot continue."""


class Pending(MigrationError):
    """Live tables and design differ: run the pending migration first."""


class Drifted(MigrationError):
    """A plan no longer matches the tables it was made for."""


class VerifyFailed(MigrationError):
    """The two sides of a migration differ."""


class Irreversible(MigrationError):
    """A rollback from here would lose data."""
