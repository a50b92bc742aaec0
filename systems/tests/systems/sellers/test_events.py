"""What Sellers announces."""

from __future__ import annotations

from keyfold.streams import AsyncConsumer, Event, Queue
from keyfold_systems.sellers.payloads import NewInvite, OrderChanges, SeasonChanges

from .conftest import MIA, OLGA, World


async def announced(world: World) -> list[Event]:
    queue = Queue("news")
    await AsyncConsumer(world.db, sinks=[queue]).drain()
    return await world.db.run(queue.messages(world.db.context))


async def test_every_change_is_announced_once(world: World) -> None:
    service = world.service
    await world.account(OLGA, MIA)
    profile = await world.profile()
    await service.update_seller_profile(profile, "Olga's pies", OLGA)
    catalog = await world.catalog()
    season = (await world.season(profile, catalog.catalog_id)).season_id
    await service.update_season(season, SeasonChanges(season_name="Summer"), OLGA)
    order = (await world.order(season)).order_id
    await service.update_order(order, OrderChanges(customer_name="Mr. Roe"), OLGA)
    invite = NewInvite(profile_id=profile, permissions=("READ",))
    code = (await service.create_profile_invite(invite, OLGA)).invite_code
    await service.redeem_profile_invite(code, MIA)
    await service.revoke_share(profile, "mia", OLGA)
    await service.delete_seller_profile(profile, OLGA)
    await service.delete_catalog(catalog.catalog_id, OLGA)
    assert sorted(one.name for one in await announced(world)) == [
        "AccountCreated",
        "AccountCreated",
        "CatalogCreated",
        "CatalogDeleted",
        "InviteCreated",
        "InviteEnded",
        "InviteRedeemed",
        "OrderChanged",
        "OrderDeleted",
        "OrderPlaced",
        "ProfileCreated",
        "ProfileDeleted",
        "ProfileRenamed",
        "ProfileShared",
        "SeasonChanged",
        "SeasonDeleted",
        "SeasonStarted",
        "ShareRevoked",
    ]


async def test_events_have_no_codes_phone_numbers_or_notes(world: World) -> None:
    profile = await world.profile()
    season = (await world.season(profile, (await world.catalog()).catalog_id)).season_id
    order = (await world.order(season)).order_id
    changes = OrderChanges(customer_phone="555-0100", notes="By the door", customer_name="Roe")
    await world.service.update_order(order, changes, OLGA)
    invite = NewInvite(profile_id=profile, permissions=("READ",))
    code = (await world.service.create_profile_invite(invite, OLGA)).invite_code
    told = str([one.body() for one in await announced(world)])
    assert "Roe" in told
    assert [secret for secret in ("555-0100", "By the door", code) if secret in told] == []
