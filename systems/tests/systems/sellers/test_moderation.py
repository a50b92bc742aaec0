"""What is reported in Sellers, and what becomes of it."""

from __future__ import annotations

import pytest

from keyfold_web import Identity, Invalid, PageRequest
from keyfold_systems.sellers.entities import Account, Catalog, Profile
from tests.systems.suspension import check_suspension

from .conftest import MIA, OLGA, ROOT, SAM, World

MO = Identity.of("mo", "moderator")
PAGE = PageRequest(limit=10)


async def public(world: World) -> list[str]:
    return [one.catalog_id for one in await world.service.list_public_catalogs(PAGE)]


async def test_a_removed_catalog_is_gone_unless_seasons_sell_from_it(world: World) -> None:
    await world.account(OLGA)
    used, unused = await world.catalog(public=True), await world.catalog(public=True)
    await world.season(await world.profile(), used.catalog_id)
    for one in (used, unused):
        await world.service.report("catalog", one.catalog_id, "A fraud", caller=MIA)
        await world.service.decide("catalog", one.catalog_id, "remove", "A fraud", caller=MO)
    assert await public(world) == []
    [kept] = [one async for one in world.db.scan(Catalog)]
    assert (kept.catalog_id, kept.is_public) == (used.catalog_id, False)
    assert len(await world.service.audit(PAGE)) == 2
    told = await world.service.notifications(OLGA.id, PAGE)
    assert [(one.kind, one.text) for one in told] == [("removed", "Cookies: A fraud")] * 2
    assert (await world.service.reports(PAGE)).items == []


async def test_who_cannot_read_a_profile_does_not_report_it(world: World) -> None:
    profile = await world.profile()
    await world.share(profile, MIA)
    await world.service.report("profile", profile, "Spam", caller=MIA)
    with pytest.raises(Invalid, match="unknown profile"):
        await world.service.report("profile", profile, "Spam", caller=SAM)
    with pytest.raises(Invalid, match="your own"):
        await world.service.report("profile", profile, "Spam", caller=OLGA)


async def test_a_removed_profile_goes_with_its_seasons_and_shares(world: World) -> None:
    profile = await world.profile()
    await world.share(profile, MIA)
    await world.season(profile, (await world.catalog()).catalog_id)
    await world.service.decide("profile", profile, "remove", "A fraud", caller=MO)
    assert [one async for one in world.db.scan(Profile)] == []
    assert (await world.service.list_shared_profiles(PAGE, MIA)).items == []


async def test_an_administrator_removes_an_account_with_what_it_reported(world: World) -> None:
    await world.account(OLGA, MIA)
    await world.service.report("account", "mia", "Spam", caller=OLGA)
    await world.profile()
    await world.service.decide("account", "olga", "remove", "Abuse", caller=ROOT)
    assert [one.account_id async for one in world.db.scan(Account)] == ["mia"]
    assert [one async for one in world.db.scan(Profile)] == []
    assert (await world.service.reports(PAGE)).items == []


async def test_who_is_suspended_reads_and_does_not_write(world: World) -> None:
    await world.account(MIA)
    write = "PATCH", "/accounts/me", {"givenName": "Mia M"}
    await check_suspension(world.service, "mia", write, "/profiles")
