"""Catalogs: what can be sold."""

from __future__ import annotations

from keyfold import Page, new_ulid
from keyfold.conditions import missing
from keyfold_systems.sellers import patterns
from keyfold_systems.sellers.entities import Catalog, Profile, Share
from keyfold_systems.sellers.operations.access import Part
from keyfold_systems.sellers.values import CleanId
from keyfold_systems.sellers.views import (
    CatalogChange,
    ListedCatalog,
    NewCatalog,
    SellingSeason,
)
from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    NotAllowed,
    PageRequest,
    authenticated,
    mutation,
    query,
)


class Catalogs(Part):
    """What can be sold."""

    @mutation("/catalogs", allow=authenticated, status=201)
    async def create_catalog(self, input: NewCatalog, caller: Identity) -> Catalog:
        """Create a catalog, private or public."""
        now = self.db.context.now()
        new = Catalog(
            catalog_id=new_ulid(), owner_account_id=caller.id, created_at=now, **dict(input)
        )
        return await self.db.create(new)

    @query("/catalogs/{catalog_id}", allow=authenticated)
    async def get_catalog(self, catalog_id: CleanId, caller: Identity) -> Catalog:
        """A catalog: public, yours, or of a season that you may see."""
        found = Missing.unless(await patterns.catalog(self.db, catalog_id), "catalog", catalog_id)
        mine = found.owner_account_id == caller.id or caller.is_admin
        if not (mine or found.is_public_str == "true" or await self._sees(catalog_id, caller)):
            raise NotAllowed("This catalog is private.")
        return found

    @query("/my-catalogs", allow=authenticated)
    async def list_my_catalogs(self, page: PageRequest, caller: Identity) -> Page[Catalog]:
        """Your catalogs."""
        return await page.read(self.db, patterns.my_catalogs, caller.id)

    @query("/catalogs", allow=authenticated)
    async def list_public_catalogs(self, page: PageRequest) -> Page[ListedCatalog]:
        """Public catalogs, newest first, and whose they are."""
        found = await page.read(
            self.db,
            patterns.public_catalogs,
        )
        names = await self.names(one.owner_account_id for one in found)
        shown = [ListedCatalog.of(one, owner_name=names[one.owner_account_id]) for one in found]
        return Page(shown, found.cursor)

    @mutation("/catalogs/{catalog_id}", allow=authenticated, method="PATCH")
    async def update_catalog(
        self, catalog_id: CleanId, input: CatalogChange, caller: Identity
    ) -> Catalog:
        """Change one of your catalogs."""
        found = await self._own(catalog_id, caller)
        return await self.db.update(found.ref(), **input.given())

    @query("/catalogs/{catalog_id}/usage", allow=authenticated)
    async def list_catalog_usage(
        self, catalog_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[SellingSeason]:
        """The seasons that sell from one of your catalogs."""
        await self._own(catalog_id, caller)
        found = await page.read(self.db, patterns.catalog_uses, catalog_id)
        return Page([SellingSeason.of(one) for one in found], found.cursor)

    @mutation("/catalogs/{catalog_id}", allow=authenticated, method="DELETE")
    async def delete_catalog(self, catalog_id: CleanId, caller: Identity) -> None:
        """Delete a catalog that no season sells from."""
        found = await self._own(catalog_id, caller)
        in_use = Conflict("Seasons sell from this catalog.", code="IN_USE")
        if await patterns.catalog_is_used(self.db, catalog_id):
            raise in_use
        await self.db.delete(
            found.ref(), where=lambda c: missing(c.seasons) | (c.seasons == 0), refuse=in_use
        )

    async def _own(self, catalog_id: str, caller: Identity) -> Catalog:
        found = Missing.unless(await patterns.catalog(self.db, catalog_id), "catalog", catalog_id)
        if found.owner_account_id != caller.id and not caller.is_admin:
            raise NotAllowed("Only the owner of a catalog may do this.")
        return found

    async def _sees(self, catalog_id: str, caller: Identity) -> bool:
        """Whether a season in a profile that the caller may see sells from a catalog."""
        async for page in patterns.catalog_uses.pages(self.db, catalog_id):
            ids = {use.profile_id for use in page}
            own = [Profile.key(owner_account_id=caller.id, profile_id=one) for one in ids]
            shared = [Share.key(profile_id=one, target_account_id=caller.id) for one in ids]
            if any(await self.db.get_many([*own, *shared])):
                return True
        return False
