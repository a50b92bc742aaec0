"""Requests and units of the typed layer and of what stands on it; see test_work_counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import httpx
import orjson
import pytest
from tests.samples.network import (
    ActivityFields,
    FeedItemFields,
    FollowFields,
    PromotionFields,
    network_table,
)

from keyfold import (
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Key,
    Pointer,
    Unique,
)
from keyfold.feeds import Feed, Flag
from keyfold.maintain import verify
from keyfold.streams import Consumer
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_systems.inviter import design as inviter
from keyfold_systems.inviter.service import Inviter
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.rest import rest_app

design = Design("work")
table = network_table(design)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Post(Entity, table=table):
    post_id: Id
    slug: str
    title: str = ""
    group_ids: set[str] = set()
    comments: Annotated[int, Counter("Comment")] = 0
    likes: Annotated[int, Counter("Like", sync="stream")] = 0
    key = Key("POST#{post_id}", "POST")
    one_slug = Unique("slug")


class GroupPost(Pointer[Post], table=table, each="group_ids"):
    group_id: str
    post_id: Id
    title: str
    key = Key("GROUP#{group_id}", "POST#{post_id}")


class Comment(Entity, table=table):
    post_id: Id
    comment_id: Id
    key = Key("POST#{post_id}", "COMMENT#{comment_id}")


class Like(Entity, table=table):
    post_id: Id
    user_id: Id
    key = Key("POST#{post_id}", "LIKE#{user_id}")


class Note(Entity, table=table):
    note_id: Id
    text: str = ""
    key = Key("NOTE#{note_id}", "NOTE")


class Follow(FollowFields, table=table):
    pass


class Activity(ActivityFields, table=table):
    pass


class FeedItem(FeedItemFields, table=table):
    pass


class Promotion(PromotionFields, table=table):
    pass


feed = Feed(
    "home",
    activity=Activity,
    edge={Follow: "followers"},
    item=FeedItem,
    push=Flag(Promotion, "fanout_enabled", since="updated_at"),
)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Note(note_id="n", text="x"))
        opened.create(Post(post_id="p", slug="s", group_ids={f"g{n}" for n in range(10)}))
        yield opened


def cost(db: Db, work: Callable[[], object]) -> tuple[int, float, float]:
    """Requests, read units, write units."""
    with db.work("counted") as done:
        work()
    return done.total.requests, done.total.read_units, done.total.write_units


POST = Post.key(post_id="p")
NOTE = Note.key(note_id="n")


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        pytest.param(lambda db: db.get(NOTE), (1, 1.0, 0.0), id="get"),
        pytest.param(lambda db: db.get_many([NOTE, POST]), (1, 2.0, 0.0), id="get many"),
        pytest.param(lambda db: db.create(Note(note_id="m")), (1, 0.0, 1.0), id="create"),
        pytest.param(lambda db: db.update(NOTE, text="y"), (1, 0.0, 1.0), id="update"),
        pytest.param(lambda db: db.delete(NOTE), (1, 0.0, 1.0), id="delete"),
        pytest.param(
            lambda db: db.put_many([Note(note_id=f"m{n}") for n in range(25)]),
            # They are read first, so that attributes which the design does not declare are kept.
            (2, 25.0, 25.0),
            id="put many",
        ),
        pytest.param(
            lambda db: db.put_many(
                [Note(note_id=f"m{n}") for n in range(25)], drop_undeclared=True
            ),
            (1, 0.0, 25.0),
            id="put many, whole",
        ),
        pytest.param(lambda db: db.update(POST, title="New"), (2, 1.0, 22.0), id="ten pointers"),
        pytest.param(
            lambda db: db.create(Comment(post_id="p", comment_id="c")), (1, 0.0, 4.0), id="counter"
        ),
        pytest.param(
            lambda db: db.create(Post(post_id="q", slug="t")), (1, 0.0, 4.0), id="unique value"
        ),
    ],
)
def test_requests_and_units_of_typed_operations(
    db: Db, work: Callable[[Db], object], expected: tuple[int, float, float]
) -> None:
    assert cost(db, lambda: work(db)) == expected


def test_a_typed_read_decodes_its_item_once(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    loads = orjson.loads

    def counted(data: Any) -> Any:
        decoded.append(len(data))
        return loads(data)

    monkeypatch.setattr(orjson, "loads", counted)
    assert db.get(NOTE).text == "x"
    assert len(decoded) == 1


def test_a_consumer_counts_many_records_with_few_requests(db: Db) -> None:
    Consumer(db).drain()
    for number in range(100):
        db.create(Like(post_id="p", user_id=f"u{number}"))
    requests, _, _ = cost(db, Consumer(db).drain)
    assert db.get(POST).likes == 100
    # One more than its work: a description tells the streams of this table from a dropped one's.
    assert requests <= 30


def test_verify_reads_every_item_once(db: Db) -> None:
    Consumer(db).drain()
    requests, _, writes = cost(db, lambda: verify(db))
    assert (requests, writes) == (1, 0.0)


def test_a_page_of_a_feed_is_a_few_requests(clock: ManualClock) -> None:
    with design.open(EmbeddedClient(Engine.open(clock=clock)), clock=clock) as db:
        for number in range(20):
            db.create(Follow(follower_id="r", followee_id=f"s{number}"))
        post_of_each(db)
        # The follows, their flags, and each author.
        assert cost(db, lambda: ten_items(db))[0] == 2 + 20
        for number in range(20):
            db.put(Promotion(user_id=f"s{number}", fanout_enabled=True))
        clock.advance(timedelta(days=31).total_seconds())
        post_of_each(db)
        Consumer(db).drain()
        # The follows, their flags, and the copies.
        assert cost(db, lambda: ten_items(db))[0] == 3


def post_of_each(db: Db) -> None:
    for number in range(20):
        at = db.context.now() - timedelta(seconds=number)
        db.create(Activity(actor_id=f"s{number}", created_at=at, activity_id=f"a{number}"))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def ten_items(db: Db) -> None:
    assert len(feed.page(db, "r", limit=10)) == 10


class Counted(AsyncEmbeddedClient):
    requests = 0

    async def call(self, operation: str, request: Any) -> dict[str, Any]:
        self.requests += 1
        return await super().call(operation, request)


async def test_requests_of_served_operations() -> None:
    client = Counted(Engine.open())
    db = await inviter.design.open_async(client)
    service, tokens = Inviter(db), DevelopmentTokens()
    await service.save_user("ada", "Ada")
    web = httpx.AsyncClient(
        transport=httpx.ASGITransport(rest_app(Dispatch(service), tokens)),
        base_url="http://served",
        headers={"authorization": f"Bearer {tokens.issue('ada')}"},
    )

    async def asked(method: str, path: str, **more: Any) -> tuple[int, Any]:
        before = client.requests
        answer = await web.request(method, path, **more)
        assert answer.is_success, answer.text
        return client.requests - before, answer.json()

    found, group = await asked("POST", "/groups", json={"name": "Runners"})
    new = {
        "title": "Run",
        "startTimestamp": "2031-01-01T10:00:00Z",
        "associatedGroups": [group["groupId"]],
    }
    hosted, _ = await asked("POST", "/hangouts", json=new)
    read, page = await asked("GET", f"/groups/{group['groupId']}/feed")
    assert len(page["items"]) == 1
    assert found <= 3
    assert hosted <= 4, "the host, the membership, the guests, the hangout"
    assert read <= 3, "the membership, the pointers, the reader's own answers"
    await web.aclose()
    await db.close()
