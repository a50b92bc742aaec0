"""Everything of one account: taken along, and deleted."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from keyfold_web import Identity, Missing, PageRequest
from keyfold_web.personal import PersonalItem
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.engine import Engine
from keyfold.errors import CursorRefused
from keyfold.streams import AsyncConsumer
from keyfold_systems.sellers.entities import Account, Catalog, Notice, design
from keyfold_systems.sellers.payloads import NewInvite
from keyfold_systems.sellers.service import Sellers
from tests.systems.conftest import Recorder

from .conftest import MIA, OLGA, SAM, World


async def exported(world: World, who: Identity, limit: int = 50) -> list[PersonalItem]:
    found: list[PersonalItem] = []
    cursor: str | None = None
    while True:
        page = await world.service.personal_data(who.id, PageRequest(limit, cursor))
        found += page
        cursor = page.cursor
        if cursor is None:
            return found


async def stored(world: World, client: Recorder, text: str) -> list[dict[str, Any]]:
    """Every item that has this text somewhere; events go to who takes them."""
    await AsyncConsumer(world.db).drain()
    found = []
    for table in design.tables:
        answer = await client.call("Scan", {"TableName": table})
        found += [item for item in answer["Items"] if text in str(item)]
    return found


async def busy(world: World) -> Catalog:
    """Olga with everything that somebody can have; Mia sells from her catalog."""
    await world.account(OLGA, MIA, SAM)
    catalog = await world.catalog(public=True)
    for name in ("Cookies", "Pies"):
        profile = await world.profile(name=name)
        await world.share(profile, MIA)
        invite = NewInvite(profile_id=profile, permissions=("READ",))
        await world.service.create_profile_invite(invite, OLGA)
        for season_name in ("Spring", "Summer"):
            season = await world.season(profile, catalog.catalog_id, season_name)
            for quantity in (1, 2, 3):
                await world.order(season.season_id, quantity)
    others = await world.profile(MIA, "Mia's stand")
    code = await world.service.create_profile_invite(
        NewInvite(profile_id=others, permissions=("READ",)), MIA
    )
    await world.service.redeem_profile_invite(code.invite_code, OLGA)
    await AsyncConsumer(world.db).drain()
    return catalog


EVERYTHING = {
    "account": 1,
    "catalog": 1,
    "share": 1,
    "profile": 2,
    "helper": 2,
    "invite": 2,
    "season": 4,
    "order": 12,
}


@pytest.mark.parametrize("limit", [1, 2, 50])
async def test_an_export_has_everything_once_at_any_size_of_page(world: World, limit: int) -> None:
    await busy(world)
    found = await exported(world, OLGA, limit)
    assert Counter(one.kind for one in found) == EVERYTHING
    assert len({str(one) for one in found}) == len(found)
    assert next(one.item for one in found if one.kind == "account")["email"] == "olga@example.org"


async def test_an_export_of_nobody_is_empty(world: World) -> None:
    assert await exported(world, SAM) == []


@pytest.mark.parametrize("cursor", ["x", "eyJraW5kIjogIngifQ=="])
async def test_a_cursor_that_is_none_is_refused(world: World, cursor: str) -> None:
    with pytest.raises(CursorRefused):
        await world.service.personal_data(OLGA.id, PageRequest(5, cursor))


async def test_a_deleted_account_leaves_nothing_of_it(world: World, client: Recorder) -> None:
    catalog = await busy(world)
    assert [one.actor_id async for one in world.db.scan(Notice)] == [OLGA.id] * 3
    await world.service.delete_my_account(OLGA)
    assert await stored(world, client, "olga") == []
    assert await stored(world, client, catalog.catalog_id) == []
    assert await exported(world, OLGA) == []
    assert {one.kind for one in await exported(world, MIA)} == {"account", "profile", "invite"}
    with pytest.raises(Missing):
        await world.service.delete_my_account(OLGA)


async def test_reports_about_an_account_and_its_things_go_with_it(
    world: World, client: Recorder
) -> None:
    catalog = await busy(world)
    await world.service.report("account", "olga", "Spam", caller=SAM)
    await world.service.report("catalog", catalog.catalog_id, "Spam", caller=SAM)
    # Who reported is nobody's business.
    assert "sam" not in str(await exported(world, OLGA))
    await world.service.delete_my_account(OLGA)
    assert await stored(world, client, "olga") == []
    assert (await world.service.reports(PageRequest())).items == []


async def test_personal_data_is_deleted_with_the_account_or_without_one(
    world: World, client: Recorder
) -> None:
    await busy(world)
    removed = [await world.service.delete_personal_data(OLGA.id, OLGA) for _ in range(2)]
    assert [one.done for one in removed] == [False, True]
    assert await stored(world, client, "olga") == []
    await world.db.delete(Account.key(account_id=MIA.id))
    while not (await world.service.delete_personal_data(MIA.id, MIA)).done:
        pass
    assert await stored(world, client, "mia") == []


async def test_a_catalog_from_which_others_sell_stays_without_its_owner(
    world: World, client: Recorder
) -> None:
    catalog = await busy(world)
    profile = await world.profile(SAM, "Sam's stand")
    await world.share(profile, OLGA, ("WRITE",), by=SAM)
    season = await world.season(profile, catalog.catalog_id)
    await world.service.delete_my_account(OLGA)
    left = await world.service.get_catalog(catalog.catalog_id)
    assert (left.owner_account_id, left.is_public) == ("nobody", False)
    assert (await world.order(season.season_id, caller=SAM)).total_amount > 0
    assert await stored(world, client, "olga") == []


async def test_what_an_index_still_shows_does_not_stop_a_deletion() -> None:
    with Engine.open(":memory:", index_lag=0.2) as engine:
        db = await design.open_async(AsyncEmbeddedClient(engine))
        world = World(Sellers(db), db)
        await world.account(OLGA)
        catalog = await world.catalog()
        while not await world.service.list_my_catalogs(PageRequest(), OLGA):
            await asyncio.sleep(0.02)
        await world.service.delete_catalog(catalog.catalog_id, OLGA)
        await world.service.delete_my_account(OLGA)
        with pytest.raises(Missing):
            await world.service.get_my_account(OLGA)


async def test_a_catalog_that_its_index_did_not_show_yet_goes_when_the_deletion_is_repeated() -> (
    None
):
    with Engine.open(":memory:", index_lag=0.2) as engine:
        db = await design.open_async(AsyncEmbeddedClient(engine))
        world = World(Sellers(db), db)
        await world.account(OLGA)
        await world.catalog()
        await world.service.delete_my_account(OLGA)
        while not await world.service.list_my_catalogs(PageRequest(), OLGA):
            await asyncio.sleep(0.02)
        await world.service.delete_my_account(OLGA)
        assert [one async for one in db.scan(Catalog)] == []


async def test_a_suspension_and_what_was_decided_stay_when_somebody_leaves(
    world: World, client: Recorder
) -> None:
    await busy(world)
    await world.service.suspend_user("olga", 24, "Spam", caller=Identity.of("mo", "moderator"))
    await world.service.delete_my_account(OLGA)
    left = [one["type"]["S"] for one in await stored(world, client, "olga")]
    assert sorted(left) == ["AuditEntry", "Suspension"]


class _Cut(Exception):
    """The process ended here."""


async def test_a_deletion_that_was_cut_off_anywhere_goes_on_when_it_is_repeated(
    world: World, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await busy(world)
    call = client.call
    left = 5

    async def cut(operation: str, request: Any) -> dict[str, Any]:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Cut
        return await call(operation, request)

    times = 0
    while True:
        monkeypatch.setattr(client, "call", cut)
        try:
            await world.service.delete_my_account(OLGA)
            break
        except _Cut:
            times += 1
            left = 5 + times * 3
        finally:
            monkeypatch.setattr(client, "call", call)
    assert times > 3
    assert await stored(world, client, "olga") == []
