"""Values that records of both designs are made of."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from keyfold import AtMost, InKey

Permission = Literal["READ", "WRITE"]
BOTH: Final[tuple[Permission, ...]] = ("READ", "WRITE")
Permissions = Annotated[tuple[Permission, ...], AtMost(2), Field(min_length=1)]
PaymentMethod = Literal["CASH", "CHECK", "CREDIT_CARD", "OTHER"]
YesOrNo = Literal["true", "false"]
Text = Annotated[str, Field(min_length=1, max_length=200)]


def casefold(address: str) -> str:
    return address.casefold()


def clean(value: object) -> object:
    """An id without the prefix that it has in keys: callers may give either."""
    if isinstance(value, str) and "#" in value:
        return value.rpartition("#")[2]
    return value


CleanId = Annotated[str, Field(min_length=1, max_length=64), BeforeValidator(clean)]
KeyId = Annotated[CleanId, InKey()]
"""An id that is stored with its prefix alone, in the key or the index key of its name."""


class LineItem(BaseModel):
    """Some of one product."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    product_id: Text
    product_name: Text
    quantity: Annotated[int, Field(ge=1, le=100_000)]
    price_per_unit: Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=2)]

    @property
    def subtotal(self) -> Decimal:
        return self.price_per_unit * self.quantity


class Product(BaseModel):
    """Something that a catalog offers."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    product_id: Text
    product_name: Text
    price: Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=2)]
