"""The way from the current design to the proposed one, in the document's order.

Five migrations, one after the other: accounts (unique addresses, `isAdmin` gone), the document's
phases 1 (profiles, shares, invites), 2 (seasons) and 3 (orders), and catalogs (private ones leave
the public index).
"""

from __future__ import annotations

from pathlib import Path

from keyfold.migrations import load

_FOLDER = Path(__file__).parent / "migrations"

accounts = load(_FOLDER / "accounts.yaml")
profiles = load(_FOLDER / "profiles.yaml")
seasons = load(_FOLDER / "seasons.yaml")
orders = load(_FOLDER / "orders.yaml")
catalogs = load(_FOLDER / "catalogs.yaml")

migrations = (accounts, profiles, seasons, orders, catalogs)
