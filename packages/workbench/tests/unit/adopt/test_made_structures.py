"""Made items keep what a design keeps right: edges, extremes and averages over them."""

from __future__ import annotations

from typing import Annotated

from keyfold import Counter, Design, Entity, Id, Index, Key, On
from keyfold.maintain.verify import verify
from keyfold.rows.item_writer import put
from keyfold.structures import Average, Edge, Extreme, Latest, Mirror
from keyfold_workbench.adopt.made_items import ItemMaker

design = Design("club")
table = design.table("club", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")])


class User(Entity, table=table):
    user_id: Id
    name: str
    key = Key("USER#{user_id}", "USER")


class Room(Entity, table=table):
    room_id: Id
    last_id: str | None = None
    last_sent: int | None = None
    changes: int = 0
    members: Annotated[int, Counter("Membership")] = 0
    key = Key("ROOM#{room_id}", "ROOM")
    last = Latest(
        "Message",
        by="sent",
        shows={"last_id": "message_id", "last_sent": "sent"},
        moves="changes",
        through="by_time",
    )


class Message(Entity, table=table):
    room_id: Id
    message_id: Id
    sent: int
    key = Key("ROOM#{room_id}", "MESSAGE#{message_id}")
    by_time = On("GSI1", "ROOM#{room_id}", "{sent:012d}#{message_id}")


class Membership(Edge, table=table):
    room_id: Id
    user_id: Id
    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")
    rooms = Mirror("USER#{user_id}", "ROOM#{room_id}")


class Follow(Edge, table=table):
    follower_id: Id
    followee_id: Id
    key = Key("USER#{follower_id}", "FOLLOWS#{followee_id}")
    followers = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")


class Auction(Entity, table=table):
    auction_id: Id
    best_bid: str | None = None
    best_price: int | None = None
    bids: int = 0
    key = Key("AUCTION#{auction_id}", "AUCTION")
    highest = Extreme(
        "Bid", by="price", shows={"best_bid": "bid_id", "best_price": "price"}, moves="bids"
    )


class Bid(Entity, table=table):
    auction_id: Id
    bid_id: Id
    price: int
    key = Key("AUCTION#{auction_id}", "BID#{bid_id}")


class Product(Entity, table=table):
    product_id: Id
    stars: Annotated[int, Counter("Review", sums="stars")] = 0
    reviews: Annotated[int, Counter("Review")] = 0
    key = Key("PRODUCT#{product_id}", "PRODUCT")
    rating = Average("stars", "reviews")


class Review(Entity, table=table):
    product_id: Id
    user_id: Id
    stars: int
    key = Key("PRODUCT#{product_id}", "REVIEW#{user_id}")


def test_edges_lead_from_and_to_items_that_were_made() -> None:
    maker = ItemMaker(design, seed=3)
    maker.make(200)
    users = {one.user_id for one in maker.made["User"] if isinstance(one, User)}
    rooms = {one.room_id for one in maker.made["Room"] if isinstance(one, Room)}
    members = [one for one in maker.made["Membership"] if isinstance(one, Membership)]
    follows = [one for one in maker.made["Follow"] if isinstance(one, Follow)]
    assert len(members) > 5
    assert len(follows) > 5
    assert {one.user_id for one in members} <= users
    assert {one.room_id for one in members} <= rooms
    assert {one.follower_id for one in follows} <= users
    assert {one.followee_id for one in follows} <= users
    assert all(one.follower_id != one.followee_id for one in follows)


def test_extremes_and_averages_are_those_of_the_items_that_were_made() -> None:
    made = ItemMaker(design, seed=4).make(200)
    with design.open(":memory:") as db:
        assert put(db, made) == len(made)
        assert verify(db).clean
        for room in db.scan(Room):
            own = [o for o in made if isinstance(o, Message) and o.room_id == room.room_id]
            assert room.last_sent == max((one.sent for one in own), default=None)
        for auction in db.scan(Auction):
            bids = [o for o in made if isinstance(o, Bid) and o.auction_id == auction.auction_id]
            assert auction.best_price == max((one.price for one in bids), default=None)
        rated = [one for one in db.scan(Product) if one.reviews]
        assert rated
        for product in rated:
            own_stars = [
                o.stars
                for o in made
                if isinstance(o, Review) and o.product_id == product.product_id
            ]
            assert float(product.rating or 0) == sum(own_stars) / len(own_stars)
