"""Edges, cascades, copied fields, sharded counters and pointers that overflow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import pytest

from keyfold import (
    Copied,
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    Merge,
    On,
    Pointer,
    Version,
    create,
)
from keyfold.errors import (
    DeclarationError,
    NotFound,
    PlanError,
    TooManyWrites,
)
from keyfold.maintain import verify
from keyfold.review.check import check
from keyfold.streams import Consumer
from keyfold.structures import Cascade, Edge, Mirror, Sharded, across_shards, total
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults

design = Design("structures")
table = design.table(
    "Structures", stream="NEW_AND_OLD_IMAGES", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")]
)


class Follow(Edge, table=table):
    follower_id: Id
    followee_id: Id
    note: str = ""
    shard: Annotated[int, Sharded("follower_id", 4)] = 0
    key = Key("USER#{follower_id}", "FOLLOWS#{followee_id}")
    by_followee = On("GSI1", "USER#{followee_id}#{shard:02d}", "FOLLOWER#{follower_id}")
    followers = Mirror("USER#{followee_id}#{shard:02d}", "FOLLOWER#{follower_id}")


class Room(Entity, table=table):
    room_id: Id
    name: str
    members: Annotated[int, Counter("Member")] = 0
    key = Key("ROOM#{room_id}", "ROOM")
    all_members = Cascade("Member")
    all_guests = Cascade("Guest", through="by_room", sync="stream")


class Member(Entity, table=table):
    room_id: Id
    user_id: Id
    room_name: Annotated[str, Copied("Room", "name")]
    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")


class Guest(Entity, table=table):
    guest_id: Id
    room_id: Id
    key = Key("GUEST#{guest_id}", "GUEST")
    by_room = On("GSI1", "ROOM#{room_id}", "GUEST#{guest_id}")


class Post(Entity, table=table):
    post_id: Id
    title: str
    group_ids: set[str] = set()
    likes: Annotated[int, Counter("Like", shards=8)] = 0
    stars: Annotated[int, Counter("Like", sums="stars", where=lambda like: like.stars > 1)] = 0
    key = Key("POST#{post_id}", "POST")


class PostPointer(Pointer[Post], table=table, each="group_ids", overflow="stream"):
    group_id: str
    post_id: Id
    title: str
    key = Key("GROUP#{group_id}", "POST#{post_id}")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    stars: int = 1
    key = Key("POST#{post_id}", "LIKE#{user_id}")


@design.pattern(requests=4)
def followers(followee_id: str, limit: int = 50) -> Merge[Follow]:
    """Everybody who follows somebody."""
    return across_shards(Follow.followers, followee_id=followee_id).limit(limit)


@design.pattern()
def followers_by_index(followee_id: str) -> Merge[Follow]:
    """The same by the index."""
    return across_shards(Follow.by_followee, followee_id=followee_id)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def test_an_edge_is_seen_from_both_sides_in_the_order_of_the_sort_key(db: Db) -> None:
    for user in ("ada", "bob", "cy", "dot", "eve"):
        db.create(Follow(follower_id=user, followee_id="star"))
    expected = ["ada", "bob", "cy", "dot", "eve"]
    assert [f.follower_id for f in followers(db, "star")] == expected
    assert [f.follower_id for f in followers_by_index(db, "star")] == expected
    assert len({f.shard for f in followers(db, "star")}) > 1


def test_a_sharded_edge_is_paged_through(db: Db) -> None:
    for number in range(10):
        db.create(Follow(follower_id=f"u{number}", followee_id="star"))
    first = followers(db, "star", limit=6)
    rest = followers.after(first.cursor)(db, "star", limit=6)
    assert [f.follower_id for f in (*first, *rest)] == [f"u{n}" for n in range(10)]


def test_both_sides_of_an_edge_change_and_go_together(db: Db) -> None:
    db.create(Follow(follower_id="ada", followee_id="star"))
    ref = Follow.key(follower_id="ada", followee_id="star")
    db.update(ref, note="friend")
    assert [f.note for f in followers(db, "star")] == ["friend"]
    db.delete(ref)
    assert followers(db, "star").items == []


def test_an_edge_stays_in_its_shard_when_shards_are_added(db: Db) -> None:
    """An edge made when the account used one shard is found among four."""
    db.create(Follow(follower_id="ada", followee_id="star", shard=0))
    db.create(Follow(follower_id="bob", followee_id="star"))
    assert len(followers(db, "star")) == 2
    db.delete(Follow.key(follower_id="ada", followee_id="star"))
    assert [f.follower_id for f in followers(db, "star")] == ["bob"]
    assert verify(db).clean


def test_fewer_shards_can_be_read_where_an_account_uses_fewer(db: Db) -> None:
    db.create(Follow(follower_id="ada", followee_id="star", shard=0))
    wanted = across_shards(Follow.followers, shards=1, followee_id="star")
    assert len(db.read(wanted)) == 1
    assert Sharded("follower_id", 4).shard("ada", 1) == 0
    with pytest.raises(PlanError, match="5 shards were requested; 4 are declared"):
        Sharded("follower_id", 4).shard("ada", 5)


def test_a_key_that_is_not_sharded_is_read_with_query() -> None:
    with pytest.raises(PlanError, match=r"read it with query"):
        across_shards(Follow.key, follower_id="ada")


def test_a_mirror_belongs_to_an_edge() -> None:
    other = Design("other")
    things = other.table("Things")
    with pytest.raises(DeclarationError, match="has a mirror but is not an Edge"):

        class Thing(Entity, table=things):
            a: Id
            b: Id
            key = Key("A#{a}", "B#{b}")
            other_side = Mirror("B#{b}", "A#{a}")


def make_room(db: Db, members: int) -> None:
    db.create(Room(room_id="r", name="Chess"))
    for number in range(members):
        db.create(Member(room_id="r", user_id=f"u{number:03d}", room_name="Chess"))


def test_a_small_cascade_is_one_transaction() -> None:
    client = Meddling()
    with design.open(client) as db:
        make_room(db, 5)
        client.operations.clear()
        db.delete(Room.key(room_id="r"))
        assert client.operations.count("TransactWriteItems") == 1
        assert not {"DeleteItem", "BatchWriteItem"} & set(client.operations)
        assert list(db.scan(Member)) == []


def test_a_large_cascade_is_left_to_the_stream(db: Db) -> None:
    make_room(db, 130)
    db.delete(Room.key(room_id="r"))
    assert len(list(db.scan(Member))) == 130
    Consumer(db).drain()
    assert list(db.scan(Member)) == []
    assert verify(db).clean


def test_nothing_can_be_added_to_a_room_that_is_gone(db: Db) -> None:
    make_room(db, 1)
    db.delete(Room.key(room_id="r"))
    with pytest.raises(NotFound, match=r"Room.* does not exist"):
        db.create(Member(room_id="r", user_id="late", room_name="Chess"))


def test_a_room_and_its_first_member_can_be_made_together(db: Db) -> None:
    db.transact(
        create(Room(room_id="r", name="Chess")),
        create(Member(room_id="r", user_id="ada", room_name="Chess")),
    )
    assert db.get(Room.key(room_id="r")).members == 1


@pytest.mark.parametrize("known", [True, False])
def test_a_member_who_joins_while_the_room_is_deleted_goes_with_it(known: bool) -> None:
    client = Meddling()
    with design.open(client) as db:
        room = db.create(Room(room_id="r", name="Chess"))
        late = Member(room_id="r", user_id="late", room_name="Chess")
        client.meddle = lambda: db.create(late)
        db.create(Member(room_id="r", user_id="ada", room_name="Chess"))
        client.meddle = lambda: db.create(late.model_copy(update={"user_id": "later"}))
        db.delete(room if known else room.ref())
        assert list(db.scan(Member)) == []


def test_items_found_by_an_index_go_with_their_parent_and_so_do_late_ones(db: Db) -> None:
    db.create(Room(room_id="r", name="Chess"))
    db.create(Guest(guest_id="early", room_id="r"))
    db.delete(Room.key(room_id="r"))
    db.create(Guest(guest_id="late", room_id="r"))
    db.create(Room(room_id="kept", name="Go"))
    db.create(Guest(guest_id="other", room_id="kept"))
    Consumer(db).drain()
    assert [guest.guest_id for guest in db.scan(Guest)] == ["other"]


def test_a_cascade_too_large_without_a_stream_is_refused() -> None:
    silent = Design("silent")
    things = silent.table("Things")

    class Box(Entity, table=things):
        box_id: Id
        key = Key("BOX#{box_id}", "BOX")
        contents = Cascade("Thing")

    class Thing(Entity, table=things):
        box_id: Id
        thing_id: Id
        key = Key("BOX#{box_id}", "THING#{thing_id}")

    with silent.open(":memory:") as db:
        db.create(Box(box_id="b"))
        for number in range(60):
            db.create(Thing(box_id="b", thing_id=f"t{number}"))
        with pytest.raises(TooManyWrites, match="has no stream"):
            db.delete(Box.key(box_id="b"))
        assert db.find(Box.key(box_id="b")) is not None


def test_a_copied_field_follows_its_origin(db: Db) -> None:
    make_room(db, 45)
    consumer = Consumer(db)
    consumer.drain()
    db.update(Room.key(room_id="r"), name="Go")
    consumer.drain()
    assert {member.room_name for member in db.scan(Member)} == {"Go"}


def test_a_copy_made_with_an_old_value_is_put_right(db: Db) -> None:
    make_room(db, 0)
    db.update(Room.key(room_id="r"), name="Go")
    Consumer(db).drain()
    db.create(Member(room_id="r", user_id="ada", room_name="Chess"))
    Consumer(db).drain()
    assert db.get(Member.key(room_id="r", user_id="ada")).room_name == "Go"


def test_a_copy_of_an_unknown_field_is_refused() -> None:
    wrong = Design("wrong")
    things = wrong.table("Things")

    class Origin(Entity, table=things):
        origin_id: Id
        key = Key("O#{origin_id}", "O")

    class Shown(Entity, table=things):
        origin_id: Id
        title: Annotated[str, Copied("Origin", "title")]
        key = Key("O#{origin_id}", "S")

    with pytest.raises(DeclarationError, match="names the field 'title', which Origin does not"):
        wrong.complete()


def test_a_hot_counter_of_eight_shards_takes_concurrent_writers() -> None:
    engine = Engine.open(":memory:", faults=Faults(seed=7, conflict=0.2))
    with design.open(EmbeddedClient(engine)) as db:
        db.transact(create(Post(post_id="p", title="Hello")), token=None)
        problems: list[Exception] = []

        def write(worker: int) -> None:
            try:
                for number in range(25):
                    db.create(Like(post_id="p", user_id=f"{worker}-{number}"))
            except Exception as problem:
                problems.append(problem)

        threads = [threading.Thread(target=write, args=(worker,)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert db.run(total(db.context, Post.key(post_id="p"), "likes")) == 200
        used = {one.__dict__["shard"] for one in db.scan(design.entities["CounterShard"])}
        assert len(used) == 8


def test_a_sum_counts_what_its_condition_lets_in(db: Db) -> None:
    db.create(Post(post_id="p", title="Hello"))
    for user, stars in (("ada", 1), ("bob", 3), ("cy", 5)):
        db.create(Like(post_id="p", user_id=user, stars=stars))
    assert db.get(Post.key(post_id="p")).stars == 8
    db.update(Like.key(post_id="p", user_id="bob"), stars=1)
    db.update(Like.key(post_id="p", user_id="ada"), stars=4)
    db.delete(Like.key(post_id="p", user_id="cy"))
    assert db.get(Post.key(post_id="p")).stars == 4


def test_total_of_something_that_is_no_counter_is_refused(db: Db) -> None:
    with pytest.raises(PlanError, match=r"Post\.title is not a counter"):
        db.run(total(db.context, Post.key(post_id="p"), "title"))


class Meddling(EmbeddedClient):
    """Lets somebody else write between a read and the transaction that follows from it."""

    def __init__(self) -> None:
        super().__init__(Engine.open(":memory:"))
        self.meddle: Callable[[], object] | None = None
        self.operations: list[str] = []

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.operations.append(operation)
        if operation == "TransactWriteItems" and self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle()
        return super().call(operation, request)


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_a_new_pointer_shows_a_counter_that_moved_meanwhile(versioned: bool, known: bool) -> None:
    shown = Design("shown")
    things = shown.table("Things")
    lock = Annotated[int, Version()] if versioned else int

    class Song(Entity, table=things):
        song_id: Id
        lists: set[str] = set()
        plays: Annotated[int, Counter("Play")] = 0
        version: lock = 0  # type: ignore[valid-type]
        key = Key("SONG#{song_id}", "SONG")

    class SongInList(Pointer[Song], table=things, each="lists"):
        list_id: str
        song_id: Id
        plays: int
        key = Key("LIST#{list_id}", "SONG#{song_id}")

    class Play(Entity, table=things):
        song_id: Id
        play_id: Id
        key = Key("SONG#{song_id}", "PLAY#{play_id}")

    client = Meddling()
    with shown.open(client) as db:
        ref = Song.key(song_id="s")
        song = db.create(Song(song_id="s"))
        client.meddle = lambda: db.create(Play(song_id="s", play_id="1"))
        db.update(song if known else ref, lists={"a"})
        assert db.get(SongInList.key(list_id="a", song_id="s")).plays == 1
        report = verify(db)
        assert report.clean, [str(drift) for drift in report.drifts]


def test_pointers_beyond_one_transaction_overflow_to_the_stream(db: Db) -> None:
    groups = {f"g{number:03d}" for number in range(150)}
    db.create(Post(post_id="p", title="Hello", group_ids=groups))
    assert list(db.scan(PostPointer)) == []
    Consumer(db).drain()
    assert {pointer.group_id for pointer in db.scan(PostPointer)} == groups
    db.update(Post.key(post_id="p"), title="New")
    Consumer(db).drain()
    assert {pointer.title for pointer in db.scan(PostPointer)} == {"New"}
    db.update(Post.key(post_id="p"), group_ids={"g000"})
    Consumer(db).drain()
    assert [pointer.group_id for pointer in db.scan(PostPointer)] == ["g000"]


def test_few_pointers_of_an_overflowing_kind_are_written_at_once(db: Db) -> None:
    db.create(Post(post_id="p", title="Hello", group_ids={"a", "b"}))
    assert len(list(db.scan(PostPointer))) == 2


def test_the_schema_tells_shards_cascades_and_roles() -> None:
    schema = design.schema
    swept = [each.target for each in schema.follows if each.source == "Room" and each.deletes]
    assert swept == ["Member", "Guest"]
    assert schema.by_entity["Follow"].role == "edge"
    assert schema.by_entity["FollowFollowers"].role == "edge"
    assert schema.by_entity["CounterShard"].role == "counter"
    described = {each.name: each for each in schema.follows}
    assert described["counter Post.likes"].shards == 8
    assert described["copied Member.room_name"].writes == ("room_name",)
    assert described["cascade Room.all_guests"].found == "GSI1"


def test_an_index_that_only_a_cascade_reads_is_in_use() -> None:
    assert not [finding for finding in check(design.schema).findings if finding.code == "X3"]


def test_a_mirror_escapes_what_the_key_of_its_edge_escapes() -> None:
    labels = Design("labels")

    class Labelled(Edge, table=labels.table("Labels")):
        page_id: Id
        label: str
        key = Key("PAGE#{page_id}", "LABEL#{label}", escape=True)
        pages = Mirror("LABEL#{label}", "PAGE#{page_id}")

    with labels.open(":memory:") as db:
        made = db.create(Labelled(page_id="a#b", label="c#"))
        [seen] = db.read(Labelled.pages.query(label="c#")).items
        assert (seen.page_id, seen.label) == ("a#b", "c#")
        db.delete(made)
        assert db.read(Labelled.pages.query(label="c#")).items == []
