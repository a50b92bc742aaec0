"""A migration: its changes, and the phases in which they happen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from keyfold.design.schema import TableSchema
from keyfold.errors import MigrationError, TableNotFound
from keyfold.migrations.moves import Derive, Move, Restore, Route
from keyfold.migrations.rewrites import Rewrite
from keyfold.migrations.table_change import TableChange, When
from keyfold.runtime import Design
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold_engine.clients.protocol import AsyncClient, Client

Phase = Literal[
    "planned",
    "expand",
    "follow",
    "backfill",
    "verify",
    "switch-writes",
    "hold",
    "contract",
]
"""A phase of a migration."""

PHASES: Final[tuple[Phase, ...]] = (
    "planned",
    "expand",
    "follow",
    "backfill",
    "verify",
    "switch-writes",
    "hold",
    "contract",
)
"""In order; a migration's phase is the last complete one."""

DOES: Final[dict[Phase, str]] = {
    "expand": "creates tables and indexes and enables streams; a rollback removes them",
    "follow": "copies every change from here on; a rollback takes the copies back",
    "backfill": "copies and rewrites the existing items; a rollback takes that back",
    "verify": "compares both sides item by item, and copies what differs; a rollback takes it back",
    "switch-writes": "writes go to the new side; a rollback brings them back with all data",
    "hold": "copies changes back to the old side and recounts; a rollback is still possible",
    "contract": "compares once more and removes the old side; there is no way back",
}
"""What each phase does, and whether it can be undone."""

Side = Literal["old", "new"]
"""One of the two layouts of a migration."""

Step = TableChange | Move | Derive | Restore | Rewrite


def reached(phase: Phase, wanted: Phase) -> bool:
    return PHASES.index(phase) >= PHASES.index(wanted)


@dataclass(frozen=True)
class Migration:
    """A plan. `expects` holds the tables it was made for."""

    name: str
    steps: Sequence[Step | Sequence[Step]]
    """Steps, and shorthands for several steps."""
    expects: Mapping[str, TableSchema] = field(default_factory=dict)
    description: str = ""
    between: tuple[Design, Design] | None = None
    """The designs before and after, where structures differ: a rollback restores the old ones."""
    is_part: bool = False
    """One of several plans between these designs: it restores only structures that it names."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self._flat(self.steps)))
        recounted = {label for step in self.restores for label in step.labels}
        for move in self.moves:
            if left := sorted(set(move.counters) - recounted):
                raise MigrationError(
                    f"{self.name}: what {move.name} moves is counted by {', '.join(left)}, but "
                    "copying does not count; add the step recount(design)"
                )

    def routed(self, client: Client, context: Context) -> Client:
        """The client of an application that follows, for `design.open(..., migration=...)`."""
        from keyfold.migrations.routed_client import Routed, RoutedClient

        return RoutedClient(client, Routed.of(self, context))

    def routed_async(self, client: AsyncClient, context: Context) -> AsyncClient:
        from keyfold.migrations.routed_client import AsyncRoutedClient, Routed

        return AsyncRoutedClient(client, Routed.of(self, context))

    def item_now(
        self, context: Context, position: Mapping[str, Any], table: str
    ) -> Flow[dict[str, Any] | None]:
        """The current item of the new side for a position of the old one."""
        known = {each.name: each for each in self.tables}
        for route in self.routes("new"):
            source = known.get(route.source)
            if source is None or not position.keys() >= {*source.key_attributes}:
                continue
            key = {name: position[name] for name in source.key_attributes}
            request = {"TableName": context.physical(source), "Key": key, "ConsistentRead": True}
            try:
                answer = yield Call("GetItem", request, excused=True)
            except TableNotFound:
                continue  # The migration is complete and the old side is gone.
            item = answer.get("Item")
            for output in route.outputs(item) if item and route.selects(item) else ():
                home = known.get(output.table)
                if home is not None and context.physical(home) == table:
                    return output.item
        return None

    def wait_for_copies(self, context: Context, table: str) -> Flow[None]:
        """Wait until items that another application has just written are in this table, too."""
        from keyfold.migrations.follower import wait_for_copies

        if table in {move.forward.target for move in self.moves}:
            yield from wait_for_copies(self.name, context.table_prefix, context.clock)

    def _flat(self, steps: Iterable[Any]) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, Sequence):
                yield from self._flat(step)
            elif isinstance(step, Step):
                yield step
            else:
                raise MigrationError(f"{self.name}: {step!r} is not a step")

    @property
    def restores(self) -> list[Restore]:
        return [step for step in self.steps if isinstance(step, Restore)]

    @property
    def numbers(self) -> list[Restore]:
        """The numbers of the stream that no step states: of moved items, and in them."""
        stated = {label for step in self.restores for label in step.labels}
        moved = [move.numbers for move in self.moves if move.numbers is not None]
        left = [
            replace(one, labels=tuple(n for n in one.labels if n not in stated)) for one in moved
        ]
        return [one for one in dict.fromkeys(left) if one.labels]

    @property
    def duplicates(self) -> list[str]:
        """What programs see twice that do not read through keyfold."""
        return [move.shared.words() for move in self.moves if move.shared is not None]

    @property
    def changes(self) -> list[TableChange]:
        return [step for step in self.steps if isinstance(step, TableChange)]

    def changes_in(self, when: When) -> list[TableChange]:
        return [change for change in self.changes if change.when == when]

    @property
    def moves(self) -> list[Move]:
        return [step for step in self.steps if isinstance(step, Move)]

    def rewrites(self, when: str) -> list[Rewrite]:
        """In their order; what is computed from other attributes comes after them."""
        found = [s for s in self.steps if isinstance(s, Rewrite) and s.when == when]
        return sorted(found, key=lambda rewrite: bool(rewrite.computes))

    def routes(self, towards: Side) -> list[Route]:
        """What is copied: moves and derivations towards the new side, or back."""
        if towards == "old":
            return [move.backward for move in self.moves]
        derived = [step.route for step in self.steps if isinstance(step, Derive)]
        return [*(move.forward for move in self.moves), *derived]

    @property
    def created(self) -> set[str]:
        return {step.table for step in self.changes if step.makes_table}

    @property
    def dropped(self) -> set[str]:
        return {step.table for step in self.changes if step.drops_table}

    @property
    def emptied(self) -> set[str]:
        """Dropped tables that must be empty apart from moved items."""
        return {s.table for s in self.changes if s.drops_table and not s.with_items}

    @property
    def writes_staying(self) -> bool:
        """Whether it writes to existing tables, which needs undo records."""
        targets = {route.target for route in self.routes("new")}
        rewritten = self.rewrites("backfill") or self.restores or self.numbers or self.between
        return bool(rewritten or targets - self.created)

    @property
    def concerns_application(self) -> bool:
        """Whether an application that does not know it would lose or miss data."""
        kinds = (Move, Derive, Restore, Rewrite)
        return any(isinstance(step, kinds) for step in self.steps) or bool(
            self.changes_in("contract")
        )

    @property
    def tables(self) -> tuple[TableSchema, ...]:
        """All tables of its steps, once each."""
        found = [s.part for s in self.changes if isinstance(s.part, TableSchema)]
        for side in ("old", "new"):
            found += [table for route in self.routes(side) for table in route.tables]
        for rewrite in (*self.rewrites("backfill"), *self.rewrites("contract")):
            found += [rewrite.schema] if rewrite.schema is not None else []
        return tuple({table.name: table for table in found}.values())

    @property
    def sources(self) -> set[str]:
        """The tables whose items are copied or rewritten."""
        copied = {route.source for route in self.routes("new")}
        return copied | {rewrite.table for rewrite in self.rewrites("backfill")}

    @property
    def touched(self) -> set[str]:
        """All tables that its steps read or write."""
        found = {table.name for table in self.tables} | {step.table for step in self.changes}
        for step in (*self.restores, *self.numbers):
            found |= step.tables
        return found | self.followed.keys()

    @property
    def followed(self) -> dict[str, Side]:
        """The tables whose stream is needed, and the direction of copying."""
        tables: dict[str, Side] = {route.source: "old" for route in self.routes("old")}
        tables.update({route.source: "new" for route in self.routes("new")})
        tables.update({rewrite.table: "new" for rewrite in self.rewrites("backfill")})
        return tables

    def restores_back(self, structure: str) -> bool:
        """Whether a rollback makes a structure, by its name, as it was."""
        named = (step.labels for step in (*self.restores, *self.numbers))
        return not self.is_part or any(structure in labels for labels in named)

    def words(self) -> Iterator[str]:
        for step in self.steps:
            if isinstance(step, Step):
                yield step.words()

    @property
    def fingerprint(self) -> str:
        """Changes when the plan does."""
        text = "\n".join(self.words())
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
