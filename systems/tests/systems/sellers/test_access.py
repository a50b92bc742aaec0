"""Who may do what in Sellers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from typing import cast

import pytest
from tests.systems.access import Matrix, Scene, fresh

from keyfold_systems.sellers import design
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.views import NewInvite, NewSeason
from keyfold_web import ANONYMOUS, Identity, NotAllowed, PageRequest

from .conftest import MIA, OLGA, ROOT, SAM, World

RITA, WANDA = Identity.of("rita"), Identity.of("wanda")
MATRIX = Matrix(
    """
    operation              anonymous  stranger  reader  writer  owner  admin
    createMyAccount        401        yes       409     409     409    409
    getMyAccount           401        404       yes     yes     yes    yes
    updateMyAccount        401        404       yes     yes     yes    yes
    getAccountByEmail      401        403       403     403     403    yes

    createSellerProfile    401        yes       yes     yes     yes    yes
    getSellerProfile       401        403       yes     yes     yes    yes
    listMyProfiles         401        yes       yes     yes     yes    yes
    updateSellerProfile    401        403       403     yes     yes    yes
    deleteSellerProfile    401        403       403     403     yes    yes

    shareProfileDirect     401        403       403     403     yes    yes
    revokeShare            401        403       yes     403     yes    yes
    getShare               401        403       yes     403     yes    yes
    listSharesByProfile    401        403       403     403     yes    yes
    listSharedProfiles     401        yes       yes     yes     yes    yes

    createProfileInvite    401        403       403     403     yes    yes
    redeemProfileInvite    401        409       yes     yes     409    yes
    revokeProfileInvite    401        403       403     403     yes    yes
    listInvitesByProfile   401        403       403     403     yes    yes
    getInviteDetails       401        yes       yes     yes     yes    yes

    createSeason           401        403       403     yes     yes    yes
    createSeason/private   401        403       403     403     yes    yes
    getSeason              401        403       yes     yes     yes    yes
    listSeasonsByProfile   401        403       yes     yes     yes    yes
    updateSeason           401        403       403     yes     yes    yes
    updateSeason/private   401        403       403     403     yes    yes
    deleteSeason           401        403       403     yes     yes    yes

    createOrder            401        403       403     yes     yes    yes
    getOrder               401        403       yes     yes     yes    yes
    listOrdersBySeason     401        403       yes     yes     yes    yes
    listOrdersByProfile    401        403       yes     yes     yes    yes
    updateOrder            401        403       403     yes     yes    yes
    deleteOrder            401        403       403     yes     yes    yes
    requestSeasonReport    401        403       yes     yes     yes    yes

    createCatalog          401        yes       yes     yes     yes    yes
    getCatalog             401        yes       yes     yes     yes    yes
    getCatalog/private     401        403       403     403     yes    yes
    listMyCatalogs         401        yes       yes     yes     yes    yes
    listPublicCatalogs     401        yes       yes     yes     yes    yes
    updateCatalog          401        403       403     403     yes    yes
    listCatalogUsage       401        403       403     403     yes    yes
    deleteCatalog          401        403       403     403     yes    yes

    """,
    {
        "anonymous": ANONYMOUS,
        "stranger": SAM,
        "reader": RITA,
        "writer": WANDA,
        "owner": OLGA,
        "admin": ROOT,
    },
    {
        "createMyAccount": {"input": {"email": "new@example.org"}},
        "updateMyAccount": {"input": {"givenName": "Somebody"}},
        "createSellerProfile": {"sellerName": "Pies"},
        "updateSellerProfile": {"sellerName": "Cookies and pies"},
        "shareProfileDirect": {
            "input": {
                "profileId": "{profileId}",
                "targetAccountId": "rita",
                "permissions": ["READ"],
            }
        },
        "createProfileInvite": {"input": {"profileId": "{profileId}", "permissions": ["READ"]}},
        "createSeason": {
            "input": {
                "profileId": "{profileId}",
                "seasonName": "Summer",
                "catalogId": "{catalogId}",
                "startDate": "2026-06-01",
            }
        },
        "createSeason/private": {
            "input": {
                "profileId": "{profileId}",
                "seasonName": "Summer",
                "catalogId": "{privateId}",
                "startDate": "2026-06-01",
            }
        },
        "updateSeason": {"input": {"seasonName": "Early spring"}},
        "updateSeason/private": {"input": {"catalogId": "{privateId}"}},
        "createOrder": {
            "input": {
                "seasonId": "{seasonId}",
                "customerName": "Mr. Roe",
                "lineItems": [{"productId": "oat", "quantity": 1}],
                "paymentMethod": "CASH",
                "orderDate": "2026-03-03",
            }
        },
        "updateOrder": {"input": {"notes": "By the door"}},
        "createCatalog": {
            "input": {
                "catalogName": "Pies",
                "products": [{"productId": "p", "productName": "Pie", "price": "3.50"}],
            }
        },
        "getCatalog/private": {"catalogId": "{privateId}"},
        "updateCatalog": {"input": {"catalogName": "Cookies of the year"}},
        "deleteCatalog": {"catalogId": "{privateId}"},
    },
)


@asynccontextmanager
async def selling() -> AsyncIterator[Scene]:
    """Olga's profile, which Rita may read and Wanda write, with a season and all that is in it."""
    async with fresh(design.design, datetime.fromtimestamp(time.time(), UTC)) as db:
        world = World(Sellers(db), db)
        service = world.service
        await world.account(RITA, WANDA, OLGA, ROOT)
        profile = await world.profile()
        await world.share(profile, RITA, ("READ",))
        await world.share(profile, WANDA, ("WRITE",))
        catalog, private = await world.catalog(public=True), await world.catalog()
        season = await world.season(profile, catalog.catalog_id)
        order = await world.order(season.season_id)
        new = NewInvite(profile_id=profile, permissions=("READ",))
        invite = await service.create_profile_invite(new, caller=OLGA)
        yield Scene(
            service,
            {
                "accountId": "olga",
                "userId": "olga",
                "email": "olga@example.org",
                "profileId": profile,
                "targetAccountId": "rita",
                "inviteCode": invite.invite_code,
                "seasonId": season.season_id,
                "orderId": order.order_id,
                "catalogId": catalog.catalog_id,
                "privateId": private.catalog_id,
            },
        )


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(Sellers)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, selling)


async def test_a_catalogs_owner_learns_nothing_of_others_seasons_but_that_they_are(
    world: World,
) -> None:
    catalog = await world.catalog(MIA, public=True)
    season = await world.season(await world.profile(), catalog.catalog_id, "Secret sale")
    (found,) = await world.service.list_catalog_usage(catalog.catalog_id, PageRequest(), MIA)
    assert found.model_dump() == {"season_id": season.season_id, "profile_id": season.profile_id}


async def test_nobody_loses_permissions_by_redeeming_a_code(world: World) -> None:
    service = world.service
    profile = await world.profile()
    await world.share(profile, WANDA, ("WRITE",))
    new = NewInvite(profile_id=profile, permissions=("READ",))
    code = (await service.create_profile_invite(new, caller=OLGA)).invite_code
    assert (await service.redeem_profile_invite(code, WANDA)).permissions == ["READ", "WRITE"]
    assert (await service.get_seller_profile(profile, WANDA)).permissions == ["READ", "WRITE"]


async def test_a_private_catalog_is_seen_with_a_season_that_sells_from_it() -> None:
    async with selling() as scene:
        service, ids = cast("Sellers", scene.service), scene.there
        season = NewSeason(
            profile_id=ids["profileId"],
            season_name="Autumn",
            catalog_id=ids["privateId"],
            start_date=date(2026, 9, 1),
        )
        await service.create_season(season, caller=OLGA)
        for helper in (RITA, WANDA):
            assert (await service.get_catalog(ids["privateId"], helper)).products
        with pytest.raises(NotAllowed):
            await service.get_catalog(ids["privateId"], SAM)
