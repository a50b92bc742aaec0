"""All operations of Sellers, on the proposed tables, or on those of today."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold.api import Service
from keyfold_systems.sellers.accounts import AccountOperations
from keyfold_systems.sellers.catalogs import CatalogOperations
from keyfold_systems.sellers.design import design
from keyfold_systems.sellers.layout_proposed import proposed_layout
from keyfold_systems.sellers.layouts import Layout
from keyfold_systems.sellers.orders import OrderOperations
from keyfold_systems.sellers.profiles import ProfileOperations
from keyfold_systems.sellers.seasons import SeasonOperations


class Sellers(
    AccountOperations,
    ProfileOperations,
    SeasonOperations,
    OrderOperations,
    CatalogOperations,
    Service,
):
    """Seller profiles, who shares them, their seasons, orders and catalogs."""

    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb, layout: Layout | None = None) -> None:
        self.db = db
        self.layout = layout or proposed_layout(db)


def service(db: AsyncDb) -> Sellers:
    return Sellers(db)
