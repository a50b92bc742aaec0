"""A marketplace as somebody new to keyfold writes one: what types and checks have to bear."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from keyfold import (
    AtMost,
    Counter,
    Created,
    Design,
    Entity,
    Id,
    Index,
    InKey,
    Key,
    Normalised,
    On,
    Pointer,
    States,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
)
from keyfold.feeds import Feed
from keyfold.structures import Average, From

from . import entities_types as typed

design = Design("marketplace", description="Shops, orders, holds, reviews, a feed and an audit.")
table = design.table(
    "marketplace",
    indexes=[
        Index("GSI1", "GSI1PK", "GSI1SK", purpose="by owner"),
        Index("GSI2", "GSI2PK", "GSI2SK", purpose="by time and price"),
        Index("ByTotal", ("shopId", "state"), ("total", "orderId"), sort_type=("N", "S")),
    ],
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
)


class OrderState(StrEnum):
    PENDING = "pending"
    PAID = "paid"
    SENT = "sent"
    CANCELLED = "cancelled"


class Address(BaseModel):
    street: str
    city: str


class Card(BaseModel):
    kind: Literal["card"] = "card"
    last_digits: str


class Transfer(BaseModel):
    kind: Literal["transfer"] = "transfer"
    iban: str


class Stamped(Entity):
    """What every record has."""

    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None
    version: Annotated[int, Version()] = 0


class User(typed.User, Stamped, table=table):
    """Somebody who buys or sells."""

    user_id: Id
    email: Annotated[str, Normalised(str.casefold)]
    name: str
    addresses: Annotated[dict[str, Address], AtMost(10)] = {}
    key = Key("USER#{user_id}", "USER")
    one_email = Unique("email")


class Shop(typed.Shop, Stamped, table=table):
    """What a seller runs."""

    shop_id: Id
    owner_id: Id
    title: str
    address: Address
    state: Annotated[
        Literal["open", "closed"], States({"open": ["closed"], "closed": ["open"]})
    ] = "open"
    products: Annotated[int, Counter("Product")] = 0
    followers: Annotated[int, Counter("Follow")] = 0
    key = Key("SHOP#{shop_id}", "SHOP")
    by_city = On("GSI1", "CITY#{address.city}", "{shop_id}")


class Product(typed.Product, Stamped, table=table):
    """Something to buy."""

    product_id: Id
    shop_id: Id
    title: str
    category: str
    price: Decimal
    stock: Annotated[int, Field(ge=0)] = 0
    tags: Annotated[set[str], AtMost(20)] = set()
    reviews: Annotated[int, Counter("Review")] = 0
    stars: Annotated[int, Counter("Review", sums="stars")] = 0
    rating = Average("stars", "reviews")
    key = Key("PRODUCT#{product_id}", "PRODUCT")
    by_shop = On("GSI1", "SHOP#{shop_id}", "PRODUCT#{title:lower}#{product_id}")
    by_price = On("GSI2", "CATEGORY#{category}", "{price:010.2f}#{product_id}")


class Tagged(typed.Tagged, Pointer[Product], table=table, each="tags"):
    """A product under one of its tags."""

    tag: str
    product_id: Id
    heading: Annotated[str, From("title")]
    price: Decimal
    key = Key("TAG#{tag}", "{product_id}")


class Hold(typed.Hold, Entity, table=table):
    """Pieces kept for somebody for a while."""

    product_id: Id
    user_id: Id
    pieces: Annotated[int, Field(gt=0)]
    until: Annotated[Timestamp | None, Ttl()] = None
    key = Key("PRODUCT#{product_id}", "HOLD#{user_id}")
    by_user = On("GSI1", "HOLDER#{user_id}", "{product_id}")


class CartLine(typed.CartLine, Entity, table=table):
    """Something in a cart."""

    user_id: Id
    product_id: Id
    pieces: int = 0
    key = Key("USER#{user_id}", "CART#{product_id}")


class Order(typed.Order, Stamped, table=table):
    """What somebody bought in a shop."""

    order_id: Id
    user_id: Id
    shop_id: Id
    at: Timestamp
    total: Decimal
    state: Annotated[
        OrderState,
        States(
            {
                OrderState.PENDING: {OrderState.PAID: "pay", OrderState.CANCELLED: "cancel"},
                OrderState.PAID: {OrderState.SENT: "ship", OrderState.CANCELLED: "refund"},
            }
        ),
    ] = OrderState.PENDING
    key = Key("ORDER#{order_id}", "ORDER")
    by_user = On("GSI1", "BUYER#{user_id}", "{at:iso}#{order_id}")
    by_total = On("ByTotal", ("shop_id", "state"), ("total", "order_id"))
    by_month = On("GSI2", "SALES#{shop_id}#{at:%Y-%m}", "{at:iso}#{order_id}")


class OrderLine(typed.OrderLine, Entity, table=table):
    """One product of an order."""

    order_id: Annotated[Id, InKey()]
    number: Annotated[int, InKey()]
    product_id: Id
    pieces: int
    price: Decimal
    key = Key("ORDER#{order_id}", "LINE#{number:03d}")


class Payment(typed.Payment, Entity, table=table):
    """How an order was paid."""

    order_id: Id
    reference: str
    means: Annotated[Card | Transfer, Field(discriminator="kind")]
    key = Key("ORDER#{order_id}", "PAYMENT")
    one_reference = Unique("reference")


class Review(typed.Review, Entity, table=table):
    """What somebody thinks of a product."""

    product_id: Id
    user_id: Id
    at: Timestamp
    stars: Annotated[int, Field(ge=1, le=5)]
    text: str = ""
    key = Key("PRODUCT#{product_id}", "REVIEW#{user_id}")
    by_user = On("GSI1", "REVIEWER#{user_id}", "{at:iso}#{product_id}")


class Follow(typed.Follow, Entity, table=table):
    """Somebody who wants to hear of a shop."""

    follower_id: Id
    shop_id: Id
    key = Key("FOLLOWER#{follower_id}", "SHOP#{shop_id}")
    followers = On("GSI1", "FOLLOWED#{shop_id}", "{follower_id}")


class News(typed.News, Entity, table=table):
    """What a shop has to say."""

    shop_id: Id
    at: Timestamp
    news_id: Id
    text: str = ""
    key = Key("NEWS#{shop_id}", "TS#{at:iso}#{news_id}")


class FeedItem(typed.FeedItem, Entity, table=table):
    """News in a follower's feed."""

    follower_id: Id
    shop_id: Id
    at: Timestamp
    news_id: Id
    text: str = ""
    expires_at: Annotated[Timestamp | None, Ttl()] = None
    key = Key("FEED#{follower_id}", "TS#{at:iso}#{news_id}")


class AuditEntry(typed.AuditEntry, Entity, table=table):
    """Who did what, by day."""

    entry_id: Id
    at: Timestamp
    actor_id: Id
    action: str
    key = Key("AUDIT#{at:%Y-%m-%d}", "{at:iso}#{entry_id}")


feed = Feed("news", activity=News, edge=Follow, item=FeedItem, cap=100)
