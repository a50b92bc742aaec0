"""Waits for the applications that follow a migration."""

from __future__ import annotations

import time
from typing import Final

from keyfold.migrations.copier import POLL_SECONDS, Copier
from keyfold.migrations.migration import Migration, Phase
from keyfold.migrations.state_store import StateStore

ROUTER_REFRESH: Final = 0.25
"""How long an application may act on the state it read last."""
ROUTER_LEASE: Final = 10.0
"""How long a silent application counts as running."""


def consequences(migration: Migration) -> list[str]:
    """What can go wrong if applications do not follow a migration."""
    told = []
    if migration.moves:
        told.append(
            "from now on, writes of an application to the old tables do not reach the new ones; "
            "stop all of its processes, or replace them now"
        )
    if migration.rewrites("backfill") or migration.restores:
        told.append(
            "items that an old application writes lack what the new design needs, so it does not "
            "find them until the migration is applied again"
        )
    return told


def why_not_followed(store: StateStore, phase: Phase, quiet: float) -> str | None:
    """Why a switch would lose data at this moment, or None."""
    now = store.backend.clock.now()
    if not store.routers(now):
        return (
            f"{phase} is complete. Deploy the application, opened with this migration: "
            "design.open(..., migration=...). The next phase waits until it reports"
        )
    foreign = store.foreign()
    if foreign is not None and now - foreign.at < quiet:
        return (
            f"an application that does not follow the migration still writes: {foreign}. "
            f"The next phase waits until it has written nothing for {quiet:g} seconds"
        )
    return None


def wait_for_routers(store: StateStore, epoch: int, copier: Copier | None = None) -> None:
    """Wait until every following application acts on this epoch; copying continues meanwhile."""
    now = store.backend.clock.now
    time.sleep(ROUTER_REFRESH * 1.2 if store.routers(now()) else 0.0)
    while True:
        if not any(router.epoch < epoch for router in store.routers(now())):
            return
        if copier is None or not copier.poll():
            time.sleep(POLL_SECONDS)
