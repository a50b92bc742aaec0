"""Every query pattern of the proposed tables: exactly the request that it makes, and its answer."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.systems.conftest import Recorder
from tests.systems.patterns import Request, Row, get_item, query

from keyfold import AsyncDb, Entity
from keyfold_engine.clock import ManualClock
from keyfold_systems.sellers import entities as e
from keyfold_systems.sellers import patterns as s
from keyfold_systems.sellers.design import design
from keyfold_systems.sellers.entities import (
    Account,
    Catalog,
    Invite,
    Order,
    Profile,
    Season,
    Share,
)
from keyfold_systems.sellers.values import LineItem, Product

START = datetime.fromisoformat("2031-01-01T00:00:00Z")
Stored = dict[str, Any]
"""What is stored, as it is read back, by names of this file."""


def by_key(table: str, attribute: str, value: str) -> Request:
    request = {"TableName": table, "Key": {attribute: {"S": value}}, "ConsistentRead": True}
    return "GetItem", request


def listed(table: str, partition: str, prefix: str, **more: Any) -> Request:
    """A consistent query of a table."""
    values = [{"S": partition}, {"S": prefix}]
    more = {"Limit": 50, "ConsistentRead": True, **more}
    return query(table, "#0 = :0 AND begins_with(#1, :1)", ["PK", "SK"], values, **more)


def _newest(table: str, partition: str, prefix: str) -> Request:
    operation, asked = listed(table, partition, prefix, ScanIndexForward=False)
    return operation, {name: one for name, one in asked.items() if name != "ConsistentRead"}


def in_order(table: str, partition: str) -> Request:
    """A consistent query of the local index."""
    more = {"Limit": 50, "IndexName": "createdAt-index", "ConsistentRead": True}
    return query(table, "#0 = :0", ["PK"], [{"S": partition}], **more)


def indexed(table: str, index: str, attribute: str, value: str, **more: Any) -> Request:
    more = {"Limit": 50, "IndexName": index, **more}
    return query(table, "#0 = :0", [attribute], [{"S": value}], **more)


def answer(*names: str) -> Any:
    return lambda stored: [stored[name] for name in names]


def one(name: str) -> Any:
    return lambda stored: stored[name]


def copied(pointer: type[Entity], *names: str) -> Any:
    """The pointers to what is stored, with what they show of it."""
    return lambda stored: [_shown(pointer, stored[name]) for name in names]


def pointer_to(pointer: type[Entity], name: str) -> Any:
    return lambda stored: _shown(pointer, stored[name])


def _shown(pointer: type[Entity], canonical: Entity) -> Entity:
    return pointer(**{field: getattr(canonical, field) for field in pointer.model_fields})


ROWS: dict[str, Row[Stored]] = {
    "account": Row(
        lambda db: s.account(db, "olga"),
        [by_key("SellersAccounts", "accountId", "ACCOUNT#olga")],
        one("olga"),
    ),
    "account_by_email": Row(
        lambda db: s.account_by_email(db, "olga@example.com"),
        [indexed("SellersAccounts", "email-index", "email", "olga@example.com", Limit=1)],
        one("olga"),
    ),
    "profile_by_id": Row(
        lambda db: s.profile_by_id(db, "p1"),
        [get_item("SellersProfilesByOwner", "PROFILE#p1", "PROFILE")],
        one("p1"),
    ),
    "my_profiles": Row(
        lambda db: s.my_profiles(db, "olga"),
        [in_order("SellersProfilesByOwner", "ACCOUNT#olga")],
        copied(e.ProfileOfOwner, "p1", "p2"),
    ),
    "share": Row(
        lambda db: s.share(db, "p1", "mia"),
        [get_item("SellersShares", "PROFILE#p1", "ACCOUNT#mia")],
        one("p1 with mia"),
    ),
    "shares_of_profile": Row(
        lambda db: s.shares_of_profile(db, "p1"),
        [listed("SellersShares", "PROFILE#p1", "ACCOUNT#")],
        answer("p1 with mia", "p1 with sam"),
    ),
    "shared_with": Row(
        lambda db: s.shared_with(db, "mia"),
        [
            query(
                "SellersShares",
                "#0 = :0",
                ["targetAccountId"],
                [{"S": "mia"}],
                IndexName="targetAccountId-index",
                Limit=50,
            )
        ],
        answer("p1 with mia", "p2 with mia"),
    ),
    "invite": Row(
        lambda db: s.invite(db, "CODE1"),
        [by_key("SellersInvites", "inviteCode", "CODE1")],
        one("invite1"),
    ),
    "invites_of_profile": Row(
        lambda db: s.invites_of_profile(db, "p1"),
        [
            query(
                "SellersInvites",
                "#0 = :0",
                ["profileId", "expiresAt"],
                [{"S": "p1"}, {"N": str(int(START.timestamp()))}],
                IndexName="profileId-index",
                FilterExpression="(attribute_not_exists(#1) OR #1 > :1)",
                Limit=50,
            )
        ],
        answer("invite1", "invite2"),
    ),
    "season_by_id": Row(
        lambda db: s.season_by_id(db, "s1"),
        [get_item("SellersSeasonsByProfile", "SEASON#s1", "SEASON")],
        one("s1"),
    ),
    "seasons_of_profile": Row(
        lambda db: s.seasons_of_profile(db, "p1"),
        [in_order("SellersSeasonsByProfile", "PROFILE#p1")],
        copied(e.SeasonOfProfile, "s2", "s1"),
    ),
    "catalog_uses": Row(
        lambda db: s.catalog_uses(db, "c1"),
        [listed("SellersSeasonsByProfile", "CATALOG#c1", "SEASON#")],
        copied(e.CatalogUse, "s1", "s2"),
    ),
    "catalog_is_used": Row(
        lambda db: s.catalog_is_used(db, "c1"),
        [listed("SellersSeasonsByProfile", "CATALOG#c1", "SEASON#", Limit=1)],
        lambda _: True,
    ),
    "order": Row(
        lambda db: s.order(db, "s1", "o1"),
        [get_item("SellersOrdersBySeason", "SEASON#s1", "ORDER#o1")],
        one("o1"),
    ),
    "order_by_id": Row(
        lambda db: s.order_by_id(db, "o1"),
        [get_item("SellersOrdersBySeason", "ORDER#o1", "ORDER")],
        pointer_to(e.OrderById, "o1"),
    ),
    "orders_of_season": Row(
        lambda db: s.orders_of_season(db, "s1"),
        [in_order("SellersOrdersBySeason", "SEASON#s1")],
        answer("o2", "o1"),
    ),
    "orders_of_profile": Row(
        lambda db: s.orders_of_profile(db, "p1"),
        [indexed("SellersOrdersBySeason", "profileId-index", "profileId", "p1")],
        answer("o3", "o2", "o1"),
    ),
    "catalog": Row(
        lambda db: s.catalog(db, "c1"),
        [by_key("SellersCatalogs", "catalogId", "CATALOG#c1")],
        one("c1"),
    ),
    "my_catalogs": Row(
        lambda db: s.my_catalogs(db, "mia"),
        [indexed("SellersCatalogs", "ownerAccountId-index", "ownerAccountId", "mia")],
        answer("c3"),
    ),
    "public_catalogs": Row(
        lambda db: s.public_catalogs(db),
        [
            indexed(
                "SellersCatalogs",
                "isPublic-createdAt-index",
                "isPublicStr",
                "true",
                ScanIndexForward=False,
            )
        ],
        answer("c2", "c1"),
    ),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def table() -> str:
    return "SellersOrdersBySeason"


@pytest.fixture
async def db(everywhere: Recorder, clock: ManualClock) -> AsyncDb:
    return await design.open_async(
        everywhere, clock=clock, on_loop="raise", table_prefix=everywhere.prefix
    )


def at(number: int) -> datetime:
    return START + timedelta(hours=number)


@pytest.fixture
async def stored(db: AsyncDb) -> Stored:
    mint = LineItem(
        product_id="mint", product_name="Thin mint", quantity=2, price_per_unit=Decimal("5.50")
    )
    sold = Product(product_id="mint", product_name="Thin mint", price=Decimal("5.50"))
    made: dict[str, Entity] = {
        who: Account(account_id=who, email=f"{who}@example.com", given_name=who.title())
        for who in ("olga", "mia", "sam")
    }
    for number, profile in ((1, "p1"), (2, "p2")):
        made[profile] = Profile(
            profile_id=profile, owner_account_id="olga", seller_name="Olga", created_at=at(number)
        )
    for number, (profile, who) in enumerate([("p1", "mia"), ("p1", "sam"), ("p2", "mia")]):
        made[f"{profile} with {who}"] = Share(
            profile_id=profile,
            target_account_id=who,
            permissions=("READ",),
            owner_account_id="olga",
            seller_name="Olga",
            created_at=at(number),
            created_by_account_id="olga",
        )
    for number in (1, 2):
        made[f"invite{number}"] = Invite(
            invite_code=f"CODE{number}",
            profile_id="p1",
            permissions=("READ",),
            created_by_account_id="olga",
            created_at=at(number),
            expires_at=at(100),
        )
        made[f"s{number}"] = Season(
            season_id=f"s{number}",
            profile_id="p1",
            season_name="Spring",
            catalog_id="c1",
            start_date=date(2031, 3, 1),
            # Later ids were made earlier: order is by creation.
            created_at=at(10 - number),
        )
    for number, season in ((1, "s1"), (2, "s1"), (3, "s2")):
        made[f"o{number}"] = Order(
            order_id=f"o{number}",
            season_id=season,
            profile_id="p1",
            customer_name="Ms. Doe",
            line_items=[mint],
            total_amount=Decimal("11.00"),
            payment_method="CASH",
            order_date=date(2031, 3, 2),
            created_at=at(10 - number),
        )
    for number, (owner, public) in enumerate([("olga", True), ("olga", True), ("mia", False)], 1):
        made[f"c{number}"] = Catalog(
            catalog_id=f"c{number}",
            owner_account_id=owner,
            catalog_name="Cookies",
            is_public=public,
            products=[sold],
            created_at=at(number),
        )
    for new in made.values():
        await db.create(new)
    return {name: await db.get(new.ref()) for name, new in made.items()}


@pytest.mark.parametrize("name", ROWS)
async def test_a_pattern_makes_its_request_and_gives_its_answer(
    name: str, stored: Stored, db: AsyncDb, everywhere: Recorder
) -> None:
    await ROWS[name].check(stored, db, everywhere)


def test_every_pattern_has_its_row() -> None:
    assert set(ROWS) == {pattern.name for pattern in design.schema.patterns}
