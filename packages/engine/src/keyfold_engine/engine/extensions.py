"""What features add to the core. The core calls the methods and names no feature.

A feature says in `features` which members of definitions and requests are its own. Its extension is
imported when one of them appears, so that a table without features costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from keyfold_engine.values import AttributeValue, Item

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database
    from keyfold_engine.engine.principal import Principal
    from keyfold_engine.engine.storage import Session
    from keyfold_engine.engine.tables import TableDefinition
    from keyfold_engine.engine.write import Prepared

_FEATURES = "keyfold_engine.features"

Precede = Callable[["Database", "Session", "Prepared"], None]
"""Called before a write is stored."""
Follow = Callable[["Database", "Session", "Prepared", int], None]
"""Called after a change is stored; with the row of the item."""
Describe = Callable[["Database", "TableDefinition"], dict[str, Any]]
"""More members of a table's description."""


class FurtherIndex(Protocol):
    """An index of another kind than local and global ones."""

    @property
    def member(self) -> str:
        """The member of a definition that lists it."""

    @property
    def name(self) -> str: ...

    @property
    def attribute(self) -> str: ...

    @property
    def definition(self) -> Mapping[str, Any]: ...

    @property
    def is_filled(self) -> bool:
        """Whether existing items are in it."""

    def filled_definition(self) -> dict[str, Any]: ...

    def create(self, session: Session, table: int) -> None: ...

    def fill(self, session: Session, table: int, row: int, item: Item) -> None:
        """Add the entry of an item, if it is missing."""

    def check(
        self, item: Mapping[str, AttributeValue], written: frozenset[str] | None = None
    ) -> None:
        """Refuse values that it cannot hold; for an update only those it wrote."""

    def saving(self, item: Item | None) -> int:
        """How many bytes less than its size an item is billed."""

    def billed(self, old: Item | None, new: Item | None) -> int:
        """The bytes that a write consumes."""

    def entry_size(self, item: Item) -> int | None: ...

    def totals(self, session: Session, table: int) -> tuple[int, int, int]:
        """The number and bytes of its entries, and the bytes that they save."""

    def phase(self, database: Database) -> str | None:
        """The phase of its creation."""

    def described(
        self, database: Database, table: TableDefinition, size: int, items: int, status: str
    ) -> dict[str, Any]: ...


class OtherRegions(Protocol):
    """The regions that an engine is one of."""

    endpoint: str

    @property
    def is_following(self) -> bool:
        """Whether this thread applies in one region what happened in another."""

    def run_in_step(
        self,
        database: Database,
        run: Callable[[Operation, dict[str, Any]], dict[str, Any]],
        work: Operation,
        request: dict[str, Any],
    ) -> dict[str, Any]:
        """Run a request, in step with the other regions if its table requires it."""


Operation = Callable[["Database", dict[str, Any]], dict[str, Any]]


class Extension:
    """What one feature adds; each method does nothing unless the feature overrides it."""

    # Tables

    indexes_member = ""
    """The member of CreateTable and of definitions that lists the feature's indexes."""

    def attach(self, table: TableDefinition) -> None:
        """Add to a table whose definition has a member of the feature: once per definition."""

    def indexes(
        self, request: Mapping[str, Any], billing: str, defined: Sequence[str]
    ) -> Sequence[Mapping[str, Any]]:
        """The feature's indexes in a CreateTable, checked."""
        return ()

    def creating(
        self, database: Database, name: str, request: dict[str, Any]
    ) -> Callable[[Session, TableDefinition], None] | None:
        """Check a CreateTable; returns what to do once the table is there."""
        return None

    def update_alone(self, database: Database, request: dict[str, Any]) -> dict[str, Any] | None:
        """Execute an UpdateTable that is about nothing else; returns its answer."""
        return None

    def index_updates(self, request: dict[str, Any]) -> Sequence[dict[str, Any]]:
        """The changes of the feature's indexes in an UpdateTable, checked."""
        return ()

    def check_update(self, table: TableDefinition, request: dict[str, Any]) -> None:
        """Refuse what an UpdateTable may not do to the table."""

    def update(
        self, database: Database, session: Session, table: TableDefinition, request: dict[str, Any]
    ) -> TableDefinition:
        """The table after an UpdateTable."""
        return table

    def leave(self, database: Database, name: str) -> None:
        """Prepare the deletion of a table, in a transaction of its own."""

    def refuse_deletion(
        self, database: Database, session: Session, table: TableDefinition
    ) -> None: ...

    def drop(self, session: Session, table: TableDefinition) -> None:
        """Drop the feature's trees and documents of a table."""

    # Work beside requests

    def resume(self, database: Database) -> None:
        """Continue what an earlier process left unfinished."""

    def resume_table(self, database: Database, table: TableDefinition) -> None: ...

    def trim(self, database: Database, session: Session, table: TableDefinition) -> bool:
        """Delete some of what is too old; False when nothing is left."""
        return False

    # Callers

    def authorize(
        self, database: Database, caller: Principal, operation: str, request: dict[str, Any]
    ) -> None:
        """Refuse a request that its caller may not make."""


_loaded: dict[str, Extension] = {}


def named(name: str) -> Extension:
    """The extension of a feature."""
    found = _loaded.get(name)
    if found is None:
        found = import_module(f"{_FEATURES}.{name}.extension").EXTENSION
        _loaded[name] = found
    return found


def every() -> list[Extension]:
    """All extensions."""
    return [named(name) for name in import_module(_FEATURES).ALL]


def guards() -> list[Extension]:
    """Those that may refuse a caller."""
    return [named(name) for name in import_module(_FEATURES).GUARDS]


def for_members(members: Iterable[str]) -> tuple[Extension, ...]:
    """The extensions that these members of a definition or request belong to."""
    by_member = import_module(_FEATURES).BY_MEMBER
    names = dict.fromkeys(by_member[member] for member in members if member in by_member)
    return tuple(named(name) for name in names)


def for_request(request: Mapping[str, Any]) -> tuple[Extension, ...]:
    """The extensions that a request about a table asks for."""
    return for_members(member for member, value in request.items() if value is not None)


def unfinished(session: Session) -> list[Extension]:
    """The extensions that may have unfinished work."""
    kinds = import_module(_FEATURES).BY_DOCUMENT
    return [named(name) for kind, name in kinds.items() if session.documents(kind, 1)]
