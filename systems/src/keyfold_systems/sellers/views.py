"""What callers send, and what they are shown where it is not the stored item itself."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints

from keyfold_systems.sellers.entities import Catalog, Invite, Profile, Season, Share
from keyfold_systems.sellers.values import (
    BOTH,
    CleanId,
    PaymentMethod,
    Permission,
    Product,
    Text,
    YesOrNo,
)
from keyfold_web import ItemView, Payload, unchanged

Stated = Annotated[Text, StringConstraints(strip_whitespace=True)]
"""Text that a user types, without the blanks around it; blanks alone are refused."""
Phone = Annotated[str, Field(max_length=40)]
Notes = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=r"^[^@\s]+@[^@\s]+$", max_length=320),
]
Given = Annotated[
    tuple[Permission, ...],
    Field(min_length=1),
    AfterValidator(lambda given: tuple(one for one in BOTH if one in given)),
]
"""Permissions, each once and in one order, however they are sent."""


class NewAccount(Payload):
    """A new account."""

    email: Email
    given_name: Name = ""


class AccountChange(Payload):
    """What changes in an account."""

    email: Email = unchanged()
    given_name: Name = unchanged()


class SellerProfile(ItemView, of=Profile, without=("deleting_since",)):
    """A profile as one caller sees it."""

    owner_name: str = ""
    """In a list of what others share."""
    is_owner: bool
    permissions: list[Permission]

    @classmethod
    def for_caller(
        cls,
        profile: Profile,
        permissions: tuple[Permission, ...] | None = None,
        owner_name: str = "",
    ) -> Self:
        """As its owner sees it, or who has these permissions."""
        own, given = permissions is None, list(BOTH if permissions is None else permissions)
        return cls.of(profile, owner_name=owner_name, is_owner=own, permissions=given)


class NewShare(Payload):
    """Whom to give which permissions: the account with an address or an id."""

    profile_id: CleanId
    target_account_email: Email | None = None
    target_account_id: CleanId | None = None
    permissions: Given


class Helper(ItemView, of=Share):
    """An account that may use a profile."""

    given_name: str
    email: str


class NewInvite(Payload):
    """What a code will give, and for how long it is good."""

    profile_id: CleanId
    permissions: Given
    expires_in_days: Annotated[int, Field(ge=1, le=90)] = 14


class ListedInvite(ItemView, of=Invite):
    """An invite of a profile, and who used it."""

    used_by_name: str


class InviteDetails(
    ItemView, of=Invite, only=("invite_code", "profile_id", "permissions", "expires_at")
):
    """What a caller who has a code may know before redeeming it."""

    seller_name: str
    used: bool


class NewSeason(Payload):
    """A time of selling from a catalog."""

    profile_id: CleanId
    season_name: Stated
    catalog_id: CleanId
    start_date: date
    end_date: date | None = None


class SeasonChange(Payload):
    """What changes in a season; null removes its end. Its profile says where it lies."""

    profile_id: CleanId = unchanged()
    season_name: Stated = unchanged()
    catalog_id: CleanId = unchanged()
    start_date: date = unchanged()
    end_date: date | None = None


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
    """An order. With its profile, the season is read from the table; without, from the index."""

    season_id: CleanId
    profile_id: CleanId | None = None
    customer_name: Stated
    customer_phone: Phone | None = None
    line_items: Lines
    payment_method: PaymentMethod
    order_date: date
    notes: Notes | None = None


class OrderChange(Payload):
    """What changes in an order; null removes phone or notes. Its season says where it lies."""

    season_id: CleanId = unchanged()
    customer_name: Stated = unchanged()
    customer_phone: Phone | None = None
    line_items: Lines = unchanged()
    payment_method: PaymentMethod = unchanged()
    order_date: date = unchanged()
    notes: Notes | None = None


class Report(Payload):
    """A file to save: its content in base64."""

    file_name: str
    media_type: str
    content: str


def _stated(product: Product) -> Product:
    id, name = product.product_id.strip(), product.product_name.strip()
    if not (id and name):
        raise ValueError("a product needs an id and a name")
    return product.model_copy(update={"product_id": id, "product_name": name})


def _once(products: list[Product]) -> list[Product]:
    if len({one.product_id for one in products}) < len(products):
        raise ValueError("each product needs an id of its own")
    return products


Products = Annotated[
    list[Annotated[Product, AfterValidator(_stated)]],
    Field(min_length=1, max_length=500),
    AfterValidator(_once),
]


class NewCatalog(Payload):
    """What is sold, for how much; every account may sell from a public catalog."""

    catalog_name: Stated
    is_public_str: YesOrNo = "false"
    products: Products


class CatalogChange(Payload):
    """What changes in a catalog."""

    catalog_name: Stated = unchanged()
    is_public_str: YesOrNo = unchanged()
    products: Products = unchanged()


class ListedCatalog(ItemView, of=Catalog, without=("seasons", "created_at", "updated_at")):
    """A public catalog, and whose it is."""

    owner_name: str


class SellingSeason(ItemView, of=Season, only=("season_id", "profile_id")):
    """A season that sells from a catalog; the rest of it is seen by its profile's permissions."""
