"""Catalogs."""

from __future__ import annotations

from collections import Counter

from keyfold import AsyncDb, Page, check, new_ulid
from keyfold.conditions import exists, missing
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold_systems.sellers.access import sees_private
from keyfold_systems.sellers.entities import Catalog
from keyfold_systems.sellers.parts import Part, existing, names
from keyfold_systems.sellers.patterns import (
    catalog,
    catalog_is_used,
    catalog_uses,
    my_catalogs,
    public_catalogs,
)
from keyfold_systems.sellers.payloads import (
    CatalogChanges,
    ListedCatalog,
    NewCatalog,
    SellingSeason,
)
from keyfold_systems.sellers.values import CleanId, Product
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    NotAllowed,
    PageRequest,
    authenticated,
    mutation,
    query,
)


class CatalogOperations(Part):
    """What can be sold."""

    @mutation(
        "/catalogs",
        name="createCatalog",
        allow=authenticated,
        status=201,
        example={
            "input": {
                "catalogName": "Cookies",
                "products": [{"productId": "mint", "productName": "Thin mint", "price": "5.50"}],
            }
        },
    )
    async def create_catalog(self, input: NewCatalog, caller: Identity) -> Catalog:
        """Offer products, for yourself or for everybody."""
        _check_products(input.products)
        new = Catalog(
            catalog_id=new_ulid(),
            owner_account_id=caller.id,
            catalog_name=input.catalog_name,
            is_public=input.is_public,
            products=input.products,
            created_at=self.db.context.now(),
        )
        return await self.db.create(new)

    @query("/catalogs/{catalog_id}", name="getCatalog", allow=authenticated)
    async def get_catalog(self, catalog_id: CleanId, caller: Identity) -> Catalog:
        """A catalog: public, yours, or of a season that you may see."""
        found = existing(await catalog(self.db, catalog_id), "catalog", catalog_id)
        if not (found.is_public or await sees_private(self.db, found, caller)):
            raise NotAllowed("This catalog is private.")
        return found

    @query("/my-catalogs", name="listMyCatalogs", allow=authenticated)
    async def list_my_catalogs(self, page: PageRequest, caller: Identity) -> Page[Catalog]:
        """Your catalogs."""
        return await my_catalogs.after(page.cursor)(self.db, caller.id, limit=page.limit)

    @query("/catalogs", name="listPublicCatalogs", allow=authenticated)
    async def list_public_catalogs(self, page: PageRequest) -> Page[ListedCatalog]:
        """Public catalogs, newest first, and whose they are."""
        found = await public_catalogs.after(page.cursor)(self.db, limit=page.limit)
        owners = await names(self.db, (one.owner_account_id for one in found))
        shown = [ListedCatalog.of(one, owners.get(one.owner_account_id)) for one in found]
        return Page(shown, found.cursor)

    @mutation("/catalogs/{catalog_id}", name="updateCatalog", allow=authenticated, method="PATCH")
    async def update_catalog(
        self, catalog_id: CleanId, input: CatalogChanges, caller: Identity
    ) -> Catalog:
        """Change a catalog of yours."""
        _check_products(input.products or [])
        found = await self._own_catalog(catalog_id, caller)
        return await self.db.update(found, **input.given())

    @query("/catalogs/{catalog_id}/usage", name="listCatalogUsage", allow=authenticated)
    async def list_catalog_usage(
        self, catalog_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[SellingSeason]:
        """The seasons that sell from a catalog of yours; they may be anybody's."""
        await self._own_catalog(catalog_id, caller)
        found = await catalog_uses.after(page.cursor)(self.db, catalog_id, limit=page.limit)
        shown = [SellingSeason(season_id=s.season_id, profile_id=s.profile_id) for s in found]
        return Page(shown, found.cursor)

    @mutation("/catalogs/{catalog_id}", name="deleteCatalog", allow=authenticated, method="DELETE")
    async def delete_catalog(self, catalog_id: CleanId, caller: Identity) -> None:
        """Delete a catalog that no season uses."""
        found = await self._own_catalog(catalog_id, caller)
        if not await delete_unused(self.db, found):
            raise Conflict("Seasons sell from this catalog.", code="IN_USE")

    async def _own_catalog(self, catalog_id: str, caller: Identity) -> Catalog:
        found = existing(await catalog(self.db, catalog_id), "catalog", catalog_id)
        if found.owner_account_id != caller.id and not caller.is_admin:
            raise NotAllowed("Only the owner of a catalog may do this.")
        return found


def _check_products(products: list[Product]) -> None:
    times = Counter(one.product_id for one in products)
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        raise Invalid("products", f"each product has an id of its own; twice: {', '.join(twice)}")


async def delete_unused(db: AsyncDb, found: Catalog) -> bool:
    """Delete a catalog unless a season uses it.

    It is closed first: from then on no season can start with it, so what the look at its uses
    finds is all there will be. In use, it is opened again, and another deletion at the same time
    has to look again.
    """
    now = db.context.now()
    try:
        await db.update(found.ref(), deleting_since=now)
    except NotFound:
        return True  # somebody else was faster
    if await catalog_is_used(db, found.catalog_id):
        await db.update(found.ref(), deleting_since=None)
        return False
    try:
        await db.delete(found.ref(), where=lambda c: c.deleting_since == now)
    except ConditionFailed:
        return await delete_unused(db, found)
    return True


async def usable(db: AsyncDb, catalog_id: str, caller: Identity) -> Intent:
    """A check that the catalog is there when a season is written."""
    found = existing(await catalog(db, catalog_id), "catalog", catalog_id)
    if not found.is_public and found.owner_account_id != caller.id and not caller.is_admin:
        raise NotAllowed("This catalog is somebody else's.")
    ref = Catalog.key(catalog_id=catalog_id)
    return check(ref, where=lambda c: exists(c.created_at) & missing(c.deleting_since))
