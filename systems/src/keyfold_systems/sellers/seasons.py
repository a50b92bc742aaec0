"""Seasons."""

from __future__ import annotations

from datetime import date

from keyfold import AsyncDb, Page, create, new_ulid, update
from keyfold.conditions import missing
from keyfold.errors import NotFound
from keyfold.runtime import Intent
from keyfold_systems.sellers.access import require, season_for
from keyfold_systems.sellers.catalogs import usable
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.parts import Part, existing, profile_stays, write_checked
from keyfold_systems.sellers.patterns import season_by_id, seasons_of_profile
from keyfold_systems.sellers.payloads import ListedSeason, NewSeason, SeasonChanges
from keyfold_systems.sellers.values import CleanId
from keyfold_web import Identity, Invalid, PageRequest, authenticated, mutation, query


class SeasonOperations(Part):
    """Times of selling from one catalog."""

    @mutation(
        "/seasons",
        name="createSeason",
        allow=authenticated,
        status=201,
        example={
            "input": {
                "profileId": "profileId",
                "seasonName": "Spring",
                "catalogId": "catalogId",
                "startDate": "2030-03-01",
            }
        },
    )
    async def create_season(self, input: NewSeason, caller: Identity) -> Season:
        """Start selling from a catalog."""
        _check_dates(input.start_date, input.end_date)
        await require(self.db, input.profile_id, caller, "WRITE")
        open_catalog = await usable(self.db, input.catalog_id, caller)
        now = self.db.context.now()
        values = input.model_dump()
        new = Season(**values, season_id=new_ulid(), created_at=now, updated_at=now)
        made: Season = await write_checked(
            self.db, create(new), profile_stays(input.profile_id), open_catalog
        )
        return made

    @query("/seasons/{season_id}", name="getSeason", allow=authenticated)
    async def get_season(self, season_id: CleanId, caller: Identity) -> Season:
        """A season."""
        return await season_for(self.db, season_id, caller, "READ")

    @query("/profiles/{profile_id}/seasons", name="listSeasonsByProfile", allow=authenticated)
    async def list_seasons_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[ListedSeason]:
        """The seasons of a profile in the order of their creation, with what they sold."""
        await require(self.db, profile_id, caller, "READ")
        found = await seasons_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)
        seasons = [one for one in found if one.deleting_since is None]
        ids = sorted({one.catalog_id for one in seasons})
        found_catalogs = await self.db.get_many([Catalog.key(catalog_id=one) for one in ids])
        catalogs = dict(zip(ids, found_catalogs, strict=True))
        shown = [ListedSeason.of(one, catalogs[one.catalog_id]) for one in seasons]
        return Page(shown, found.cursor)

    @mutation("/seasons/{season_id}", name="updateSeason", allow=authenticated, method="PATCH")
    async def update_season(
        self, season_id: CleanId, input: SeasonChanges, caller: Identity
    ) -> Season:
        """Change a season; what is not given stays."""
        changes = input.given()
        season = await season_for(self.db, season_id, caller, "WRITE")
        _check_dates(
            changes.get("start_date", season.start_date),
            changes.get("end_date", season.end_date),
        )
        checks: list[Intent] = []
        if "catalog_id" in changes and changes["catalog_id"] != season.catalog_id:
            checks.append(await usable(self.db, changes["catalog_id"], caller))
        change = update(season.ref(), where=lambda s: missing(s.deleting_since), **changes)
        changed: Season = await write_checked(self.db, change, *checks)
        return changed

    @mutation("/seasons/{season_id}", name="deleteSeason", allow=authenticated, method="DELETE")
    async def delete_season(self, season_id: CleanId, caller: Identity) -> None:
        """Delete a season with its orders; one that was cut off goes on when it is repeated."""
        season = existing(await season_by_id(self.db, season_id), "season", season_id)
        await require(self.db, season.profile_id, caller, "WRITE")
        await delete_season(self.db, season_id)


async def delete_season(db: AsyncDb, season_id: str) -> None:
    """Close it, so that no order can be added; then its orders go, then the season."""
    ref = Season.key(season_id=season_id)
    try:
        await db.update(ref, deleting_since=db.context.now())
    except NotFound:
        return  # somebody else was faster
    await db.delete_collection(Order.key.query(season_id=season_id).consistent())
    await db.delete(ref)


def _check_dates(start: date, end: date | None) -> None:
    if end is not None and end < start:
        raise Invalid("endDate", "must not be before the start")
