"""The feed beside pure pull and pure push: a page, a post, and sixty days of networks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from bench.feed_days import Comparison, Deciding
from bench.feed_days import compare as compare_ways
from bench.harness import Budget, Case, Outcome, Side, compare
from bench.lines import lines
from bench.networks import NAMES, TRIALS, make
from bench.plot import groups
from keyfold import Db, Entity
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.limits import BATCH_WRITE_ITEMS
from keyfold.maintain.feed import FeedPolicy
from keyfold.maintain.feed.fan_out import fan_out
from keyfold.maintain.feed.page import read_page
from keyfold.maintain.feed.policy import EdgeRates, FadingCount, FeedPrices, born
from keyfold.prices import prices
from keyfold.runtime.flow import Parallel
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import Activity, FeedItem, Follow, home

NOW = datetime(2026, 3, 1, tzinfo=UTC)
USERS = 100_000
FOLLOWEES = 50
POSTS = 0.5
"""Posts a day, on average; nobody posts more often than MOST_POSTS."""
MOST_POSTS = 50.0
READS = 10.0
"""Pages a day that one reader asks for."""
PAGE = 50
SIZES = (10, 100, 1000, 5000)
TEXT = "Ten kilometres before breakfast, and the coffee after tasted of victory. " * 2
MODES = ("pull", "push", "policy")
POST_SIZES = (10, 100, 1000, 10_000, 100_000)
PEOPLE, SEED = 500, 41
TRIAL_PEOPLE = 200


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    for followees in SIZES:
        yield _page(stack, budget, followees)
    yield _post(POST_SIZES)
    for name in (*NAMES, *TRIALS):
        yield _days(name)


@dataclass(frozen=True)
class Source:
    """Somebody who is followed."""

    name: str
    followers: float
    posts: float


@cache
def zipf(famous_post_most: bool, seed: int = 1) -> list[Source]:
    """Followers by rank, posts by another rank, or by the same."""
    scale = sum(1 / rank for rank in range(1, USERS + 1))
    shares = [USERS / scale / rank for rank in range(1, USERS + 1)]
    posts = [min(MOST_POSTS, POSTS * share) for share in shares]
    if not famous_post_most:
        random.Random(seed).shuffle(posts)
    return [
        Source(f"s{rank:06d}", min(USERS - 1, FOLLOWEES * share), often)
        for rank, (share, often) in enumerate(zip(shares, posts, strict=True))
    ]


def _followed_by_reader(followees: int) -> tuple[list[Source], list[Activity]]:
    """So many sources, and what they did."""
    dice = random.Random(followees)
    sources = _draw_sources(False, followees, dice)
    return sources, _activities(sources, dice)


def _draw_sources(famous_post_most: bool, followees: int, dice: random.Random) -> list[Source]:
    """Different ones, as often as they are followed."""
    network, weights = zipf(famous_post_most), _weights()
    drawn: dict[str, Source] = {}
    while len(drawn) < followees:
        for one in dice.choices(network, cum_weights=weights, k=followees - len(drawn)):
            drawn[one.name] = one
    return list(drawn.values())


@cache
def _weights() -> list[float]:
    return list(accumulate(source.followers for source in zipf(famous_post_most=False)))


def _pulled(sources: Sequence[Source], mode: str) -> set[str]:
    """What a reader of ten pages a day pulls, by the policy of production."""
    if mode != "policy":
        return {source.name for source in sources} if mode == "pull" else set()
    window = min(30.0, PAGE / sum(source.posts for source in sources))
    prices = FeedPrices(ITEM_BYTES, days=30)
    reading, policy = FadingCount(READS, 1.0), FeedPolicy()
    pulled = set()
    for source in sources:
        posts = FadingCount(source.posts, 1.0)
        if born(EdgeRates(reading, posts, window, PAGE, prices), policy) == "pull":
            pulled.add(source.name)
    return pulled


def _page(stack: ExitStack, budget: Budget, followees: int) -> Outcome:
    """One page of a reader who follows so many."""
    sources, activities = _followed_by_reader(followees)
    sides, figures = [], {}
    costs: dict[str, tuple[float, ...]] = {}
    for mode in MODES:
        pulled = _pulled(sources, mode)
        db = stack.enter_context(_filled(sources, activities, pulled))
        with db.work("page") as work:
            found = home.page(db, "reader", limit=PAGE)
        assert len(found) == PAGE, f"{mode} has {len(found)} items"
        total = work.total
        costs[mode] = total.requests, total.read_units, _rounds(db)
        figures[f"{mode}, {len(pulled)} of {followees} pulled"] = (
            f"{total.requests} requests in {_rounds(db)} rounds, {total.read_units:g} read units"
        )
        sides.append(Side(f"keyfold {mode}", partial(home.page, db, "reader", limit=PAGE)))
    outcome = compare(
        "feed",
        f"feed, page of {PAGE} from {followees:,} followees",
        sides,
        budget,
        reference="keyfold push",
        goal="policy within 2x of push in requests",
        met=lambda _: costs["policy"][0] <= 2 * costs["push"][0],
    )
    outcome.figures.update(figures)
    return outcome


def _rounds(db: Db) -> int:
    """How often a page waits for answers: requests of one round go out together."""
    flow, rounds = read_page(db.context, home, "reader", PAGE, None), 0
    try:
        effect: Any = next(flow)
        while True:
            rounds += 1
            calls = effect.calls if isinstance(effect, Parallel) else [effect]
            answers = [db.client.call(one.operation, one.request) for one in calls]
            effect = flow.send(answers if isinstance(effect, Parallel) else answers[0])
    except StopIteration:
        return rounds


def _activities(sources: Sequence[Source], dice: random.Random) -> list[Activity]:
    """The newest four pages' worth, as often from each source as it posts."""
    made = []
    rate = sum(source.posts for source in sources)
    for number in range(4 * PAGE):
        [source] = dice.choices(sources, [s.posts for s in sources])
        made.append(
            Activity(
                actor_id=source.name,
                author_id=source.name,
                activity_id=f"a{number:05d}",
                verb="post",
                object_type="Post",
                object_id=f"a{number:05d}",
                preview_text=TEXT,
                created_at=NOW - timedelta(days=number / max(rate, 4.0)),
            )
        )
    return made


def _filled(sources: Sequence[Source], activities: Sequence[Activity], pulled: set[str]) -> Db:
    """The tables as the feed leaves them, written directly."""
    db = design.open(EmbeddedClient(Engine.open(":memory:", clock=_clock())), clock=_clock())
    items: list[Entity] = [Follow(follower_id="reader", followee_id=s.name) for s in sources]
    items += [home.source_item("reader", name, "pull") for name in sorted(pulled)]
    items += activities
    items += [home.copy(one, "reader") for one in activities if one.actor_id not in pulled]
    last = {one.actor_id: home.position(one) for one in reversed(activities)}
    items += [home.support.hint(source=name, last=place) for name, place in last.items()]
    _write(db, items)
    return db


def _post(sizes: Sequence[int]) -> Outcome:
    """One post, and its copies for so many followers."""
    outcome = Outcome("feed", "feed, a post", "pull")
    for followers in sizes:
        copying = _copying(followers)
        outcome.figures["pull"] = f"{copying.posted:g} write units"
        dollars = (copying.units * prices().write + copying.reads * prices().read) / 1e6
        outcome.figures[f"push, {followers:,} followers"] = (
            f"{copying.units:,.0f} write units, {copying.reads:,.0f} read units, "
            f"{copying.requests:,} requests, ${dollars:.6f}"
        )
    return outcome


@dataclass(frozen=True)
class Copying:
    """What a post took: itself, then its copies with it."""

    posted: float
    units: float
    reads: float
    requests: int


@cache
def _copying(followers: int) -> Copying:
    activity = _activities([Source("star", 1, 1)], random.Random(1))[0]
    with _followed(followers) as db:
        with db.work("post") as posted:
            home.post(db, activity)
        with db.work("copies") as copied:
            db.run(fan_out(db.context, home, activity), "copies")
        assert sum(1 for _ in db.scan(FeedItem)) == followers
    first, total = posted.total.write_units, copied.total
    return Copying(first, first + total.write_units, total.read_units, total.requests)


def _followed(followers: int) -> Db:
    db = design.open(EmbeddedClient(Engine.open(":memory:", clock=_clock())), clock=_clock())
    listed = {"source": "star", "token": "0123456789", "reason": "9.8 pages for 0.2 posts a day"}
    entries = [
        home.support.subscription(follower_id=f"f{n:06d}", **listed) for n in range(followers)
    ]
    _write(db, entries)
    return db


def _write(db: Db, items: Sequence[Entity]) -> None:
    for start in range(0, len(items), BATCH_WRITE_ITEMS):
        chunk = items[start : start + BATCH_WRITE_ITEMS]
        puts = [{"PutRequest": {"Item": one.__spec__.encode(one)}} for one in chunk]
        db.client.call("BatchWriteItem", {"RequestItems": {"gg_core": puts}})


def _days(name: str) -> Outcome:
    """Sixty days of a network: what never changes, known afterwards, beside the policy."""
    users = TRIAL_PEOPLE if name in TRIALS else PEOPLE
    compared = _compared(name, users)
    outcome = Outcome("feed", f"feed, 60 days of {users} users, {name}", "push")
    for way, spent in (compared.ways | compared.with_heads).items():
        outcome.figures[way] = (
            f"{spent.total:,.0f} read units; a page {spent.pages / spent.read:.1f} units, "
            f"requests {spent.percentile(0.5)} (p50) {spent.percentile(0.95)} (p95) "
            f"{spent.percentile(0.99)} (p99) {spent.most} (most), "
            f"{spent.within(6):.0%} of pages within 6"
        )
    ours = compared.ours
    outcome.figures["policy"] += (
        f"; counting {ours.counting / (ours.copies + ours.pages):.1%}, "
        f"switching {ours.switching / ours.total:.1%}"
    )
    outcome.figures["policy over"] = (
        f"{compared.over_fixed:.3f} of the best of push, pull and fixed by authors, "
        f"{compared.over_edges:.3f} of the best for every edge"
    )
    best = min(compared.push.total, compared.pull.total, compared.author.total)
    for kind, spent in compared.headed.items():
        outcome.figures[f"{kind} over"] = (
            f"{spent.total / best:.3f} of the best of push, pull and fixed by authors, "
            f"{spent.total / compared.ours.total:.3f} of the policy without"
        )
    outcome.goal = "policy within 1.05 of the best fixed by authors, 1.25 by edges"
    outcome.met = bool(compared.over_fixed <= 1.05 and compared.over_edges <= 1.25)
    return outcome


@cache
def _compared(name: str, users: int) -> Comparison:
    return compare_ways(make(name, SEED, users), Deciding())


def draw(folder: Path) -> None:
    """The plots of the guide, by `python -m bench.cases.feed`; every run gives the same."""
    units: dict[str, list[tuple[float, float]]] = {mode: [] for mode in MODES}
    requests: dict[str, list[tuple[float, float]]] = {mode: [] for mode in MODES}
    for followees in SIZES:
        sources, activities = _followed_by_reader(followees)
        for mode in MODES:
            with _filled(sources, activities, _pulled(sources, mode)) as db, db.work("") as work:
                home.page(db, "reader", limit=PAGE)
            units[mode].append((followees, work.total.read_units))
            requests[mode].append((followees, work.total.requests))
    copying = [(followers, _copying(followers)) for followers in POST_SIZES]
    plots = {
        "feed-pages": lines(f"A page of {PAGE} items", "followees", "read units", units),
        "feed-requests": lines(f"A page of {PAGE} items", "followees", "requests", requests),
        "feed-posts": lines(
            "A post with its copies",
            "followers",
            "write units",
            {
                "pull": [(followers, one.posted) for followers, one in copying],
                "push": [(followers, one.units) for followers, one in copying],
            },
        ),
        "feed-networks": groups(
            f"Sixty days of {PEOPLE} users: cost over the best of the fixed ways by authors",
            {name: _compared(name, PEOPLE).shares for name in NAMES},
        ),
    }
    for name, plot in plots.items():
        (folder / f"{name}.svg").write_text(plot, "utf-8")


def _clock() -> ManualClock:
    return ManualClock(NOW.timestamp() + 1)


def _size(item: Entity) -> int:
    """Bytes of names and texts, which is all that a copy has."""
    wire: dict[str, Any] = item.__spec__.encode(item)
    return sum(len(name) + len(str(next(iter(value.values())))) for name, value in wire.items())


ITEM_BYTES = _size(home.copy(_activities([Source("s000000", 1, 1)], random.Random(0))[0], "reader"))

CASES = [Case("feed", "Feed", run)]


if __name__ == "__main__":
    draw(Path("docs/guide/images"))
