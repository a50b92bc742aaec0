"""The histories that run in a world, each with what has to hold in the end."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf
from typing import Any

from tests.deterministic.virtual_time import moved_into
from tests.fault import test_consumer_under_faults as followed
from tests.fault.history import Transaction, check_lists
from tests.fault.troubles import PASSING
from tests.property.test_feed import Activity, Follow, Promotion, feed
from tests.property.test_feed import design as network
from tests.unit.migrations import conftest as shops

from keyfold import Db
from keyfold.errors import (
    AlreadyExists,
    InternalFailure,
    NotFound,
    OperationError,
    StreamError,
    TransportError,
)
from keyfold.maintain import verify
from keyfold.migrations import Backend, Migration, ScanPace, add
from keyfold.migrations.migration import Phase
from keyfold.streams import Consumer, ConsumerOptions, Policy
from keyfold.testing.deterministic import SimulatedBackend, World
from keyfold.testing.deterministic.backend import swarm
from keyfold.testing.deterministic.shrink import Calm, Met
from keyfold.testing.deterministic.world import SimulatedProcess
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

PATIENCE = 500
OPTIONS = ConsumerOptions(
    batch=7, lease_seconds=10.0, poll_seconds=0.5, policy=Policy(patience=6, backoff=0.05)
)
UNKNOWN = (TransportError, InternalFailure)


class Stage:
    """A world with an engine and a backend in it."""

    def __init__(self, seed: int, calm: Calm, *, late: bool, shards: int) -> None:
        self.world = World(seed)
        lag = random.Random(f"lag of {seed}").choice((None, None, 0.2, 3.0))
        self.engine = Engine.open(":memory:", clock=self.world, index_lag=lag, stream_shards=shards)
        self.backend = SimulatedBackend(
            self.engine,
            self.world,
            swarm(seed),
            calm,
            spared=_is_person,
            punctual=_nobody if late else _is_person,
        )
        self.people = 0

    def insist(
        self, work: Callable[[], Any], passing: tuple[type[Exception], ...] = PASSING
    ) -> Any:
        for attempt in range(PATIENCE):
            try:
                return work()
            except passing:
                self.world.sleep(min(1.0, 0.02 * 2 ** min(attempt, 6)))
        raise AssertionError(f"{PATIENCE} attempts were not enough")

    def service(self, name: str, work: Callable[[], object]) -> None:
        """A process that is started again whenever it died, until all people are done."""

        def keep() -> None:
            number = 0
            while self.people or number == 0:
                process = self.world.spawn(f"{name} {number}", work)
                self.world.join(process)
                number += 1
                self.world.sleep(0.5)

        self.world.spawn(f"keeper of {name}", keep)

    def person(self, name: str, work: Callable[[], object]) -> None:
        """A process that does not die, for whose writes a model is kept."""
        self.people += 1

        def live() -> None:
            try:
                work()
            finally:
                self.people -= 1

        self.world.spawn(f"person {name}", live)

    def run(self) -> None:
        self.world.run()
        self.backend.quiet = True


def _is_person(process: SimulatedProcess) -> bool:
    return (process.owner or process).name.startswith(("person", "keeper"))


def _nobody(_: SimulatedProcess) -> bool:
    return False


@contextmanager
def staged(seed: int, calm: Calm, **options: Any) -> Iterator[Stage]:
    stage = Stage(seed, calm, **options)
    with moved_into(stage.world):
        try:
            yield stage
        finally:
            stage.engine.close()


def consume(stage: Stage, db: Db) -> Callable[[], None]:
    """A consumer that polls until all people are done, or it dies."""

    def work() -> None:
        consumer = Consumer(db, options=OPTIONS)
        while stage.people:
            try:
                consumer.run_once()
            except (*PASSING, StreamError):
                pass
            stage.world.sleep(0.3)

    return work


def counters(stage: Stage) -> None:
    """Likes, pointers and a processor follow the streams: each effect once."""
    quiet = EmbeddedClient(stage.engine)
    settled = followed.design.open(quiet, clock=stage.world)
    for post in followed.POSTS:
        settled.create(followed.Post(post_id=post))
    model: dict[str, Any] = {"likes": set(), "ever": [], "titles": {}, "groups": {}}

    def live(name: str, posts: str) -> Callable[[], None]:
        def work() -> None:
            db = followed.design.open(stage.backend, clock=stage.world, create_tables=False)
            chance = random.Random(f"{stage.world.seed} {name}")
            for _ in range(12):
                post, user = chance.choice(posts), chance.choice(followed.USERS)
                verb = chance.choice(["like", "like", "unlike", "edit", "move"])
                like = followed.Like(post_id=post, user_id=user)
                if verb == "like" and (post, user) not in model["likes"]:
                    stage.insist(partial(db.put, like))
                    model["likes"].add((post, user))
                    model["ever"].append(post)
                elif verb == "unlike":
                    stage.insist(partial(db.delete, like))
                    model["likes"].discard((post, user))
                elif verb == "edit":
                    title = model["titles"][post] = str(chance.random())
                    ref = followed.Post.key(post_id=post)
                    stage.insist(partial(db.update, ref, title=title))
                elif verb == "move":
                    groups = model["groups"][post] = set(chance.sample(followed.GROUPS, 2))
                    ref = followed.Post.key(post_id=post)
                    stage.insist(partial(db.update, ref, group_ids=groups))
                stage.world.sleep(chance.uniform(0, 2))

        return work

    stage.person("ann", live("ann", "ab"))
    stage.person("ben", live("ben", "c"))
    for number in range(2):
        db = followed.design.open(stage.backend, clock=stage.world, create_tables=False)
        stage.service(f"consumer {number}", consume(stage, db))
    stage.run()
    stage.engine.release_indexes()
    stage.world.sleep(120)
    Consumer(settled, options=OPTIONS).drain()
    assert Consumer(settled).status().dead_letters == 0
    for found in settled.scan(followed.Post):
        assert found.likes == sum(liked == found.post_id for liked, _ in model["likes"])
        assert found.seen == model["ever"].count(found.post_id)
    held = {(one.group_id, one.post_id, one.title) for one in settled.scan(followed.GroupPost)}
    assert held == {
        (group, post, model["titles"].get(post, ""))
        for post, groups in model["groups"].items()
        for group in groups
    }
    assert verify(settled).drifts == []


TABLE = {
    "TableName": "Seen",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def transactions(stage: Stage) -> None:
    """Lists that transactions append to and read: one order explains all of it."""
    stage.engine.call("CreateTable", TABLE)
    history: list[Transaction] = []
    numbers = iter(range(10**6))

    def live(name: str) -> Callable[[], None]:
        def work() -> None:
            chance = random.Random(f"{stage.world.seed} {name}")
            for _ in range(14):
                keys = chance.sample("abc", chance.randint(1, 3))
                start = stage.world.now()
                appends = tuple((key, next(numbers)) for key in keys)
                if chance.random() < 0.5:
                    _append(stage, history, start, appends)
                else:
                    _read(stage, history, start, keys)
                stage.world.sleep(chance.uniform(0, 0.01))

        return work

    for name in ("ann", "ben", "cat", "dan"):
        stage.person(name, live(name))
    stage.run()
    check_lists(history)


def _append(
    stage: Stage, history: list[Transaction], start: float, appends: tuple[tuple[str, int], ...]
) -> None:
    parts = [
        {
            "Update": {
                "TableName": "Seen",
                "Key": {"pk": {"S": key}},
                "UpdateExpression": "SET l = list_append(if_not_exists(l, :none), :value)",
                "ExpressionAttributeValues": {
                    ":none": {"L": []},
                    ":value": {"L": [{"N": str(value)}]},
                },
            }
        }
        for key, value in appends
    ]
    try:
        stage.backend.call("TransactWriteItems", {"TransactItems": parts})
    except UNKNOWN as problem:
        unsent = isinstance(problem, TransportError) and not problem.sent
        end = stage.world.now() if unsent else inf
        history.append(Transaction(start, end, appends=appends, failed=unsent))
    except OperationError:
        history.append(Transaction(start, stage.world.now(), appends=appends, failed=True))
    else:
        history.append(Transaction(start, stage.world.now(), appends=appends))


def _read(stage: Stage, history: list[Transaction], start: float, keys: Sequence[str]) -> None:
    parts = [{"Get": {"TableName": "Seen", "Key": {"pk": {"S": key}}}} for key in keys]
    try:
        answer = stage.backend.call("TransactGetItems", {"TransactItems": parts})
    except PASSING:
        return
    found = [
        tuple(int(v["N"]) for v in each.get("Item", {}).get("l", {}).get("L", ()))
        for each in answer["Responses"]
    ]
    reads = tuple(zip(keys, found, strict=True))
    history.append(Transaction(start, stage.world.now(), reads=reads))


VERBS = ["follow"] * 3 + ["post"] * 4 + ["read"] * 2 + ["remove", "unfollow", "promote"]


def feeds(stage: Stage) -> None:
    """People follow, post, take back and read: pages are right, and complete in the end."""
    people = ["ann", "ben", "cat", "dan"]
    quiet = EmbeddedClient(stage.engine)
    settled = network.open(quiet, clock=stage.world)
    follows: set[tuple[str, str]] = set()
    posted: list[Activity] = []

    def look(db: Db, name: str) -> None:
        """What is not followed is not shown; nothing comes twice."""
        cursor, shown = None, list[str]()
        while True:
            page = stage.insist(partial(feed.page, db, name, limit=3, cursor=cursor))
            assert len(page) == 3 or page.cursor is None
            assert all((name, item.actor_id) in follows for item in page)
            shown += [item.activity_id for item in page]
            cursor = page.cursor
            if cursor is None:
                break
        assert len(set(shown)) == len(shown)

    def live(name: str) -> Callable[[], None]:
        def once(work: Callable[[], object]) -> None:
            try:
                stage.insist(work)
            except (AlreadyExists, NotFound):
                # An attempt whose answer was lost had done it.
                return

        def work() -> None:
            db = network.open(stage.backend, clock=stage.world, create_tables=False)
            chance = random.Random(f"{stage.world.seed} {name}")
            for step in range(12):
                other = chance.choice([each for each in people if each != name])
                verb = chance.choice(VERBS)
                edge = Follow(follower_id=name, followee_id=other)
                if verb == "follow" and (name, other) not in follows:
                    once(partial(db.create, edge))
                    follows.add((name, other))
                elif verb == "unfollow" and (name, other) in follows:
                    once(partial(db.delete, edge, must_exist=True))
                    follows.discard((name, other))
                elif verb == "post":
                    at = db.context.now()
                    activity = Activity(
                        actor_id=name, created_at=at, activity_id=f"{name}{step:03d}"
                    )
                    once(partial(db.create, activity))
                    posted.append(activity)
                elif verb == "remove" and (own := [p for p in posted if p.actor_id == name]):
                    gone = chance.choice(own)
                    once(partial(db.delete, gone, must_exist=True))
                    posted.remove(gone)
                elif verb == "read":
                    look(db, name)
                elif verb == "promote":
                    promotion = Promotion(user_id=name, fanout_enabled=chance.random() < 0.7)
                    stage.insist(partial(db.put, promotion))
                stage.world.sleep(chance.uniform(0, 2))

        return work

    for name in people:
        stage.person(name, live(name))
    for number in range(2):
        db = network.open(stage.backend, clock=stage.world, create_tables=False)
        stage.service(f"consumer {number}", consume(stage, db))
    stage.run()
    stage.engine.release_indexes()
    stage.world.sleep(120)
    Consumer(settled, options=OPTIONS).drain()
    for reader in people:
        followed_ones = {source for one, source in follows if one == reader}
        expected = [one for one in posted if one.actor_id in followed_ones]
        expected.sort(key=lambda one: (one.created_at, one.activity_id), reverse=True)
        shown = [item.activity_id for item in feed.page(settled, reader, limit=60)]
        assert shown == [one.activity_id for one in expected]


PHASES: tuple[Phase, ...] = ("follow", "backfill", "verify", "hold")
ORDERS = 12


def migrations(stage: Stage) -> None:
    """A table is restructured while orders are written, and its migrator dies: both sides agree."""
    quiet = EmbeddedClient(stage.engine)
    shops.before.open(quiet, clock=stage.world)
    migration = Migration("m", [add(shops.new_table.schema), shops.order_move()])

    def shop(client: Any) -> shops.Shop:
        old = shops.before.open(client, create_tables=False, clock=stage.world)
        new = shops.after.open(client, create_tables=False, clock=stage.world)
        kept = Backend(client, clock=stage.world)
        return shops.Shop(stage.engine, kept, old, new, migration)

    settled = shop(quiet)
    chance = random.Random(f"{stage.world.seed} orders")
    for number in range(ORDERS):
        settled.old_order(f"o{number}", number, chance.choice(["s1", "s2"]))
    reached: list[Phase] = []

    def live() -> None:
        mine = shop(stage.backend)
        for _ in range(25):
            order, season = f"o{chance.randrange(ORDERS)}", chance.choice(["s1", "s2"])
            total = chance.randrange(9)
            if chance.random() < 0.3:
                ref = shops.OldOrder.key(order_id=order)
                stage.insist(partial(mine.old.delete, ref))
            else:
                stage.insist(partial(mine.old_order, order, total, season))
            stage.world.sleep(chance.uniform(0, 1))

    def migrate() -> None:
        mine = shop(stage.backend)
        for phase in PHASES[:-1]:
            if phase not in reached:
                stage.insist(partial(migrate_to, mine, phase))
                reached.append(phase)
                stage.world.sleep(chance.uniform(0, 4))

    stage.person("ann", live)
    stage.service("migrator", migrate)
    stage.run()

    def end() -> None:
        for phase in PHASES:
            settled.migrator(pace=ScanPace(page=5)).apply(phase)
        settled.migrator().apply("hold", repair=False)

    stage.person("end", end)
    stage.run()
    assert settled.new_items() == settled.expected_items()


def migrate_to(shop: shops.Shop, phase: Phase) -> None:
    shop.migrator(pace=ScanPace(page=5)).apply(phase)


HISTORIES: dict[str, Callable[[Stage], None]] = {
    "transactions": transactions,
    "counters": counters,
    "feeds": feeds,
    "migrations": migrations,
}
SHARDS = {"counters": 2, "feeds": 2}
LATE = frozenset({"transactions"})
"""Histories whose people know what to make of a request that takes effect after a timeout."""


def play(name: str, seed: int, calm: Calm = frozenset()) -> tuple[Stage, BaseException | None]:
    """One seed of a history: what was met, and what went wrong."""
    with staged(seed, calm, late=name in LATE, shards=SHARDS.get(name, 1)) as stage:
        try:
            HISTORIES[name](stage)
        except Exception as problem:
            return stage, problem
        return stage, None


def failing(name: str, seed: int) -> Callable[[Calm], Sequence[Met] | None]:
    """For shrinking: the faults that were met where the seed fails."""

    def fails(calm: Calm) -> Sequence[Met] | None:
        stage, problem = play(name, seed, calm)
        return None if problem is None else list(stage.backend.met)

    return fails


def seeds() -> range:
    """Which seeds: `SEEDS=100:200`, or how many from 0 on."""
    given = os.environ.get("SEEDS", "20")
    first, _, last = given.rpartition(":")
    return range(int(first or 0), int(last))
