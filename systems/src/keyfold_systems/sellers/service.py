"""The service: `keyfold api keyfold_systems.sellers.service`."""

from __future__ import annotations

from typing import ClassVar

from keyfold import AsyncDb, Design
from keyfold_systems.sellers.design import design
from keyfold_systems.sellers.operations.catalogs import Catalogs
from keyfold_systems.sellers.operations.live import Live
from keyfold_systems.sellers.operations.profiles import Profiles
from keyfold_systems.sellers.operations.selling import Selling
from keyfold_systems.sellers.operations.sharing import Sharing


class Sellers(Profiles, Sharing, Selling, Catalogs, Live):
    """Seller profiles, who shares them, their seasons, orders and catalogs."""

    design: ClassVar[Design] = design
    idempotent = True


def service(db: AsyncDb) -> Sellers:
    return Sellers(db)
