"""The state of a migration, for people who watch it."""

from __future__ import annotations

from dataclasses import dataclass, field

from keyfold.migrations.backend import Item
from keyfold.migrations.state import CopyFailure, State, StateStore


@dataclass(frozen=True)
class MigrationStatus:
    """The state of a migration."""

    name: str
    state: State
    lag: float | None
    segments: dict[str, Item] = field(default_factory=dict)
    problems: list[CopyFailure] = field(default_factory=list)
    routers: int = 0

    @classmethod
    def read(cls, store: StateStore) -> MigrationStatus:
        if not store.exists():
            return cls(store.name, State(), None)
        state, at, now = store.load(), store.caught_up_at(), store.backend.clock.now()
        return cls(
            store.name,
            state,
            max(now - at, 0.0) if at and state.active else None,
            store.segments(),
            store.problems(),
            len(store.routers(now)),
        )
