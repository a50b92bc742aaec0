"""The seven tables of the document and their items.

An id is a clean one in Python. What stands before it in a table is said by the keys, as the
document has it: `ACCOUNT#`, `PROFILE#`, `SEASON#`, `ORDER#` and `CATALOG#`, or nothing.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from keyfold import (
    AtMost,
    Counter,
    Created,
    Design,
    Entity,
    Index,
    Key,
    Normalised,
    On,
    RefersTo,
    Timestamp,
    Ttl,
    Unique,
    Updated,
)
from keyfold.structures import Cascade
from keyfold_systems.sellers.values import (
    CleanId,
    KeyId,
    LineItem,
    PaymentMethod,
    Permissions,
    Product,
    Text,
    YesOrNo,
)

design = Design("sellers", description="Seller profiles with their seasons, orders and helpers.")

STREAM: Final = "NEW_AND_OLD_IMAGES"

accounts = design.table(
    "SellersAccounts",
    partition="accountId",
    sort=None,
    indexes=[Index("email-index", "email", purpose="an account by its address")],
    type_attribute=None,
    stream=STREAM,
)
profiles = design.table(
    "SellersProfilesByOwner",
    partition="ownerAccountId",
    sort="profileId",
    indexes=[Index("profileId-index", "profileId", purpose="a profile by its id alone")],
    type_attribute=None,
    stream=STREAM,
)
shares = design.table(
    "SellersShares",
    partition="profileId",
    sort="targetAccountId",
    indexes=[Index("targetAccountId-index", "targetAccountId", purpose="profiles shared with me")],
    type_attribute=None,
    stream=STREAM,
)
invites = design.table(
    "SellersInvites",
    partition="inviteCode",
    sort=None,
    indexes=[Index("profileId-index", "profileId", purpose="the invites of a profile")],
    ttl="expiresAt",
    type_attribute=None,
    stream=STREAM,
)
seasons = design.table(
    "SellersSeasonsByProfile",
    partition="profileId",
    sort="seasonId",
    indexes=[
        Index("seasonId-index", "seasonId", purpose="a season by its id alone"),
        Index("catalogId-index", "catalogId", purpose="the seasons that sell from a catalog"),
    ],
    type_attribute=None,
    stream=STREAM,
)
orders = design.table(
    "SellersOrdersBySeason",
    partition="seasonId",
    sort="orderId",
    indexes=[
        Index("orderId-index", "orderId", purpose="an order by its id alone"),
        Index("profileId-index", "profileId", "createdAt", purpose="orders across all seasons"),
    ],
    type_attribute=None,
    stream=STREAM,
)
catalogs = design.table(
    "SellersCatalogs",
    partition="catalogId",
    sort=None,
    indexes=[
        Index("ownerAccountId-index", "ownerAccountId", purpose="the catalogs of an account"),
        Index("isPublic-createdAt-index", "isPublicStr", "createdAt", purpose="public catalogs"),
    ],
    type_attribute=None,
    stream=STREAM,
)

Changed = Annotated[Timestamp | None, Updated()]
Owner = Annotated[CleanId, RefersTo("Account")]


class Account(Entity, table=accounts):
    """A user. Who is an administrator is said by the token's groups alone."""

    account_id: KeyId
    email: Annotated[str, Normalised(str.casefold), Field(min_length=3, max_length=320)]
    given_name: str = ""
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Changed = None

    key = Key("ACCOUNT#{account_id}")
    by_email = On("email-index", "{email}")
    one_email = Unique("email", normalise=str.casefold)


class Profile(Entity, table=profiles):
    """A seller."""

    owner_account_id: Owner
    profile_id: KeyId
    seller_name: Text
    created_at: Timestamp
    updated_at: Changed = None
    deleting_since: Timestamp | None = None
    """Set while the profile is deleted: nothing can be added to it any more."""

    key = Key("{owner_account_id}", "PROFILE#{profile_id}")
    by_id = On("profileId-index", "PROFILE#{profile_id}")


class Share(Entity, table=shares):
    """What another account may do with a profile."""

    profile_id: Annotated[KeyId, RefersTo("Profile")]
    target_account_id: Owner
    permissions: Permissions
    created_at: Timestamp
    created_by_account_id: Owner

    key = Key("PROFILE#{profile_id}", "{target_account_id}")
    by_target = On("targetAccountId-index", "{target_account_id}")


class Invite(Entity, table=invites):
    """A code that becomes a share, once, before it expires."""

    invite_code: str
    profile_id: Annotated[KeyId, RefersTo("Profile")]
    permissions: Permissions
    created_by_account_id: Owner
    created_at: Timestamp
    expires_at: Annotated[Timestamp, Ttl()]
    used_at: Timestamp | None = None
    used_by_account_id: str | None = None

    key = Key("{invite_code}")
    by_profile = On("profileId-index", "PROFILE#{profile_id}")


class Season(Entity, table=seasons):
    """A time of selling from one catalog."""

    profile_id: Annotated[CleanId, RefersTo("Profile")]
    season_id: KeyId
    season_name: Text
    catalog_id: KeyId
    start_date: date
    end_date: date | None = None
    created_at: Timestamp
    updated_at: Changed = None

    key = Key("{profile_id}", "SEASON#{season_id}")
    by_id = On("seasonId-index", "SEASON#{season_id}")
    by_catalog = On("catalogId-index", "CATALOG#{catalog_id}")
    orders = Cascade("Order")


class Order(Entity, table=orders):
    """What a customer ordered in a season."""

    season_id: CleanId
    order_id: KeyId
    profile_id: KeyId
    customer_name: Text
    customer_phone: str | None = None
    total_amount: Decimal
    payment_method: PaymentMethod
    notes: str | None = None
    line_items: Annotated[list[LineItem], AtMost(200), Field(min_length=1)]
    order_date: date
    created_at: Timestamp
    updated_at: Changed = None

    key = Key("{season_id}", "ORDER#{order_id}")
    by_id = On("orderId-index", "ORDER#{order_id}")
    by_profile = On("profileId-index", "PROFILE#{profile_id}", "{created_at:iso}")


class Catalog(Entity, table=catalogs):
    """What can be sold in a season; every account may sell from a public one."""

    catalog_id: KeyId
    owner_account_id: Owner
    catalog_name: Text
    is_public_str: YesOrNo = "false"
    products: Annotated[list[Product], AtMost(500), Field(min_length=1)]
    seasons: Annotated[int, Counter("Season")] = 0
    """How many sell from it. It moves in their transactions: `catalogId-index` may be behind."""
    created_at: Timestamp
    updated_at: Changed = None

    key = Key("CATALOG#{catalog_id}")
    by_owner = On("ownerAccountId-index", "{owner_account_id}")
    by_newest = On(
        "isPublic-createdAt-index",
        "{is_public_str}",
        "{created_at:iso}",
        silence=(("X8", "few catalogs a day: one partition is far from its limit"),),
    )
