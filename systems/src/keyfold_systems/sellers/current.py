"""The tables of today, as the document has them: five tables, ten indexes."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated

from keyfold import (
    Design,
    Entity,
    First,
    Get,
    Index,
    Key,
    On,
    Query,
    Stored,
    Timestamp,
    get,
)
from keyfold_systems.sellers.values import (
    CleanId,
    KeyId,
    LineItem,
    PaymentMethod,
    Permissions,
    Product,
    YesOrNo,
)

design = Design("sellers-current", description="Sellers before the restructuring.")

accounts = design.table(
    "SellersAccounts",
    partition="accountId",
    sort=None,
    indexes=[Index("email-index", "email")],
    type_attribute=None,
)
profiles = design.table(
    "SellersProfiles",
    partition="profileId",
    sort="recordType",
    indexes=[
        Index("ownerAccountId-index", "ownerAccountId"),
        Index("targetAccountId-index", "targetAccountId"),
        Index("inviteCode-index", "inviteCode"),
    ],
    type_attribute=None,
)
seasons = design.table(
    "SellersSeasons",
    partition="seasonId",
    sort=None,
    indexes=[
        Index("profileId-index", "profileId", "createdAt"),
        Index("catalogId-index", "catalogId"),
    ],
    type_attribute=None,
)
orders = design.table(
    "SellersOrders",
    partition="orderId",
    sort=None,
    indexes=[
        Index("seasonId-index", "seasonId", "createdAt"),
        Index("profileId-index", "profileId", "createdAt"),
    ],
    type_attribute=None,
)
catalogs = design.table(
    "SellersCatalogs",
    partition="catalogId",
    sort=None,
    indexes=[
        Index("ownerAccountId-index", "ownerAccountId"),
        Index("isPublic-createdAt-index", "isPublicStr", "createdAt"),
    ],
    type_attribute=None,
)


class Account(Entity, table=accounts):
    """A user, with the field that the pre-work removes."""

    account_id: KeyId
    email: str
    given_name: str = ""
    is_admin: bool = False
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None

    key = Key("ACCOUNT#{account_id}")
    by_email = On("email-index", "{email}")


class Profile(Entity, table=profiles):
    """A seller: the METADATA record."""

    profile_id: KeyId
    owner_account_id: CleanId
    seller_name: str
    created_at: Timestamp
    updated_at: Timestamp | None = None

    key = Key("PROFILE#{profile_id}", "METADATA")
    by_owner = On("ownerAccountId-index", "{owner_account_id}")


class Share(Entity, table=profiles):
    """What another account may do: a SHARE# record of the profile."""

    profile_id: KeyId
    target_account_id: CleanId
    permissions: Permissions
    created_at: Timestamp
    created_by_account_id: CleanId

    key = Key("PROFILE#{profile_id}", "SHARE#{target_account_id}")
    by_target = On("targetAccountId-index", "{target_account_id}")


class Invite(Entity, table=profiles):
    """A code: an INVITE# record of the profile."""

    profile_id: KeyId
    invite_code: str
    permissions: Permissions
    created_by_account_id: CleanId
    created_at: Timestamp
    expires_at: Annotated[Timestamp, Stored("epoch")]
    used_at: Timestamp | None = None
    used_by_account_id: str | None = None

    key = Key("PROFILE#{profile_id}", "INVITE#{invite_code}")
    by_code = On("inviteCode-index", "{invite_code}")


class Season(Entity, table=seasons):
    """A time of selling."""

    season_id: KeyId
    profile_id: KeyId
    season_name: str
    catalog_id: KeyId
    start_date: date
    end_date: date | None = None
    created_at: Timestamp
    updated_at: Timestamp | None = None

    key = Key("SEASON#{season_id}")
    by_profile = On("profileId-index", "PROFILE#{profile_id}", "{created_at:iso}")
    by_catalog = On("catalogId-index", "CATALOG#{catalog_id}")


class Order(Entity, table=orders):
    """What a customer ordered."""

    order_id: KeyId
    season_id: KeyId
    profile_id: KeyId
    customer_name: str
    customer_phone: str | None = None
    total_amount: Decimal
    payment_method: PaymentMethod
    notes: str | None = None
    line_items: list[LineItem]
    order_date: date
    created_at: Timestamp
    updated_at: Timestamp | None = None

    key = Key("ORDER#{order_id}")
    by_season = On("seasonId-index", "SEASON#{season_id}", "{created_at:iso}")
    by_profile = On("profileId-index", "PROFILE#{profile_id}", "{created_at:iso}")


class Catalog(Entity, table=catalogs):
    """What can be sold."""

    catalog_id: KeyId
    owner_account_id: CleanId
    catalog_name: str
    is_public_str: YesOrNo
    products: list[Product]
    created_at: Timestamp
    updated_at: Timestamp | None = None

    key = Key("CATALOG#{catalog_id}")
    by_owner = On("ownerAccountId-index", "{owner_account_id}")
    by_newest = On("isPublic-createdAt-index", "{is_public_str}", "{created_at:iso}")


@design.pattern(requests=1)
def account(account_id: str) -> Get[Account]:
    return get(Account.key(account_id=account_id))


@design.pattern(requests=1)
def account_by_email(email: str) -> First[Account]:
    return Account.by_email.query(email=email).first()


@design.pattern(requests=1)
def profile_by_id(profile_id: str) -> Get[Profile]:
    return get(Profile.key(profile_id=profile_id))


@design.pattern(requests=1)
def my_profiles(account_id: str, limit: int = 50) -> Query[Profile]:
    return Profile.by_owner.query(owner_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def share(profile_id: str, account_id: str) -> Get[Share]:
    return get(Share.key(profile_id=profile_id, target_account_id=account_id))


@design.pattern(requests=1)
def shares_of_profile(profile_id: str, limit: int = 50) -> Query[Share]:
    return Share.key.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def shared_with(account_id: str, limit: int = 50) -> Query[Share]:
    return Share.by_target.query(target_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def invite(invite_code: str) -> First[Invite]:
    return Invite.by_code.query(invite_code=invite_code).first()


@design.pattern(requests=1)
def invites_of_profile(profile_id: str, limit: int = 50) -> Query[Invite]:
    return Invite.key.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def season_by_id(season_id: str) -> Get[Season]:
    return get(Season.key(season_id=season_id))


@design.pattern(requests=1)
def seasons_of_profile(profile_id: str, limit: int = 50) -> Query[Season]:
    return Season.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def catalog_uses(catalog_id: str, limit: int = 50) -> Query[Season]:
    return Season.by_catalog.query(catalog_id=catalog_id).limit(limit)


@design.pattern(requests=1)
def order_by_id(order_id: str) -> Get[Order]:
    return get(Order.key(order_id=order_id))


@design.pattern(requests=1)
def orders_of_season(season_id: str, limit: int = 50) -> Query[Order]:
    return Order.by_season.query(season_id=season_id).limit(limit)


@design.pattern(requests=1)
def orders_of_profile(profile_id: str, limit: int = 50) -> Query[Order]:
    return Order.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def catalog(catalog_id: str) -> Get[Catalog]:
    return get(Catalog.key(catalog_id=catalog_id))


@design.pattern(requests=1)
def my_catalogs(account_id: str, limit: int = 50) -> Query[Catalog]:
    return Catalog.by_owner.query(owner_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def public_catalogs(limit: int = 50) -> Query[Catalog]:
    return Catalog.by_newest.query(is_public_str="true").descending().limit(limit)
