"""What the operations of Sellers do."""

from __future__ import annotations

import asyncio
import base64
import csv
import io
import re
from datetime import date, timedelta
from decimal import Decimal

import pytest
from pydantic import ValidationError
from tests.systems.conftest import Recorder

from keyfold.errors import ConditionFailed, NotFound, UniqueTaken
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_systems.sellers import design
from keyfold_systems.sellers.entities import Profile
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.values import Permissions, Product
from keyfold_systems.sellers.views import (
    CatalogChange,
    NewAccount,
    NewCatalog,
    NewInvite,
    NewOrder,
    NewShare,
    OrderChange,
    OrderLine,
    SeasonChange,
)
from keyfold_web import Conflict, Invalid, Missing, NotAllowed, PageRequest

from .conftest import MIA, OLGA, ROOT, SAM, World

PAGE = PageRequest()


async def test_an_account_is_found_by_id_and_by_address_in_any_case(world: World) -> None:
    service = world.service
    await service.create_my_account(NewAccount(email="Olga@Example.org"), caller=OLGA)
    assert (await service.get_my_account(OLGA)).email == "olga@example.org"
    assert (await service.get_account_by_email("OLGA@example.org")).account_id == "olga"


async def test_an_address_has_one_account(world: World) -> None:
    await world.service.create_my_account(NewAccount(email="a@b.org"), caller=OLGA)
    with pytest.raises(UniqueTaken):
        await world.service.create_my_account(NewAccount(email="A@B.org"), caller=MIA)


async def test_my_profiles_come_in_the_order_of_their_creation(world: World) -> None:
    names = [f"Seller {n}" for n in range(7)]
    for name in names:
        await world.profile(name=name)
    await world.profile(MIA, "Mia's")
    found = await world.service.list_my_profiles(PAGE, OLGA)
    assert [p.seller_name for p in found] == names
    assert all(p.is_owner and p.permissions == ["READ", "WRITE"] for p in found)


async def test_a_rename_reaches_those_it_is_shared_with(world: World) -> None:
    profile = await world.profile()
    await world.share(profile)
    await world.service.update_seller_profile(profile, "New name", caller=OLGA)
    (shown,) = await world.service.list_shared_profiles(PAGE, MIA)
    assert (shown.seller_name, shown.is_owner, shown.permissions) == ("New name", False, ["READ"])


async def test_shared_profiles_show_the_profiles_own_times(world: World) -> None:
    profile = await world.profile()
    await asyncio.sleep(0.002)
    await world.share(profile)
    own = await world.service.get_seller_profile(profile, OLGA)
    (shown,) = await world.service.list_shared_profiles(PAGE, MIA)
    assert (shown.created_at, shown.updated_at) == (own.created_at, own.updated_at)


async def test_a_list_of_helpers_has_their_names(world: World) -> None:
    profile = await world.profile()
    await world.share(profile)
    (shown,) = await world.service.list_shares_by_profile(profile, PAGE, OLGA)
    assert (shown.given_name, shown.email) == ("Mia", "mia@example.org")


async def test_only_accounts_get_shares(world: World) -> None:
    profile = await world.profile()
    new = NewShare(profile_id=profile, target_account_id="ghost", permissions=("READ",))
    with pytest.raises(Invalid, match="no account has it"):
        await world.service.share_profile_direct(new, OLGA)
    code = await invite(world, profile)
    with pytest.raises(Conflict, match="Create your account first"):
        await world.service.redeem_profile_invite(code, MIA)
    await world.account(MIA)
    assert (await world.service.redeem_profile_invite(code, MIA)).profile_id == profile


async def test_a_share_is_for_one_address_or_one_id(world: World) -> None:
    await world.account(MIA, SAM)
    profile = await world.profile()
    given = {"profile_id": profile, "permissions": ["READ"]}
    for to in ({}, {"target_account_id": "mia", "target_account_email": "sam@example.org"}):
        with pytest.raises(Invalid, match="give an address or an account id"):
            await world.service.share_profile_direct(NewShare.model_validate(given | to), OLGA)
    new = NewShare.model_validate(given | {"target_account_email": " Mia@Example.org "})
    assert (await world.service.share_profile_direct(new, OLGA)).target_account_id == "mia"


@pytest.mark.parametrize(
    ("by", "value", "said"),
    [
        ("target_account_id", "olga", "targetAccountId"),
        ("target_account_email", "olga@example.org", "targetAccountEmail"),
    ],
)
async def test_an_owner_gets_no_share_and_is_told_where_it_was_asked(
    world: World, by: str, value: str, said: str
) -> None:
    await world.account(OLGA)
    given = {"profile_id": await world.profile(), "permissions": ["READ"], by: value}
    with pytest.raises(Invalid, match=f"^{said}: the owner"):
        await world.service.share_profile_direct(NewShare.model_validate(given), OLGA)


@pytest.mark.parametrize("given", [["WRITE", "READ"], ["READ", "READ", "WRITE"]])
def test_permissions_are_each_given_once(given: list[str]) -> None:
    for new in (NewShare, NewInvite):
        made = new.model_validate({"profile_id": "p", "permissions": given})
        assert made.permissions == ("READ", "WRITE")


@pytest.mark.parametrize(
    ("permissions", "reads", "writes"),
    [(None, False, False), (("READ",), True, False), (("WRITE",), True, True)],
)
async def test_permissions_decide_about_everything_in_a_profile(
    world: World, permissions: Permissions | None, reads: bool, writes: bool
) -> None:
    service = world.service
    profile = await world.profile()
    catalog = await world.catalog(public=True)
    season = await world.season(profile, catalog.catalog_id)
    order = await world.order(season.season_id)
    if permissions is not None:
        await world.share(profile, MIA, permissions)
    reading = [
        lambda: service.get_seller_profile(profile, MIA),
        lambda: service.list_seasons_by_profile(profile, PAGE, MIA),
        lambda: service.get_season(season.season_id, MIA),
        lambda: service.list_orders_by_season(season.season_id, PAGE, MIA),
        lambda: service.list_orders_by_profile(profile, PAGE, MIA),
        lambda: service.get_order(order.order_id, MIA),
        lambda: service.request_season_report(season.season_id, MIA),
    ]
    writing = [
        lambda: service.update_seller_profile(profile, "x", MIA),
        lambda: service.update_season(season.season_id, SeasonChange(season_name="x"), MIA),
        lambda: world.order(season.season_id, caller=MIA),
        lambda: service.update_order(order.order_id, OrderChange(notes="x"), MIA),
        lambda: service.delete_order(order.order_id, MIA),
    ]
    owning = [
        lambda: service.list_shares_by_profile(profile, PAGE, MIA),
        lambda: service.list_invites_by_profile(profile, PAGE, MIA),
        lambda: service.create_profile_invite(
            NewInvite(profile_id=profile, permissions=("READ",)), MIA
        ),
        lambda: service.delete_seller_profile(profile, MIA),
    ]
    for allowed, calls in ((reads, reading), (writes, writing), (False, owning)):
        for call in calls:
            if allowed:
                await call()  # type: ignore[no-untyped-call]
            else:
                with pytest.raises(NotAllowed):
                    await call()  # type: ignore[no-untyped-call]


async def test_an_administrator_by_group_sees_every_profile(world: World) -> None:
    profile = await world.profile()
    assert (await world.service.get_seller_profile(profile, ROOT)).seller_name == "Olga's cookies"


async def test_sharing_twice_leaves_one_share_with_the_last_permissions(world: World) -> None:
    profile = await world.profile()
    await world.share(profile)
    await world.share(profile, permissions=("READ", "WRITE"))
    found = await world.service.list_shares_by_profile(profile, PAGE, OLGA)
    assert [list(s.permissions) for s in found] == [["READ", "WRITE"]]


async def test_a_revoked_share_gives_nothing(world: World) -> None:
    profile = await world.profile()
    await world.share(profile)
    await world.service.revoke_share(profile, "mia", OLGA)
    with pytest.raises(NotAllowed):
        await world.service.get_seller_profile(profile, MIA)
    assert list(await world.service.list_shared_profiles(PAGE, MIA)) == []
    with pytest.raises(NotFound):
        await world.service.revoke_share(profile, "mia", OLGA)


async def invite(world: World, profile: str) -> str:
    input = NewInvite(profile_id=profile, permissions=("READ", "WRITE"))
    return (await world.service.create_profile_invite(input, OLGA)).invite_code


async def test_an_invite_becomes_a_share_once(world: World) -> None:
    service = world.service
    await world.account(MIA, SAM)
    profile = await world.profile()
    code = await invite(world, profile)
    assert (await service.get_invite_details(code)).seller_name == "Olga's cookies"
    results = await asyncio.gather(
        *(service.redeem_profile_invite(code, who) for who in (MIA, SAM, MIA)),
        return_exceptions=True,
    )
    assert sum(1 for one in results if not isinstance(one, Conflict | ConditionFailed)) == 1
    assert len(await service.list_shares_by_profile(profile, PAGE, OLGA)) == 1
    (used,) = await service.list_invites_by_profile(profile, PAGE, OLGA)
    assert used.used_at is not None
    assert used.used_by_name == (used.used_by_account_id or "").title()


async def test_an_expired_invite_is_worthless_before_anything_deletes_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = await world.profile()
    code = await invite(world, profile)
    later = world.db.context.now() + timedelta(days=15)
    monkeypatch.setattr("keyfold_engine.clock.SystemClock.now", lambda _: later.timestamp())
    with pytest.raises(Missing):
        await world.service.redeem_profile_invite(code, MIA)
    assert list(await world.service.list_invites_by_profile(profile, PAGE, OLGA)) == []


async def test_a_revoked_invite_is_gone(world: World) -> None:
    code = await invite(world, await world.profile())
    await world.service.revoke_profile_invite(code, OLGA)
    with pytest.raises(Missing):
        await world.service.get_invite_details(code)


async def test_seasons_and_orders_come_in_the_order_of_their_creation(world: World) -> None:
    profile = await world.profile()
    catalog = await world.catalog()
    seasons = [await world.season(profile, catalog.catalog_id, f"S{n}") for n in range(3)]
    orders = [await world.order(seasons[n % 3].season_id, n + 1) for n in range(9)]
    service = world.service
    listed = await service.list_seasons_by_profile(profile, PAGE, OLGA)
    assert [s.season_id for s in listed] == [s.season_id for s in seasons]
    first = await service.list_orders_by_season(seasons[0].season_id, PAGE, OLGA)
    assert [o.order_id for o in first] == [o.order_id for o in orders[::3]]
    everything, cursor = [], None
    while True:
        page = await service.list_orders_by_profile(profile, PageRequest(4, cursor), OLGA)
        everything += [o.order_id for o in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert everything == [o.order_id for o in orders]


async def test_an_order_is_one_get_item_by_its_season_and_a_query_by_its_id(
    world: World, client: Recorder
) -> None:
    season = await world.season(await world.profile(), (await world.catalog()).catalog_id)
    order = await world.order(season.season_id)
    for known, request in ((season.season_id, "GetItem"), (None, "Query")):
        client.requests.clear()
        assert await world.service.get_order(order.order_id, OLGA, known) == order
        assert client.requests[0][0] == request


async def test_an_order_is_not_found_under_another_season(world: World) -> None:
    profile, catalog = await world.profile(), (await world.catalog()).catalog_id
    order = await world.order((await world.season(profile, catalog)).season_id)
    other = await world.season(profile, catalog, "Summer")
    with pytest.raises(Missing):
        await world.service.get_order(order.order_id, OLGA, other.season_id)


async def test_an_orders_total_follows_its_lines(world: World) -> None:
    season = await world.season(await world.profile(), (await world.catalog()).catalog_id)
    order = await world.order(season.season_id, 3)
    assert order.total_amount == Decimal("16.50")
    changes = OrderChange(line_items=[OrderLine(product_id="oat", quantity=2)])
    changed = await world.service.update_order(order.order_id, changes, OLGA)
    assert changed.total_amount == Decimal(8)
    assert await world.service.get_order(order.order_id, OLGA) == changed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"product_id": "pie"}, "Cookies has no product 'pie'$"),
        ({"product_id": "mint", "price_per_unit": "5.00"}, "it is Thin mint at 5.50"),
        ({"product_id": "mint", "product_name": "Mint"}, "it is Thin mint at 5.50"),
    ],
)
async def test_order_lines_are_those_of_the_catalog(
    world: World, line: dict[str, str], said: str
) -> None:
    season = await world.season(await world.profile(), (await world.catalog()).catalog_id)
    order = await world.order(season.season_id)
    wrong = OrderLine.model_validate({**line, "quantity": 1})
    with pytest.raises(Invalid, match=said):
        await world.service.update_order(order.order_id, OrderChange(line_items=[wrong]), OLGA)
    new = NewOrder(
        season_id=season.season_id,
        customer_name="Ms. Doe",
        line_items=[wrong],
        payment_method="CASH",
        order_date=date(2026, 3, 2),
    )
    with pytest.raises(Invalid, match=said):
        await world.service.create_order(new, OLGA)
    assert len(await world.service.list_orders_by_season(season.season_id, PAGE, OLGA)) == 1


async def test_a_new_price_leaves_what_was_agreed_on(world: World) -> None:
    catalog = await world.catalog()
    season = await world.season(await world.profile(), catalog.catalog_id)
    order = await world.order(season.season_id)
    dearer = [Product(product_id="mint", product_name="Thin mint", price=Decimal(7))]
    await world.service.update_catalog(catalog.catalog_id, CatalogChange(products=dearer), OLGA)
    more = OrderChange(line_items=[OrderLine(product_id="mint", quantity=4)])
    changed = await world.service.update_order(order.order_id, more, OLGA)
    assert changed.total_amount == Decimal(22)
    assert (await world.order(season.season_id, 1)).total_amount == Decimal(7)


async def test_null_takes_a_value_away_and_what_is_left_out_stays(world: World) -> None:
    season = await world.season(await world.profile(), (await world.catalog()).catalog_id)
    order = await world.order(season.season_id)
    service = world.service
    await service.update_order(order.order_id, OrderChange(notes="x", customer_phone="1"), OLGA)
    changed = await service.update_order(order.order_id, OrderChange(notes=None), OLGA)
    assert (changed.notes, changed.customer_phone) == (None, "1")
    ending = SeasonChange(end_date=date(2026, 5, 1))
    assert (await service.update_season(season.season_id, ending, OLGA)).end_date is not None
    open_again = await service.update_season(season.season_id, SeasonChange(end_date=None), OLGA)
    assert open_again.end_date is None


async def test_a_report_can_be_saved_as_csv(world: World) -> None:
    season = await world.season(await world.profile(), (await world.catalog()).catalog_id)
    await world.order(season.season_id, 2)
    as_csv = await world.service.request_season_report(season.season_id, OLGA)
    text = base64.b64decode(as_csv.content).decode("utf-8-sig")
    heading, row = csv.reader(io.StringIO(text))
    assert dict(zip(heading, row, strict=True))["Amount"] == "11.00"


async def test_deleting_a_profile_leaves_nothing_of_it(world: World) -> None:
    service = world.service
    profile = await world.profile()
    catalog = await world.catalog()
    season = await world.season(profile, catalog.catalog_id)
    order = await world.order(season.season_id)
    await world.share(profile)
    code = await invite(world, profile)
    await service.delete_seller_profile(profile, OLGA)
    for table in ("ProfilesByOwner", "Shares", "Invites", "SeasonsByProfile", "OrdersBySeason"):
        answer = await world.db.client.call("Scan", {"TableName": f"Sellers{table}"})
        assert (table, answer["Items"]) == (table, [])
    for call in (
        service.get_seller_profile(profile, OLGA),
        service.get_season(season.season_id, OLGA),
        service.get_order(order.order_id, OLGA),
        service.get_invite_details(code),
    ):
        with pytest.raises(Missing):
            await call
    assert list(await service.list_shared_profiles(PAGE, MIA)) == []
    await service.delete_catalog(catalog.catalog_id, OLGA)


async def test_a_deletion_that_was_cut_off_lets_nothing_in_and_can_be_repeated(
    world: World,
) -> None:
    service = world.service
    profile = await world.profile()
    catalog = await world.catalog()
    now = world.db.context.now()
    ref = Profile.key(owner_account_id="olga", profile_id=profile)
    await world.db.update(ref, deleting_since=now)
    with pytest.raises(Missing):
        await world.season(profile, catalog.catalog_id)
    assert list(await service.list_my_profiles(PAGE, OLGA)) == []
    await service.delete_seller_profile(profile, OLGA)
    with pytest.raises(Missing):
        await service.delete_seller_profile(profile, OLGA)


def test_a_catalog_has_each_product_once() -> None:
    mint = {"productId": "mint", "productName": "Thin mint", "price": "5"}
    with pytest.raises(ValidationError, match="an id of its own"):
        NewCatalog.model_validate({"catalogName": "Cookies", "products": [mint, mint]})
    with pytest.raises(ValidationError, match="an id of its own"):
        CatalogChange.model_validate({"products": [mint, mint]})


@pytest.mark.parametrize("blank", ["productId", "productName"])
def test_a_product_has_a_name_and_an_id(blank: str) -> None:
    pie = {"productId": " pie ", "productName": " Pie ", "price": "3.50"}
    (made,) = NewCatalog.model_validate({"catalogName": "Pies", "products": [pie]}).products
    assert (made.product_id, made.product_name) == ("pie", "Pie")
    with pytest.raises(ValidationError):
        CatalogChange.model_validate({"products": [pie | {blank: "  "}]})


async def test_a_catalog_in_use_is_not_deleted(world: World) -> None:
    profile = await world.profile()
    catalog = await world.catalog()
    season = await world.season(profile, catalog.catalog_id)
    with pytest.raises(Conflict):
        await world.service.delete_catalog(catalog.catalog_id, OLGA)
    used = await world.service.list_catalog_usage(catalog.catalog_id, PAGE, OLGA)
    assert [s.season_id for s in used] == [season.season_id]
    other = await world.catalog()
    changes = SeasonChange(catalog_id=other.catalog_id)
    await world.service.update_season(season.season_id, changes, OLGA)
    await world.service.delete_catalog(catalog.catalog_id, OLGA)
    with pytest.raises(Conflict):
        await world.service.delete_catalog(other.catalog_id, OLGA)


async def test_no_season_ever_sells_from_a_deleted_catalog(world: World) -> None:
    """Deletions and new seasons at the same time, many times over."""
    profile = await world.profile()
    for _ in range(25):
        catalog = (await world.catalog()).catalog_id
        results = await asyncio.gather(
            world.season(profile, catalog),
            world.service.delete_catalog(catalog, OLGA),
            world.season(profile, catalog),
            return_exceptions=True,
        )
        started = [r for r in (results[0], results[2]) if not isinstance(r, Missing | NotFound)]
        deleted = results[1] is None
        assert deleted == (not started)


async def test_public_catalogs_come_newest_first_and_own_ones_apart(world: World) -> None:
    public = [(await world.catalog(public=True)).catalog_id for _ in range(4)]
    own = await world.catalog(MIA)
    found = await world.service.list_public_catalogs(PAGE)
    assert [c.catalog_id for c in found] == public[::-1]
    mine = await world.service.list_my_catalogs(PAGE, MIA)
    assert [c.catalog_id for c in mine] == [own.catalog_id]


async def test_a_catalog_that_becomes_private_leaves_the_public_list(world: World) -> None:
    catalog = await world.catalog(public=True)
    ref = catalog.catalog_id
    await world.service.update_catalog(ref, CatalogChange(is_public_str="false"), OLGA)
    assert list(await world.service.list_public_catalogs(PAGE)) == []
    await world.service.update_catalog(ref, CatalogChange(is_public_str="true"), OLGA)
    (shown,) = await world.service.list_public_catalogs(PAGE)
    assert shown.catalog_id == ref


async def test_a_catalog_from_before_that_nothing_sells_from_is_deleted(world: World) -> None:
    catalog = await world.catalog()
    request = {
        "TableName": "SellersCatalogs",
        "Key": {"catalogId": {"S": f"CATALOG#{catalog.catalog_id}"}},
        "UpdateExpression": "REMOVE seasons",
    }
    await world.db.client.call("UpdateItem", request)
    await world.service.delete_catalog(catalog.catalog_id, OLGA)
    with pytest.raises(Missing):
        await world.service.get_catalog(catalog.catalog_id, OLGA)


async def test_shared_profiles_are_one_query_and_two_batches(world: World) -> None:
    for number in range(5):
        profile = await world.profile(name=f"P{number}")
        await world.share(profile)
    with world.db.work("shared profiles", requests=3):
        found = await world.service.list_shared_profiles(PAGE, MIA)
    assert sorted(p.seller_name for p in found) == [f"P{n}" for n in range(5)]


async def test_invites_of_a_deleted_profile_go_or_are_worthless_although_indexes_lag() -> None:
    with Engine.open(":memory:", index_lag=3600.0) as engine:
        db = await design.design.open_async(AsyncEmbeddedClient(engine))
        world = World(Sellers(db), db)
        profile = await world.profile()
        seen = await invite(world, profile)
        engine.release_indexes()
        unseen = await invite(world, profile)
        await world.account(MIA)
        await world.service.delete_seller_profile(profile, OLGA)
        answer = await db.client.call("Scan", {"TableName": "SellersInvites"})
        assert [one["inviteCode"]["S"] for one in answer["Items"]] == [unseen]
        for code in (seen, unseen):
            with pytest.raises((Missing, NotFound)):
                await world.service.redeem_profile_invite(code, MIA)


async def test_what_the_document_waited_for_is_there_at_once_although_indexes_lag() -> None:
    client = AsyncEmbeddedClient(Engine.open(":memory:", index_lag=3600.0))
    db = await design.design.open_async(client)
    world = World(Sellers(db), db)
    service = world.service
    profile = await world.profile()
    assert [p.profile_id for p in await service.list_my_profiles(PAGE, OLGA)] == [profile]
    season = await world.season(profile, (await world.catalog()).catalog_id)
    listed = await service.list_seasons_by_profile(profile, PAGE, OLGA)
    assert [s.season_id for s in listed] == [season.season_id]
    order = await world.order(season.season_id, profile_id=profile)
    orders = await service.list_orders_by_season(season.season_id, PAGE, OLGA, profile)
    assert [o.order_id for o in orders] == [order.order_id]
    assert await service.get_order(order.order_id, OLGA, season.season_id) == order
    code = await invite(world, profile)
    await world.account(MIA)
    await service.redeem_profile_invite(code, MIA)
    assert (await service.get_seller_profile(profile, MIA)).permissions == ["READ", "WRITE"]
    assert await service.get_season(season.season_id, MIA, profile) == season
    await client.close()


async def test_what_an_index_does_not_show_yet_is_refused() -> None:
    client = AsyncEmbeddedClient(Engine.open(":memory:", index_lag=3600.0))
    db = await design.design.open_async(client)
    world = World(Sellers(db), db)
    service = world.service
    profile, catalog = await world.profile(), await world.catalog()
    season = await world.season(profile, catalog.catalog_id)
    order = await world.order(season.season_id, profile_id=profile)
    for call in (
        service.get_season(season.season_id, OLGA),
        service.delete_season(season.season_id, MIA),
        service.delete_season(season.season_id, MIA, profile),
        service.get_order(order.order_id, MIA, season.season_id),
        service.delete_order(order.order_id, MIA),
        service.delete_seller_profile(profile, MIA),
        service.get_seller_profile(profile, MIA),
    ):
        with pytest.raises(Missing):
            await call
    with pytest.raises(NotAllowed):
        await service.get_catalog(catalog.catalog_id, MIA)
    with pytest.raises(Conflict):
        await service.delete_catalog(catalog.catalog_id, OLGA)
    await client.close()


async def test_a_code_is_like_the_documents(world: World) -> None:
    code = await invite(world, await world.profile())
    assert re.fullmatch("[0-9A-F]{8}-[0-9A-F]", code)
