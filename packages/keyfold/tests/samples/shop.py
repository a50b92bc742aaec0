"""A shop with orders, found by id and by user."""

from __future__ import annotations

from keyfold import Design, Entity, Get, Index, Key, On, Query, get

design = Design("shop")
table = design.table("shop", indexes=[Index("ByUser", "userPK", "userSK")])


class Order(Entity, table=table):
    order_id: str
    user_id: str
    notes: str = ""
    key = Key("ORDER#{order_id}", "ORDER")
    by_user = On("ByUser", "USER#{user_id}", "ORDER#{order_id}")


@design.pattern(requests=1)
def order(order_id: str) -> Get[Order]:
    """An order."""
    return get(Order.key(order_id=order_id))


@design.pattern(requests=1)
def orders_of(user_id: str, limit: int = 20) -> Query[Order]:
    """The orders of a user."""
    return Order.by_user.query(user_id=user_id).limit(limit)
