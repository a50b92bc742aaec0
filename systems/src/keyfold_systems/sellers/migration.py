"""The way from the current design to the proposed one, in the document's order.

Its pre-work (`isAdmin` goes) and its phases 1 (profiles, shares, invites), 2 (seasons) and
3 (orders). Phase 4 is the end of each: what is moved is compared, and the old table dropped.
"""

from __future__ import annotations

from pathlib import Path

from keyfold.migrations import load

_FOLDER = Path(__file__).parent / "migrations"

accounts = load(_FOLDER / "accounts.yaml")
profiles = load(_FOLDER / "profiles.yaml")
seasons = load(_FOLDER / "seasons.yaml")
orders = load(_FOLDER / "orders.yaml")

migrations = (accounts, profiles, seasons, orders)
