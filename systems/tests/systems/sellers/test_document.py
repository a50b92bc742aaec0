"""The document, query by query, through the author's eyes: raw boto3 on our tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from tests.systems.author import KEYS, server

from keyfold import new_ulid
from keyfold_systems.sellers import current, design, entities
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.views import NewInvite

from .conftest import MIA, OLGA, SAM, World

Item = dict[str, Any]
TABLES = {
    "accounts": ("SellersAccounts", "accountId", None),
    "profiles": ("SellersProfilesByOwner", "ownerAccountId", "profileId"),
    "shares": ("SellersShares", "profileId", "targetAccountId"),
    "invites": ("SellersInvites", "inviteCode", None),
    "seasons": ("SellersSeasonsByProfile", "profileId", "seasonId"),
    "orders": ("SellersOrdersBySeason", "seasonId", "orderId"),
    "catalogs": ("SellersCatalogs", "catalogId", None),
}
INDEXES = {
    "accounts": {"email-index": ["email"]},
    "profiles": {"profileId-index": ["profileId"]},
    "shares": {"targetAccountId-index": ["targetAccountId"]},
    "invites": {"profileId-index": ["profileId"]},
    "seasons": {"seasonId-index": ["seasonId"], "catalogId-index": ["catalogId"]},
    "orders": {"orderId-index": ["orderId"], "profileId-index": ["profileId", "createdAt"]},
    "catalogs": {
        "ownerAccountId-index": ["ownerAccountId"],
        "isPublic-createdAt-index": ["isPublicStr", "createdAt"],
    },
}


class Author:
    """Asks the seven tables raw."""

    def __init__(self, address: str, prefix: str) -> None:
        resource = boto3.resource("dynamodb", endpoint_url=address, **KEYS)
        self.tables = {one: resource.Table(f"{prefix}{TABLES[one][0]}") for one in TABLES}

    def get(self, table: str, **key: str) -> Item:
        found: Item = self.tables[table].get_item(Key=key).get("Item", {})
        return found

    def query(self, table: str, index: str | None = None, **key: str) -> list[Item]:
        (name, value), *_ = key.items()
        request: Item = {
            "KeyConditionExpression": "#k = :k",
            "ExpressionAttributeNames": {"#k": name},
            "ExpressionAttributeValues": {":k": value},
            **({"IndexName": index} if index else {"ConsistentRead": True}),
        }
        found: list[Item] = self.tables[table].query(**request)["Items"]
        return found


@pytest.fixture
def address() -> Iterator[str]:
    with server() as url:
        yield url


@pytest.fixture
def prefix() -> str:
    return f"{new_ulid()}-"


@pytest.fixture
def author(address: str, prefix: str) -> Author:
    return Author(address, prefix)


@pytest.fixture
async def there(address: str, prefix: str) -> Any:
    """Olga's two profiles; the first is shared with Mia, has an invite, seasons and orders."""
    db = await design.design.open_async(address, table_prefix=prefix, create_tables=True)
    world = World(Sellers(db), db)
    await world.account(OLGA, MIA, SAM)
    profile, other = await world.profile(), await world.profile(name="Olga's pies")
    await world.share(profile, MIA, ("READ", "WRITE"))
    catalog, private = await world.catalog(public=True), await world.catalog(MIA)
    seasons = [await world.season(profile, catalog.catalog_id) for _ in range(2)]
    orders = [await world.order(one.season_id, profile_id=profile) for one in seasons * 2]
    new = NewInvite(profile_id=profile, permissions=("READ",))
    invite = await world.service.create_profile_invite(new, OLGA)
    yield {
        "profile": profile,
        "other": other,
        "catalog": catalog.catalog_id,
        "private": private.catalog_id,
        "seasons": [one.season_id for one in seasons],
        "orders": [one.order_id for one in orders],
        "code": invite.invite_code,
    }
    await db.close()


class TestTables:
    @pytest.mark.parametrize("name", TABLES)
    def test_keys_and_indexes_are_the_documents(
        self, name: str, there: Any, author: Author
    ) -> None:
        _, partition, sort = TABLES[name]
        table = author.tables[name]
        assert [k["AttributeName"] for k in table.key_schema] == [partition, *filter(None, [sort])]
        found = {
            index["IndexName"]: [k["AttributeName"] for k in index["KeySchema"]]
            for index in table.global_secondary_indexes
        }
        assert found == INDEXES[name]
        assert not table.local_secondary_indexes

    def test_ten_indexes_before_and_ten_after(self) -> None:
        """The document counts six afterwards; the indexes that it names are ten."""
        before = sum(len(one.indexes) for one in current.design.schema.tables)
        after = sum(len(one.indexes) for one in entities.design.schema.tables)
        named = sum(map(len, INDEXES.values()))
        assert (before, after, named) == (10, 10, 10)

    def test_invites_expire_by_epoch_seconds(self, there: Any, author: Author) -> None:
        item = author.get("invites", inviteCode=there["code"])
        assert item["expiresAt"] == int(item["expiresAt"])
        table = author.tables["invites"]
        ttl = table.meta.client.describe_time_to_live(TableName=table.name)
        assert ttl["TimeToLiveDescription"]["AttributeName"] == "expiresAt"


class TestAccounts:
    def test_by_id_and_by_address(self, there: Any, author: Author) -> None:
        item = author.get("accounts", accountId="ACCOUNT#olga")
        assert (item["email"], "isAdmin" in item) == ("olga@example.org", False)
        assert author.query("accounts", "email-index", email="olga@example.org") == [item]


class TestProfiles:
    def test_list_my_profiles(self, there: Any, author: Author) -> None:
        found = author.query("profiles", ownerAccountId="olga")
        assert [i["profileId"] for i in found] == [
            f"PROFILE#{there[one]}" for one in ("profile", "other")
        ]
        assert all(
            set(i) == {"ownerAccountId", "profileId", "sellerName", "createdAt", "updatedAt"}
            for i in found
        )

    def test_get_profile(self, there: Any, author: Author) -> None:
        key = f"PROFILE#{there['profile']}"
        (item,) = author.query("profiles", "profileId-index", profileId=key)
        assert item == author.get("profiles", ownerAccountId="olga", profileId=key)


class TestShares:
    def test_list_shares_by_profile(self, there: Any, author: Author) -> None:
        (item,) = author.query("shares", profileId=f"PROFILE#{there['profile']}")
        assert item.pop("createdAt")
        assert item == {
            "profileId": f"PROFILE#{there['profile']}",
            "targetAccountId": "mia",
            "permissions": ["READ", "WRITE"],
            "createdByAccountId": "olga",
        }

    def test_list_shared_profiles_get_and_revoke(self, there: Any, author: Author) -> None:
        (item,) = author.query("shares", "targetAccountId-index", targetAccountId="mia")
        key = {"profileId": f"PROFILE#{there['profile']}", "targetAccountId": "mia"}
        assert author.get("shares", **key) == item
        author.tables["shares"].delete_item(Key=key)
        assert author.query("shares", "targetAccountId-index", targetAccountId="mia") == []


class TestInvites:
    def test_get_and_list_by_profile(self, there: Any, author: Author) -> None:
        item = author.get("invites", inviteCode=there["code"])
        names = {"inviteCode", "profileId", "permissions", "createdByAccountId", "expiresAt"}
        assert set(item) == {*names, "createdAt"}
        assert (item.get("usedAt"), item.get("usedByAccountId")) == (None, None)
        key = f"PROFILE#{there['profile']}"
        assert author.query("invites", "profileId-index", profileId=key) == [item]

    async def test_redeem_sets_who_used_it(self, there: Any, address: str, prefix: str) -> None:
        db = await design.design.open_async(address, table_prefix=prefix)
        await Sellers(db).redeem_profile_invite(there["code"], SAM)
        author = Author(address, prefix)
        item = author.get("invites", inviteCode=there["code"])
        assert (item["usedByAccountId"], bool(item["usedAt"])) == ("sam", True)
        (share,) = author.query("shares", "targetAccountId-index", targetAccountId="sam")
        assert (share["permissions"], share["createdByAccountId"]) == (["READ"], "olga")
        await db.close()


class TestSeasons:
    def test_list_seasons_by_profile(self, there: Any, author: Author) -> None:
        found = author.query("seasons", profileId=there["profile"])
        assert [i["seasonId"] for i in found] == [f"SEASON#{one}" for one in there["seasons"]]
        names = {"profileId", "seasonId", "seasonName", "catalogId", "startDate", "createdAt"}
        assert all(set(i) == {*names, "updatedAt"} for i in found)

    def test_get_season(self, there: Any, author: Author) -> None:
        key = f"SEASON#{there['seasons'][0]}"
        (item,) = author.query("seasons", "seasonId-index", seasonId=key)
        assert item == author.get("seasons", profileId=there["profile"], seasonId=key)

    def test_list_catalog_usage(self, there: Any, author: Author) -> None:
        key = f"CATALOG#{there['catalog']}"
        found = author.query("seasons", "catalogId-index", catalogId=key)
        assert {i["seasonId"] for i in found} == {f"SEASON#{one}" for one in there["seasons"]}
        assert author.get("catalogs", catalogId=key)["seasons"] == 2


class TestOrders:
    def test_list_orders_by_season(self, there: Any, author: Author) -> None:
        for at, season in enumerate(there["seasons"]):
            found = author.query("orders", seasonId=season)
            assert [i["orderId"] for i in found] == [f"ORDER#{o}" for o in there["orders"][at::2]]

    def test_an_order_has_the_documents_attributes(self, there: Any, author: Author) -> None:
        key = f"ORDER#{there['orders'][0]}"
        (item,) = author.query("orders", "orderId-index", orderId=key)
        assert item == author.get("orders", seasonId=there["seasons"][0], orderId=key)
        names = {"profileId", "customerName", "totalAmount", "paymentMethod", "lineItems"}
        assert set(item) == {*names, "seasonId", "orderId", "orderDate", "createdAt", "updatedAt"}
        assert set(item["lineItems"][0]) == {
            "productId",
            "productName",
            "quantity",
            "pricePerUnit",
        }

    def test_list_orders_by_profile_in_time(self, there: Any, author: Author) -> None:
        key = f"PROFILE#{there['profile']}"
        found = author.query("orders", "profileId-index", profileId=key)
        assert [i["orderId"] for i in found] == [f"ORDER#{one}" for one in there["orders"]]


class TestCatalogs:
    def test_get_own_and_public(self, there: Any, author: Author) -> None:
        item = author.get("catalogs", catalogId=f"CATALOG#{there['catalog']}")
        index = "isPublic-createdAt-index"
        assert author.query("catalogs", index, isPublicStr="true") == [item]
        (private,) = author.query("catalogs", index, isPublicStr="false")
        assert private["catalogId"] == f"CATALOG#{there['private']}"
        (own,) = author.query("catalogs", "ownerAccountId-index", ownerAccountId="olga")
        assert own == item


def test_what_we_add_is_in_no_index_and_no_partition_of_the_document(
    there: Any, author: Author
) -> None:
    """Markers of unique addresses and remembered requests lie under keys of their own."""
    prefixes = {"accounts": "ACCOUNT#", "catalogs": "CATALOG#"}
    for name, table in author.tables.items():
        partition = TABLES[name][1]
        for item in table.scan()["Items"]:
            own = str(item[partition]).startswith(("UNIQUE#", "ONCE#"))
            begins = str(item[partition]).startswith(prefixes.get(name, ""))
            indexed = [key for keys in INDEXES[name].values() for key in keys if key in item]
            assert own or begins
            assert not (own and indexed), item


def test_reads_on_indexes_before_and_after() -> None:
    """The document says 80 % and 30 % of its queries."""

    def named(schema: Any) -> dict[str, Any]:
        return {one.name: one for one in schema.patterns}

    before = named(current.design.schema)
    after = {name: one for name, one in named(design.design.schema).items() if name in before}
    assert set(after) == set(before)
    assert sum(bool(one.index) for one in before.values()) == 10
    assert sum(bool(one.index) for one in after.values()) == 10
    for main in ("my_profiles", "seasons_of_profile", "orders_of_season"):
        assert before[main].index
        assert (after[main].index, after[main].consistent) == (None, True)
