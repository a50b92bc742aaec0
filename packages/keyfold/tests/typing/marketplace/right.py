"""Fourteen access patterns of the marketplace, and what a program does with them."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from keyfold import (
    AsyncDb,
    Collection,
    Count,
    Db,
    Exists,
    First,
    Get,
    GetMany,
    GetTogether,
    Merge,
    Query,
    add,
    check,
    collection,
    create,
    each,
    get,
    get_many,
    get_together,
    merge,
    update,
    upsert,
)
from keyfold.conditions import at, size

from .entities import (
    Address,
    AuditEntry,
    CartLine,
    Hold,
    Order,
    OrderLine,
    OrderState,
    Payment,
    Product,
    Review,
    Shop,
    Tagged,
    User,
    design,
)


@design.pattern(requests=1)
def user(user_id: str) -> Get[User]:
    """Somebody."""
    return get(User.key(user_id=user_id))


@design.pattern(requests=1)
def shops_in(city: str, limit: int = 20) -> Query[Shop]:
    """The shops of a city."""
    return Shop.by_city.query(address_city=city).limit(limit)


@design.pattern(requests=1)
def products_of(shop_id: str, beginning: str | None = None, limit: int = 20) -> Query[Product]:
    """A shop's products by title."""
    return Product.by_shop.query(shop_id=shop_id).since(title=beginning).limit(limit)


@design.pattern(requests=1)
def cheapest(category: str, most: Decimal, limit: int = 20) -> Query[Product]:
    """What costs at most so much, cheapest first."""
    return Product.by_price.query(category=category).until(price=most).limit(limit)


@design.pattern(requests=1)
def tagged(tag: str, limit: int = 20) -> Query[Tagged]:
    """Products with a tag."""
    return Tagged.key.query(tag=tag).limit(limit)


@design.pattern(requests=1)
def product_page(product_id: str) -> Collection[Product | Review]:
    """A product with what people think of it."""
    return collection(Product, Review, product_id=product_id)


@design.pattern(requests=1)
def order_page(order_id: str) -> Collection[Order | OrderLine | Payment]:
    """An order with its lines and its payment."""
    return collection(Order, OrderLine, Payment, order_id=order_id)


@design.pattern(requests=1)
def last_order(user_id: str) -> First[Order]:
    """The order that somebody made last."""
    return Order.by_user.query(user_id=user_id).descending().first()


@design.pattern()
def sales(shop_id: str, months: list[datetime], limit: int = 50) -> Merge[Order]:
    """What a shop sold in these months."""
    return merge(Order.by_month.query(shop_id=shop_id, at=each(months))).limit(limit)


@design.pattern(requests=1)
def cart_size(user_id: str) -> Count[CartLine]:
    """How much is in a cart."""
    return CartLine.key.query(user_id=user_id).count()


@design.pattern(requests=1)
def holds_something(user_id: str) -> Exists[Hold]:
    """Whether something is kept for somebody."""
    return Hold.by_user.query(user_id=user_id).exists()


@design.pattern(requests=1)
def products(product_ids: list[str]) -> GetMany[Product]:
    """These products."""
    return get_many(Product.key(product_id=each(product_ids)))


@design.pattern(requests=1)
def seller_and_shop(owner_id: str, shop_id: str) -> GetTogether[tuple[User | None, Shop | None]]:
    """A shop and who runs it, at one moment."""
    return get_together(User.key(user_id=owner_id), Shop.key(shop_id=shop_id))


@design.pattern(requests=1)
def audit(day: datetime, since: datetime | None = None, limit: int = 50) -> Query[AuditEntry]:
    """What was done on a day."""
    return AuditEntry.key.query(at=day).since(at=since).limit(limit)


@design.pattern(requests=1)
def largest(shop_id: str, state: OrderState, least: Decimal, limit: int = 20) -> Query[Order]:
    """A shop's orders in a state from a total on, the largest first."""
    found = Order.by_total.query(shop_id=shop_id, state=state).since(total=least)
    return found.descending().limit(limit)


def hold(db: Db, product: Product, user_id: str, pieces: int, now: datetime) -> Hold:
    """Keep pieces for somebody; stock cannot be held twice."""
    kept = Hold(
        product_id=product.product_id,
        user_id=user_id,
        pieces=pieces,
        until=now + timedelta(minutes=10),
    )
    made, _ = db.transact(create(kept), update(product.ref(), stock=add(-pieces)))
    return made


def pay(db: Db, order: Order, payment: Payment) -> Order:
    paid, _, _ = db.transact(
        update(order, state=OrderState.PAID),
        create(payment),
        check(User.key(user_id=order.user_id)),
    )
    return paid


def move_out(db: Db, who: User, name: str, to: Address) -> User:
    return db.update(
        who, at.set(lambda u: u.addresses[name], to), where=lambda u: size(u.addresses) < 10
    )


def put_into_cart(db: Db, user_id: str, product_id: str) -> int:
    line = db.upsert(CartLine.key(user_id=user_id, product_id=product_id), pieces=add(1))
    db.transact(upsert(line.ref(), pieces=add(0)))
    return line.pieces


def rename(db: Db, product: Product, title: str) -> str:
    return db.update(product, title=title, tags=add({"renamed"})).title


async def newest(db: AsyncDb, user_id: str) -> Decimal | None:
    found = await last_order(db, user_id)
    return found.total if found is not None else None
