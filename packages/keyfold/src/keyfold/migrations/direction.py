"""What an item of one side maps to on the other, by all routes of one direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyfold.errors import KeyfoldError, MigrationError
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.moves import Output, Route
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.state import key_text
from keyfold.migrations.undo import UndoLog
from keyfold_engine.limits import TRANSACTION_ITEMS


class Uncopyable(MigrationError):
    """An item that cannot be copied as it is."""


@dataclass
class Direction:
    """The routes of one direction by source table, with the key names of all tables."""

    backend: Backend
    routes: Sequence[Route]
    rewrites: Sequence[Rewrite] = ()
    log: UndoLog | None = None
    """Records changes of tables that stay, so that they can be undone."""
    early: bool = False
    """The new shape is not written yet: all items have the old one."""
    created: frozenset[str] = frozenset()
    """The tables that a rollback removes completely."""
    natives: frozenset[tuple[str, str]] = frozenset()
    """Items that no route created and none removes."""
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        tables = [route.source for route in self.routes]
        return list(dict.fromkeys([*tables, *(rewrite.table for rewrite in self.rewrites)]))

    def key_of(self, table: str, item: Mapping[str, Any]) -> Item:
        names = self._keys.get(table)
        if names is None:
            names = self._keys[table] = self.backend.key_attributes(table)
        return {name: item[name] for name in names}

    def outputs(self, table: str, item: Item | None) -> dict[tuple[str, str], Output]:
        """What an item maps to on the other side, by address; raises Refused if that is unknown."""
        found: dict[tuple[str, str], Output] = {}
        if item is None:
            return found
        for route in self.routes:
            if route.source != table or not route.selects(item) or self.is_native(table, item):
                continue
            for output in self._outputs_by(route, item):
                found[output.table, key_text(self.key_of(output.table, output.item))] = output
        if len(found) >= TRANSACTION_ITEMS:
            raise Uncopyable(f"it stands for {len(found)} items, more than one transaction takes")
        return found

    def _outputs_by(self, route: Route, item: Item) -> Iterable[Output]:
        try:
            return list(route.outputs(item))
        except Exception as problem:  # The user's function failed, or the item was unexpected.
            kind = "" if isinstance(problem, KeyfoldError) else f"{type(problem).__name__}: "
            raise Uncopyable(f"{route.name}: {kind}{problem}") from problem

    def concerns(self, table: str, item: Item) -> bool:
        return any(
            route.source == table and route.selects(item) for route in self.routes
        ) and not self.is_native(table, item)

    def accounts_for(self, table: str, item: Item) -> bool:
        """Whether an item is moved, or written again because of a moved one."""
        return self.concerns(table, item) or any(
            route.source == table and route.follows(item) for route in self.routes
        )

    def is_native(self, table: str, item: Item) -> bool:
        return bool(self.natives) and (table, key_text(self.key_of(table, item))) in self.natives

    def stays(self, table: str) -> bool:
        """Whether writes to a table must be undone one by one."""
        return self.log is not None and table not in self.created
