"""What callers send and get besides the records themselves."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from keyfold import Timestamp
from keyfold.api import Payload
from keyfold_systems.sellers.design import Profile, Share
from keyfold_systems.sellers.values import (
    CleanId,
    LineItem,
    PaymentMethod,
    Permission,
    Permissions,
    Product,
    Text,
)

Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
Phone = Annotated[str, Field(max_length=40)]
Notes = Annotated[str, Field(max_length=2000)]
Lines = Annotated[list[LineItem], Field(min_length=1, max_length=200)]


class NewAccount(Payload):
    """What is known of somebody at sign-up."""

    email: Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$", max_length=320)]
    given_name: Annotated[str, Field(max_length=200)] = ""


class SellerProfile(Payload):
    """A profile as one caller sees it."""

    profile_id: str
    owner_account_id: str
    seller_name: str
    created_at: Timestamp
    updated_at: Timestamp | None
    is_owner: bool
    permissions: list[Permission]


class NewShare(Payload):
    """Whom to give which permissions; by address or by id."""

    profile_id: CleanId
    target_account_email: str | None = None
    target_account_id: CleanId | None = None
    permissions: Permissions


class NewInvite(Payload):
    """What the code will give, and for how long it is good."""

    profile_id: CleanId
    permissions: Permissions
    expires_in_days: Annotated[int, Field(ge=1, le=90)] = 14


class InviteDetails(Payload):
    """What somebody with the code may know before redeeming it."""

    invite_code: str
    profile_id: str
    seller_name: str
    permissions: list[Permission]
    expires_at: Timestamp
    used: bool


class NewSeason(Payload):
    profile_id: CleanId
    season_name: Stated
    catalog_id: CleanId
    start_date: date
    end_date: date | None = None


class SeasonChanges(Payload):
    """What is not given stays."""

    season_name: Stated | None = None
    catalog_id: CleanId | None = None
    start_date: date | None = None
    end_date: date | None = None


class NewOrder(Payload):
    season_id: CleanId
    customer_name: Stated
    customer_phone: Phone | None = None
    line_items: Lines
    payment_method: PaymentMethod
    order_date: date
    notes: Notes | None = None


class OrderChanges(Payload):
    """What is not given stays."""

    customer_name: Stated | None = None
    customer_phone: Phone | None = None
    line_items: Lines | None = None
    payment_method: PaymentMethod | None = None
    order_date: date | None = None
    notes: Notes | None = None


class NewCatalog(Payload):
    catalog_name: Stated
    is_public: bool = False
    products: Annotated[list[Product], Field(min_length=1, max_length=500)]


class CatalogChanges(Payload):
    """What is not given stays."""

    catalog_name: Stated | None = None
    is_public: bool | None = None
    products: Annotated[list[Product], Field(min_length=1, max_length=500)] | None = None


class SellingSeason(Payload):
    """A season that sells from a catalog; what else it is, its profile's permissions decide."""

    season_id: str
    profile_id: str


ReportFormat = Literal["CSV", "XLSX"]


class ReportFile(Payload):
    """A report to save: its content in base64."""

    file_name: str
    media_type: str
    content: str


def seen_by_owner(profile: Profile) -> SellerProfile:
    return _seen(profile, is_owner=True, permissions=["READ", "WRITE"])


def seen_through(profile: Profile, permissions: list[Permission]) -> SellerProfile:
    return _seen(profile, is_owner=False, permissions=permissions)


def seen_in_share(share: Share) -> SellerProfile:
    """A profile from a share alone."""
    return SellerProfile(
        profile_id=share.profile_id,
        owner_account_id=share.owner_account_id or "",
        seller_name=share.seller_name or "",
        created_at=share.created_at,
        updated_at=None,
        is_owner=False,
        permissions=list(share.permissions),
    )


def _seen(profile: Profile, *, is_owner: bool, permissions: list[Permission]) -> SellerProfile:
    return SellerProfile(
        profile_id=profile.profile_id,
        owner_account_id=profile.owner_account_id,
        seller_name=profile.seller_name,
        created_at=profile.created_at,
        updated_at=profile.updated_at,
        is_owner=is_owner,
        permissions=permissions,
    )
