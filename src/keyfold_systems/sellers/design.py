"""The proposed design, made sound: seven tables, six indexes.

Ids are clean everywhere; a prefix belongs to a key, not to a value. Lists sort by creation
because the moment stands in the key. What was found by its id consistently still is: a pointer
under the id, written in the same transaction, takes the place of an index.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from keyfold import (
    AtMost,
    Created,
    Design,
    Entity,
    Exists,
    First,
    Get,
    Index,
    Key,
    Normalised,
    On,
    Pointer,
    Query,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
    get,
)
from keyfold_systems.sellers import design_types as typed
from keyfold_systems.sellers.values import (
    CleanId,
    LineItem,
    PaymentMethod,
    Permissions,
    Product,
    Text,
)

design = Design("sellers", description="Seller profiles with their seasons, orders and helpers.")

accounts = design.table(
    "SellersAccounts",
    partition="accountId",
    sort=None,
    indexes=[Index("email-index", "email", purpose="sign-in by address")],
    type_attribute=None,
    description="Who signs in.",
)
profiles = design.table(
    "SellersProfilesByOwner", description="Profiles under their owner, and under their id."
)
shares = design.table(
    "SellersShares",
    indexes=[
        Index(
            "targetAccountId-index",
            "targetAccountId",
            "createdAt",
            purpose="profiles shared with somebody",
        )
    ],
    description="Who else may use a profile.",
)
invites = design.table(
    "SellersInvites",
    partition="inviteCode",
    sort=None,
    indexes=[Index("profileId-index", "profileId", "createdAt", purpose="invites of a profile")],
    ttl="expiresAt",
    type_attribute=None,
    description="Codes that become shares, once.",
)
seasons = design.table(
    "SellersSeasonsByProfile",
    description="Seasons under their profile, under their id, and under their catalog.",
)
orders = design.table(
    "SellersOrdersBySeason",
    indexes=[
        Index("profileId-index", "profileId", "createdAt", purpose="orders across all seasons")
    ],
    description="Orders under their season, and under their id.",
)
catalogs = design.table(
    "SellersCatalogs",
    partition="catalogId",
    sort=None,
    indexes=[
        Index("ownerAccountId-index", "ownerAccountId", purpose="somebody's own catalogs"),
        Index("isPublic-createdAt-index", "isPublicStr", "createdAt", purpose="public catalogs"),
    ],
    type_attribute=None,
    description="What can be sold.",
)


class Account(typed.Account, Entity, table=accounts):
    """Somebody who signs in. Who is an administrator is said by the token's groups alone."""

    account_id: CleanId
    email: Annotated[str, Normalised(str.casefold), Field(min_length=3, max_length=320)]
    given_name: str = ""
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None
    key = Key("ACCOUNT#{account_id}")
    by_email = On("email-index", "{email}")
    one_email = Unique("email", normalise=str.casefold)


class Profile(typed.Profile, Entity, table=profiles):
    """A seller, under the account that owns it."""

    profile_id: CleanId
    owner_account_id: CleanId
    seller_name: Text
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None
    deleting_since: Timestamp | None = None
    """Set while everything of it is being deleted; nothing can be added any more."""
    key = Key("ACCOUNT#{owner_account_id}", "PROFILE#{created_at:iso}#{profile_id}")


class ProfileById(typed.ProfileById, Pointer[Profile], table=profiles, sync="transaction"):
    """A profile under its own id."""

    profile_id: CleanId
    owner_account_id: CleanId
    seller_name: Text
    created_at: Timestamp
    updated_at: Timestamp | None = None
    deleting_since: Timestamp | None = None
    key = Key("PROFILE#{profile_id}", "PROFILE")


class Share(typed.Share, Entity, table=shares):
    """A permission of one account on one profile.

    It carries what a list shows of the profile; shares older than that field get it when the
    profile is next renamed.
    """

    profile_id: CleanId
    target_account_id: CleanId
    permissions: Permissions
    owner_account_id: CleanId | None = None
    seller_name: Text | None = None
    created_at: Timestamp
    created_by_account_id: CleanId
    key = Key("PROFILE#{profile_id}", "ACCOUNT#{target_account_id}")
    by_target = On("targetAccountId-index", "{target_account_id}", "{created_at:iso}")


class Invite(typed.Invite, Entity, table=invites):
    """A code that becomes a share, once, before it expires."""

    invite_code: str
    profile_id: CleanId
    permissions: Permissions
    created_by_account_id: CleanId
    created_at: Timestamp
    expires_at: Annotated[Timestamp, Ttl()]
    used_at: Timestamp | None = None
    used_by_account_id: str | None = None
    key = Key("{invite_code}")
    by_profile = On("profileId-index", "{profile_id}", "{created_at:iso}")


class Season(typed.Season, Entity, table=seasons):
    """A time of selling from one catalog."""

    season_id: CleanId
    profile_id: CleanId
    season_name: Text
    catalog_id: CleanId
    start_date: date
    end_date: date | None = None
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None
    deleting_since: Timestamp | None = None
    key = Key("PROFILE#{profile_id}", "SEASON#{created_at:iso}#{season_id}")


class SeasonById(typed.SeasonById, Pointer[Season], table=seasons, sync="transaction"):
    """A season under its own id."""

    season_id: CleanId
    profile_id: CleanId
    season_name: Text
    catalog_id: CleanId
    start_date: date
    end_date: date | None = None
    created_at: Timestamp
    updated_at: Timestamp | None = None
    deleting_since: Timestamp | None = None
    key = Key("SEASON#{season_id}", "SEASON")


class CatalogUse(typed.CatalogUse, Pointer[Season], table=seasons, sync="transaction"):
    """A season under the catalog that it sells from: consistent, as no index is."""

    catalog_id: CleanId
    season_id: CleanId
    profile_id: CleanId
    season_name: Text
    key = Key("CATALOG#{catalog_id}", "SEASON#{season_id}")


class Order(typed.Order, Entity, table=orders):
    """What a customer ordered in a season."""

    order_id: CleanId
    season_id: CleanId
    profile_id: CleanId
    customer_name: Text
    customer_phone: str | None = None
    line_items: Annotated[list[LineItem], AtMost(200), Field(min_length=1)]
    total_amount: Decimal
    payment_method: PaymentMethod
    notes: str | None = None
    order_date: date
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None
    key = Key("SEASON#{season_id}", "ORDER#{created_at:iso}#{order_id}")
    by_profile = On("profileId-index", "{profile_id}", "{created_at:iso}")


class OrderById(typed.OrderById, Pointer[Order], table=orders, sync="transaction"):
    """Where an order is, by its own id."""

    order_id: CleanId
    season_id: CleanId
    created_at: Timestamp
    key = Key("ORDER#{order_id}", "ORDER")


class Catalog(typed.Catalog, Entity, table=catalogs):
    """What can be sold in a season; public ones can be used by everybody."""

    catalog_id: CleanId
    owner_account_id: CleanId
    catalog_name: Text
    is_public: bool = False
    products: Annotated[list[Product], AtMost(500), Field(min_length=1)]
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None
    deleting_since: Timestamp | None = None
    """Set while its deletion is decided; no season can start with it any more."""
    version: Annotated[int, Version()] = 0
    key = Key("CATALOG#{catalog_id}")
    by_owner = On("ownerAccountId-index", "{owner_account_id}")
    by_newest = On(
        "isPublic-createdAt-index",
        "true",
        "{created_at:iso}",
        when=lambda c: c.is_public,
        silence=(
            ("X8", "a handful of public catalogs a day; one partition is far from its limit"),
        ),
    )


@design.pattern(requests=1)
def account(account_id: str) -> Get[Account]:
    """An account."""
    return get(Account.key(account_id=account_id))


@design.pattern(requests=1)
def account_by_email(email: str) -> First[Account]:
    """The account with an address."""
    return Account.by_email.query(email=email).first()


@design.pattern(requests=1)
def profile_by_id(profile_id: str) -> Get[ProfileById]:
    """A profile."""
    return get(ProfileById.key(profile_id=profile_id))


@design.pattern(requests=1)
def my_profiles(account_id: str, limit: int = 50) -> Query[Profile]:
    """The profiles of an owner, oldest first."""
    return Profile.key.query(owner_account_id=account_id).limit(limit).consistent()


@design.pattern(requests=1)
def share(profile_id: str, account_id: str) -> Get[Share]:
    """What an account may do with a profile."""
    return get(Share.key(profile_id=profile_id, target_account_id=account_id))


@design.pattern(requests=1)
def shares_of_profile(profile_id: str, limit: int = 50) -> Query[Share]:
    """Who may use a profile."""
    return Share.key.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def shared_with(account_id: str, limit: int = 50) -> Query[Share]:
    """What is shared with an account, with the profiles' names."""
    return Share.by_target.query(target_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def invite(invite_code: str) -> Get[Invite]:
    """An invite."""
    return get(Invite.key(invite_code=invite_code))


@design.pattern()
def invites_of_profile(profile_id: str, limit: int = 50) -> Query[Invite]:
    """The open and used invites of a profile that have not expired."""
    return Invite.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def season_by_id(season_id: str) -> Get[SeasonById]:
    """A season."""
    return get(SeasonById.key(season_id=season_id))


@design.pattern(requests=1)
def seasons_of_profile(profile_id: str, limit: int = 50) -> Query[Season]:
    """The seasons of a profile in the order of their creation."""
    return Season.key.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def catalog_uses(catalog_id: str, limit: int = 50) -> Query[CatalogUse]:
    """The seasons that sell from a catalog."""
    return CatalogUse.key.query(catalog_id=catalog_id).limit(limit).consistent()


@design.pattern(requests=1)
def catalog_is_used(catalog_id: str) -> Exists[CatalogUse]:
    """Whether a season sells from a catalog."""
    return CatalogUse.key.query(catalog_id=catalog_id).consistent().exists()


@design.pattern(requests=1)
def order_by_id(order_id: str) -> Get[OrderById]:
    """Where an order is."""
    return get(OrderById.key(order_id=order_id))


@design.pattern(requests=1)
def orders_of_season(season_id: str, limit: int = 50) -> Query[Order]:
    """The orders of a season in the order of their creation."""
    return Order.key.query(season_id=season_id).limit(limit).consistent()


@design.pattern(requests=1)
def orders_of_profile(profile_id: str, limit: int = 50) -> Query[Order]:
    """The orders of a profile across all seasons, in the order of their creation."""
    return Order.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def catalog(catalog_id: str) -> Get[Catalog]:
    """A catalog."""
    return get(Catalog.key(catalog_id=catalog_id))


@design.pattern(requests=1)
def my_catalogs(account_id: str, limit: int = 50) -> Query[Catalog]:
    """The catalogs of an owner."""
    return Catalog.by_owner.query(owner_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def public_catalogs(limit: int = 50) -> Query[Catalog]:
    """Public catalogs, newest first."""
    return Catalog.by_newest.query().descending().limit(limit)
