"""All operations of Sellers."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.sellers.accounts import AccountOperations
from keyfold_systems.sellers.catalogs import CatalogOperations
from keyfold_systems.sellers.design import design
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.invites import InviteOperations
from keyfold_systems.sellers.live import LiveOperations
from keyfold_systems.sellers.orders import OrderOperations
from keyfold_systems.sellers.payloads import ListedOrder, ListedSeason
from keyfold_systems.sellers.profiles import ProfileOperations
from keyfold_systems.sellers.seasons import SeasonOperations
from keyfold_systems.sellers.shares import ShareOperations
from keyfold_web import Service, relation


class Sellers(
    AccountOperations,
    ProfileOperations,
    InviteOperations,
    ShareOperations,
    SeasonOperations,
    OrderOperations,
    CatalogOperations,
    LiveOperations,
    Service,
):
    """Seller profiles, who shares them, their seasons, orders and catalogs."""

    design: ClassVar[Design] = design
    idempotent = True
    relations = (
        relation(Season, "catalog", Catalog, catalog_id="catalog_id"),
        relation(ListedSeason, "catalog", Catalog, catalog_id="catalog_id"),
        relation(Order, "season", Season, season_id="season_id"),
        relation(ListedOrder, "season", Season, season_id="season_id"),
    )


def service(db: AsyncDb) -> Sellers:
    return Sellers(db)
