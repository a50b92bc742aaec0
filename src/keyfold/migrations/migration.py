"""A migration: what changes, and the phases in which it changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from keyfold.clients.protocol import AsyncClient, Client
from keyfold.design.schema import TableSchema
from keyfold.errors import MigrationError, TableNotFound
from keyfold.migrations.moves import Derive, Move, Restore, Route
from keyfold.migrations.operations import CreateTable, DropTable, TableChange
from keyfold.migrations.rewrites import Rewrite, undecided
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow

Phase = Literal[
    "planned",
    "expand",
    "follow",
    "backfill",
    "verify",
    "switch-reads",
    "switch-writes",
    "hold",
    "contract",
]
PHASES: Final[tuple[Phase, ...]] = (
    "planned",
    "expand",
    "follow",
    "backfill",
    "verify",
    "switch-reads",
    "switch-writes",
    "hold",
    "contract",
)
"""In order; a migration's phase is the last one that is complete."""

Side = Literal["old", "new"]
Step = TableChange | Move | Derive | Restore | Rewrite


def reached(phase: Phase, wanted: Phase) -> bool:
    return PHASES.index(phase) >= PHASES.index(wanted)


@dataclass(frozen=True)
class Migration:
    """A plan. `expects` holds the fingerprints of the tables it was made for."""

    name: str
    steps: Sequence[Step | Sequence[Step]]
    """Steps, and words that stand for several."""
    expects: Mapping[str, str] = field(default_factory=dict)
    description: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self._flat(self.steps)))
        recounted = {label for step in self.restores for label in step.labels}
        for move in self.moves:
            if left := sorted(set(move.counters) - recounted):
                raise MigrationError(
                    f"{self.name}: what {move.name} moves is counted by {', '.join(left)}, and "
                    "copying does not count; add the step recount(design)"
                )

    def routed(self, client: Client, context: Context) -> Client:
        """The client of an application that follows; `design.open(..., migration=...)` asks."""
        from keyfold.migrations.routed_client import Routed, RoutedClient

        return RoutedClient(client, Routed.of(self, context))

    def routed_async(self, client: AsyncClient, context: Context) -> AsyncClient:
        from keyfold.migrations.routed_client import AsyncRoutedClient, Routed

        return AsyncRoutedClient(client, Routed.of(self, context))

    def item_now(
        self, context: Context, position: Mapping[str, Any], table: str
    ) -> Flow[dict[str, Any] | None]:
        """What became of the item at a position of the old side, in a table of the new one."""
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
                continue  # the migration is complete, and the old side gone
            item = answer.get("Item")
            for output in route.outputs(item) if item and route.selects(item) else ():
                home = known.get(output.table)
                if home is not None and context.physical(home) == table:
                    return output.item
        return None

    def _flat(self, steps: Iterable[Any]) -> Iterator[Step]:
        for step in steps:
            if isinstance(step, undecided):
                raise step.refusal(self.name)
            if isinstance(step, Sequence):
                yield from self._flat(step)
            elif isinstance(step, Step):
                yield step
            else:
                raise MigrationError(f"{self.name}: {step!r} is not a step")

    @property
    def restores(self) -> list[Restore]:
        return [step for step in self.steps if isinstance(step, Restore)]

    def operations(self, when: str) -> list[TableChange]:
        return [s for s in self.steps if isinstance(s, TableChange) and s.when == when]

    @property
    def moves(self) -> list[Move]:
        return [step for step in self.steps if isinstance(step, Move)]

    def rewrites(self, when: str) -> list[Rewrite]:
        return [s for s in self.steps if isinstance(s, Rewrite) and s.when == when]

    def routes(self, towards: Side) -> list[Route]:
        """What is copied: towards the new side the moves and what is derived, else back."""
        if towards == "old":
            return [move.backward for move in self.moves]
        derived = [step.route for step in self.steps if isinstance(step, Derive)]
        return [*(move.forward for move in self.moves), *derived]

    @property
    def created(self) -> set[str]:
        return {step.table.name for step in self.steps if isinstance(step, CreateTable)}

    @property
    def dropped(self) -> set[str]:
        return {step.table.name for step in self.steps if isinstance(step, DropTable)}

    @property
    def emptied(self) -> set[str]:
        """Those dropped tables that may hold nothing that no move took along."""
        drops = [step for step in self.steps if isinstance(step, DropTable)]
        return {step.table.name for step in drops if not step.with_items}

    @property
    def writes_staying(self) -> bool:
        """Whether it writes to tables that are there before it, so that there is more to undo."""
        targets = {route.target for route in self.routes("new")}
        return bool(self.rewrites("backfill") or self.restores or targets - self.created)

    @property
    def concerns_application(self) -> bool:
        """Whether an application that knows nothing of it would lose or miss something."""
        kinds = (Move, Derive, Restore, Rewrite)
        return any(isinstance(step, kinds) for step in self.steps) or bool(
            self.operations("contract")
        )

    @property
    def tables(self) -> tuple[TableSchema, ...]:
        """All that its steps know, each once."""
        found = [s.table for s in self.steps if isinstance(s, (CreateTable, DropTable))]
        for side in ("old", "new"):
            found += [table for route in self.routes(side) for table in route.tables]
        for rewrite in (*self.rewrites("backfill"), *self.rewrites("contract")):
            found += [rewrite.schema] if rewrite.schema is not None else []
        return tuple({table.name: table for table in found}.values())

    @property
    def followed(self) -> dict[str, Side]:
        """The tables whose stream is needed, and for copying towards which side."""
        tables: dict[str, Side] = {route.source: "old" for route in self.routes("old")}
        tables.update({route.source: "new" for route in self.routes("new")})
        tables.update({rewrite.table: "new" for rewrite in self.rewrites("backfill")})
        return tables

    def words(self) -> Iterator[str]:
        for step in self.steps:
            if isinstance(step, Step):
                yield step.words()

    @property
    def fingerprint(self) -> str:
        """Changes when the plan does."""
        text = "\n".join(self.words())
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
