"""Waiting for the applications that follow a migration."""

from __future__ import annotations

import time
from typing import Final

from keyfold.migrations.copier import Copier
from keyfold.migrations.state import StateStore

POLL_SECONDS: Final = 0.02
ROUTER_REFRESH: Final = 0.25
"""How long a router may act by what it read last."""
ROUTER_LEASE: Final = 10.0
"""How long a router that says nothing counts as running."""


def wait_for_routers(store: StateStore, epoch: int, copier: Copier | None = None) -> None:
    """Until every running router acts by this epoch; copying goes on meanwhile."""
    time.sleep(ROUTER_REFRESH * 1.2 if store.routers() else 0.0)
    while True:
        now = store.backend.clock.now()
        if not any(acts_by < epoch and until > now for _, acts_by, until in store.routers()):
            return
        if copier is None or not copier.poll():
            time.sleep(POLL_SECONDS)
