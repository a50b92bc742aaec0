"""The proposed design, made sound: seven tables, six global indexes and three local ones.

Ids are clean everywhere; a prefix belongs to a key, not to a value. A key is what the document
says, so what is asked for by its parent and its id is one GetItem; a local index, which is as
consistent as its table, lists in the order of creation.

Profiles and seasons are asked for by their id with every request, and seldom written: they lie
under their id, whole copies stand in the lists. Orders are written often: they lie in their
season, and a small pointer says where.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from keyfold import (
    AtMost,
    Copied,
    Counter,
    Created,
    Design,
    Entity,
    Index,
    Key,
    Normalised,
    On,
    Pointer,
    RefersTo,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
)
from keyfold_systems.sellers import entities_types as typed
from keyfold_systems.sellers.values import (
    CleanId,
    LineItem,
    PaymentMethod,
    Permissions,
    Product,
    Text,
)

design = Design("sellers", description="Seller profiles with their seasons, orders and helpers.")

STREAM: Final = "NEW_AND_OLD_IMAGES"
BY_CREATION = Index(
    "createdAt-index", "PK", "listedAt", local=True, purpose="lists in the order of creation"
)

accounts = design.table(
    "SellersAccounts",
    partition="accountId",
    sort=None,
    indexes=[Index("email-index", "email", purpose="sign-in by address")],
    type_attribute=None,
    stream=STREAM,
    description="Who signs in.",
)
profiles = design.table(
    "SellersProfilesByOwner",
    indexes=[BY_CREATION],
    stream=STREAM,
    description="Profiles under their id, and under their owner.",
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
    ttl="expiresAt",
    stream=STREAM,
    description="Who may use a profile.",
)
invites = design.table(
    "SellersInvites",
    partition="inviteCode",
    sort=None,
    indexes=[Index("profileId-index", "profileId", purpose="the invites of a profile")],
    ttl="expiresAt",
    type_attribute=None,
    stream=STREAM,
    description="Codes that become shares, once.",
)
seasons = design.table(
    "SellersSeasonsByProfile",
    indexes=[BY_CREATION],
    stream=STREAM,
    description="Seasons under their id, under their profile, and under their catalog.",
)
orders = design.table(
    "SellersOrdersBySeason",
    indexes=[
        BY_CREATION,
        Index("profileId-index", "profileId", "createdAt", purpose="orders across all seasons"),
    ],
    stream=STREAM,
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
    stream=STREAM,
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
    """A seller."""

    profile_id: CleanId
    owner_account_id: Annotated[CleanId, RefersTo("Account")]
    seller_name: Text
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None
    deleting_since: Timestamp | None = None
    """Set while everything of it is being deleted; nothing can be added any more."""
    key = Key("PROFILE#{profile_id}", "PROFILE")


class ProfileOfOwner(typed.ProfileOfOwner, Pointer[Profile], table=profiles, sync="transaction"):
    """A profile under the account that owns it."""

    profile_id: CleanId
    owner_account_id: CleanId
    seller_name: Text
    created_at: Timestamp
    updated_at: Timestamp | None = None
    deleting_since: Timestamp | None = None
    key = Key("ACCOUNT#{owner_account_id}", "PROFILE#{profile_id}")
    by_creation = On(
        "createdAt-index", "ACCOUNT#{owner_account_id}", "{created_at:iso}#{profile_id}"
    )


class Share(typed.Share, Entity, table=shares):
    """A permission of one account on one profile, with what a list shows of the profile."""

    profile_id: CleanId
    target_account_id: Annotated[CleanId, RefersTo("Account")]
    permissions: Permissions
    owner_account_id: Annotated[CleanId | None, Copied("Profile", "owner_account_id")] = None
    seller_name: Annotated[Text | None, Copied("Profile", "seller_name")] = None
    profile_created_at: Annotated[Timestamp | None, Copied("Profile", "created_at")] = None
    profile_updated_at: Annotated[Timestamp | None, Copied("Profile", "updated_at")] = None
    created_at: Timestamp
    created_by_account_id: CleanId
    key = Key("PROFILE#{profile_id}", "ACCOUNT#{target_account_id}")
    by_target = On("targetAccountId-index", "{target_account_id}", "{created_at:iso}")


class Invite(typed.Invite, Entity, table=invites):
    """A code that becomes a share, once, before it expires."""

    invite_code: str
    profile_id: CleanId
    permissions: Permissions
    created_by_account_id: Annotated[CleanId, RefersTo("Account")]
    created_at: Timestamp
    expires_at: Annotated[Timestamp, Ttl()]
    used_at: Timestamp | None = None
    used_by_account_id: str | None = None
    key = Key("{invite_code}")
    by_profile = On("profileId-index", "{profile_id}")


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
    orders: Annotated[int, Counter("Order", sync="stream")] = 0
    total_amount: Annotated[Decimal, Counter("Order", sums="total_amount", sync="stream")] = (
        Decimal(0)
    )
    key = Key("SEASON#{season_id}", "SEASON")


class SeasonOfProfile(typed.SeasonOfProfile, Pointer[Season], table=seasons, sync="transaction"):
    """A season under its profile."""

    season_id: CleanId
    profile_id: CleanId
    season_name: Text
    catalog_id: CleanId
    start_date: date
    end_date: date | None = None
    created_at: Timestamp
    updated_at: Timestamp | None = None
    deleting_since: Timestamp | None = None
    orders: int = 0
    total_amount: Decimal = Decimal(0)
    key = Key("PROFILE#{profile_id}", "SEASON#{season_id}")
    by_creation = On("createdAt-index", "PROFILE#{profile_id}", "{created_at:iso}#{season_id}")


class CatalogUse(typed.CatalogUse, Pointer[Season], table=seasons, sync="transaction"):
    """A season under the catalog that it sells from: consistent, as no index is."""

    catalog_id: CleanId
    season_id: CleanId
    profile_id: CleanId
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
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")
    by_creation = On("createdAt-index", "SEASON#{season_id}", "{created_at:iso}#{order_id}")
    by_profile = On("profileId-index", "{profile_id}", "{created_at:iso}")


class OrderById(typed.OrderById, Pointer[Order], table=orders, sync="transaction"):
    """Where an order is, by its own id."""

    order_id: CleanId
    season_id: CleanId
    key = Key("ORDER#{order_id}", "ORDER")


class Catalog(typed.Catalog, Entity, table=catalogs):
    """What can be sold in a season; public ones can be used by everybody."""

    catalog_id: CleanId
    owner_account_id: Annotated[CleanId, RefersTo("Account")]
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
