"""Seasons."""

from __future__ import annotations

from datetime import date, datetime

from keyfold import Page, new_ulid
from keyfold.api import Identity, Invalid, PageRequest, authenticated, mutation, query
from keyfold_systems.sellers.access import require, season_for
from keyfold_systems.sellers.catalogs import usable
from keyfold_systems.sellers.design import Season
from keyfold_systems.sellers.layouts import Layout
from keyfold_systems.sellers.parts import Part, every, given, there
from keyfold_systems.sellers.payloads import NewSeason, SeasonChanges
from keyfold_systems.sellers.values import CleanId


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
        layout = self.layout
        found = await require(layout, input.profile_id, caller, "WRITE")
        open_catalog = await usable(self.db, input.catalog_id, caller)
        now = self.db.context.now()
        values = input.model_dump()
        new = Season(**values, season_id=new_ulid(), created_at=now, updated_at=now)
        return await layout.seasons.create(
            new, layout.profiles.still_there(found.profile), open_catalog
        )

    @query("/seasons/{season_id}", name="getSeason", allow=authenticated)
    async def get_season(self, season_id: CleanId, caller: Identity) -> Season:
        """A season."""
        layout = self.layout
        season, _ = await season_for(layout, season_id, caller, "READ")
        return season

    @query("/profiles/{profile_id}/seasons", name="listSeasonsByProfile", allow=authenticated)
    async def list_seasons_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Season]:
        """The seasons of a profile in the order of their creation."""
        layout = self.layout
        await require(layout, profile_id, caller, "READ")
        found = await layout.seasons.of_profile(profile_id, page)
        return Page([s for s in found if s.deleting_since is None], found.cursor)

    @mutation("/seasons/{season_id}", name="updateSeason", allow=authenticated, method="PATCH")
    async def update_season(
        self, season_id: CleanId, input: SeasonChanges, caller: Identity
    ) -> Season:
        """Change a season."""
        changes = given(input)
        layout = self.layout
        season, _ = await season_for(layout, season_id, caller, "WRITE")
        _check_dates(
            changes.get("start_date", season.start_date),
            changes.get("end_date", season.end_date),
        )
        checks = []
        if "catalog_id" in changes and changes["catalog_id"] != season.catalog_id:
            checks.append(await usable(self.db, changes["catalog_id"], caller))
        return await layout.seasons.update(season, self.db.context.now(), *checks, **changes)

    @mutation("/seasons/{season_id}", name="deleteSeason", allow=authenticated, method="DELETE")
    async def delete_season(self, season_id: CleanId, caller: Identity) -> None:
        """Delete a season with its orders."""
        layout = self.layout
        season = there(await layout.seasons.find(season_id), "season")
        await require(layout, season.profile_id, caller, "WRITE")
        await delete_season(layout, season, self.db.context.now())


async def delete_season(layout: Layout, season: Season, now: datetime) -> None:
    """Close it, so that no order can be added; then its orders go, then the season."""
    await layout.seasons.close(season, now)
    async for order in every(lambda p: layout.orders.of_season(season.season_id, p)):
        await layout.orders.delete(order)
    await layout.seasons.delete(season)


def _check_dates(start: date, end: date | None) -> None:
    if end is not None and end < start:
        raise Invalid("endDate", "a season ends after it starts")
