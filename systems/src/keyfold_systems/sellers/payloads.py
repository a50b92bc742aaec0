"""What callers send and get besides the records themselves."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints

from keyfold import Timestamp
from keyfold_systems.sellers.entities import (
    Account,
    Catalog,
    Order,
    Profile,
    ProfileOfOwner,
    Season,
    SeasonOfProfile,
    Share,
)
from keyfold_systems.sellers.values import (
    BOTH,
    CleanId,
    LineItem,
    PaymentMethod,
    Permission,
    Product,
    Text,
)
from keyfold_web import Payload, unchanged

Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that somebody types: what is around it is not meant, and blanks alone say nothing."""
Phone = Annotated[str, Field(max_length=40)]
Notes = Annotated[str, Field(max_length=2000)]
Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=r"^[^@\s]+@[^@\s]+$", max_length=320),
]
Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Given = Annotated[
    tuple[Permission, ...],
    Field(min_length=1),
    AfterValidator(lambda given: tuple(one for one in BOTH if one in given)),
]
"""Permissions, each once and in one order, however they are sent."""


class NewAccount(Payload):
    """What is known of somebody at sign-up."""

    email: Email
    given_name: Name = ""


class AccountChanges(Payload):
    """What is not given stays."""

    email: Email = unchanged()
    given_name: Name = unchanged()


class SellerProfile(Payload):
    """A profile as one caller sees it."""

    profile_id: str
    owner_account_id: str
    owner_name: str = ""
    """The owner's given name, in lists of other people's profiles."""
    seller_name: str
    created_at: Timestamp
    updated_at: Timestamp | None
    is_owner: bool
    permissions: list[Permission]

    def with_owner(self, owner: Account | None) -> Self:
        return self.model_copy(update={"owner_name": owner.given_name}) if owner else self


class Helper(Payload):
    """Somebody who may use a profile."""

    profile_id: str
    target_account_id: str
    given_name: str
    email: str
    permissions: list[Permission]
    created_at: Timestamp
    created_by_account_id: str

    @classmethod
    def of(cls, share: Share, account: Account | None) -> Self:
        return cls(
            profile_id=share.profile_id,
            target_account_id=share.target_account_id,
            given_name=account.given_name if account else "",
            email=account.email if account else "",
            permissions=list(share.permissions),
            created_at=share.created_at,
            created_by_account_id=share.created_by_account_id,
        )


class NewShare(Payload):
    """Whom to give which permissions; by address or by id."""

    profile_id: CleanId
    target_account_email: Email | None = None
    target_account_id: CleanId | None = None
    permissions: Given


class NewInvite(Payload):
    """What the code will give, and for how long it is good."""

    profile_id: CleanId
    permissions: Given
    expires_in_days: Annotated[int, Field(ge=1, le=90)] = 14


class ListedInvite(Payload):
    """An invite among those of a profile, with who used it."""

    invite_code: str
    profile_id: str
    permissions: list[Permission]
    created_by_account_id: str
    created_at: Timestamp
    expires_at: Timestamp
    used_at: Timestamp | None
    used_by_account_id: str | None
    used_by_name: str | None


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

    season_name: Stated = unchanged()
    catalog_id: CleanId = unchanged()
    start_date: date = unchanged()
    end_date: date | None = None


class ListedSeason(Payload):
    """A season in a list: with its catalog's name and what it sold."""

    season_id: str
    profile_id: str
    season_name: str
    catalog_id: str
    catalog_name: str
    start_date: date
    end_date: date | None
    created_at: Timestamp
    updated_at: Timestamp | None
    orders: int
    total_amount: Decimal

    @classmethod
    def of(cls, season: SeasonOfProfile, catalog: Catalog | None) -> Self:
        shown = {name: one for name, one in season.__dict__.items() if name in cls.model_fields}
        return cls(**shown, catalog_name=catalog.catalog_name if catalog else "")


class OrderLine(Payload):
    """Some of one product; a name or a price that is given must be the catalog's."""

    product_id: Text
    quantity: Annotated[int, Field(ge=1, le=100_000)]
    product_name: Text | None = None
    price_per_unit: Decimal | None = None

    def fits(self, name: str, price: Decimal) -> bool:
        return self.product_name in (None, name) and self.price_per_unit in (None, price)


Lines = Annotated[list[OrderLine], Field(min_length=1, max_length=200)]


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

    customer_name: Stated = unchanged()
    customer_phone: Phone | None = None
    line_items: Lines = unchanged()
    payment_method: PaymentMethod = unchanged()
    order_date: date = unchanged()
    notes: Notes | None = None


class ListedOrder(Payload):
    """An order among those of all seasons."""

    order_id: str
    season_id: str
    season_name: str
    profile_id: str
    customer_name: str
    customer_phone: str | None
    line_items: list[LineItem]
    total_amount: Decimal
    payment_method: PaymentMethod
    notes: str | None
    order_date: date
    created_at: Timestamp
    updated_at: Timestamp | None

    @classmethod
    def of(cls, order: Order, season: Season | None) -> Self:
        return cls(**order.__dict__, season_name=season.season_name if season else "")


def _stated(product: Product) -> Product:
    id, name = product.product_id.strip(), product.product_name.strip()
    if not (id and name):
        raise ValueError("a product needs an id and a name")
    return product.model_copy(update={"product_id": id, "product_name": name})


Products = Annotated[
    list[Annotated[Product, AfterValidator(_stated)]], Field(min_length=1, max_length=500)
]


class NewCatalog(Payload):
    catalog_name: Stated
    is_public: bool = False
    products: Products


class CatalogChanges(Payload):
    """What is not given stays."""

    catalog_name: Stated = unchanged()
    is_public: bool = unchanged()
    products: Products = unchanged()


class ListedCatalog(Payload):
    """A catalog in the public list."""

    catalog_id: str
    owner_account_id: str
    owner_name: str
    catalog_name: str
    is_public: bool
    products: list[Product]
    created_at: Timestamp
    updated_at: Timestamp | None

    @classmethod
    def of(cls, catalog: Catalog, owner: Account | None) -> Self:
        shown = {name: one for name, one in catalog.__dict__.items() if name in cls.model_fields}
        return cls(**shown, owner_name=owner.given_name if owner else "")


class SellingSeason(Payload):
    """A season that sells from a catalog; what else it is, its profile's permissions decide."""

    season_id: str
    profile_id: str


class ReportFile(Payload):
    """A report to save: its content in base64."""

    file_name: str
    media_type: str
    content: str


def seen_by_owner(profile: Profile | ProfileOfOwner) -> SellerProfile:
    return _view(profile, is_owner=True, permissions=["READ", "WRITE"])


def seen_through(profile: Profile, permissions: list[Permission]) -> SellerProfile:
    return _view(profile, is_owner=False, permissions=permissions)


def seen_in_share(share: Share) -> SellerProfile:
    """A profile from a share alone."""
    return SellerProfile(
        profile_id=share.profile_id,
        owner_account_id=share.owner_account_id or "",
        seller_name=share.seller_name or "",
        created_at=share.profile_created_at or share.created_at,
        updated_at=share.profile_updated_at,
        is_owner=False,
        permissions=list(share.permissions),
    )


def _view(
    profile: Profile | ProfileOfOwner, *, is_owner: bool, permissions: list[Permission]
) -> SellerProfile:
    return SellerProfile(
        profile_id=profile.profile_id,
        owner_account_id=profile.owner_account_id,
        seller_name=profile.seller_name,
        created_at=profile.created_at,
        updated_at=profile.updated_at,
        is_owner=is_owner,
        permissions=permissions,
    )
