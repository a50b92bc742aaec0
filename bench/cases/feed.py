"""The hybrid feed beside pure pull and pure push: a page, a post, and a whole network."""

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

from bench.harness import Budget, Case, Outcome, Side, compare
from bench.lines import lines
from keyfold import Db, Entity
from keyfold.clients.embedded import EmbeddedClient
from keyfold.clock import ManualClock
from keyfold.engine import Engine
from keyfold.limits import BATCH_WRITE_ITEMS
from keyfold.maintain.feed import Choice, Rates, choose
from keyfold.maintain.feed.posting import fan_out
from keyfold.maintain.feed.reading import read_page
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
MODES = ("pull", "push", "hybrid")
HINTS_FROM, HINT_UNITS = 24, 0.5


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    for followees in SIZES:
        yield _page(stack, budget, followees)
    yield _post([10, 100, 1000, 10_000, *([100_000] if budget.full else [])])
    for title, famous_post_most in (("", False), (", the most followed post the most", True)):
        yield _network(title, famous_post_most)


@dataclass(frozen=True)
class Source:
    """Somebody who is followed."""

    name: str
    followers: float
    posts: float

    @property
    def choice(self) -> Choice:
        return choose(Rates(round(self.followers), self.posts, READS, item_bytes=ITEM_BYTES))


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
    """So many sources, drawn as often as they are followed, and what they did."""
    dice = random.Random(followees)
    network = zipf(famous_post_most=False)
    weights = list(accumulate(source.followers for source in network))
    drawn: dict[str, Source] = {}
    while len(drawn) < followees:
        [one] = dice.choices(network, cum_weights=weights)
        drawn[one.name] = one
    sources = list(drawn.values())
    return sources, _activities(sources, dice)


def _pulled(sources: Sequence[Source], mode: str) -> set[str]:
    return {
        source.name
        for source in sources
        if mode == "pull" or (mode == "hybrid" and source.choice.mode == "pull")
    }


def _page(stack: ExitStack, budget: Budget, followees: int) -> Outcome:
    """One page of a reader who follows so many."""
    sources, activities = _followed_by_reader(followees)
    sides, figures = [], {}
    for mode in MODES:
        pulled = _pulled(sources, mode)
        db = stack.enter_context(_filled(sources, activities, pulled))
        with db.work("page") as work:
            found = home.page(db, "reader", limit=PAGE)
        assert len(found) == PAGE, f"{mode} has {len(found)} items"
        total = work.total
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
        goal="hybrid within 2x of push",
        met=lambda o: o.time("keyfold hybrid") <= 2 * o.time("keyfold push"),
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
    activity = _activities([Source("star", 1, 1)], random.Random(1))[0]
    for followers in sizes:
        db = _followed(followers)
        with db.work("post") as posted:
            home.post(db, activity)
        with db.work("copies") as copied:
            db.run(fan_out(db.context, home, activity), "copies")
        assert sum(1 for _ in db.scan(FeedItem)) == followers
        if "pull" not in outcome.figures:
            outcome.figures["pull"] = f"{posted.total.write_units:g} write units"
        total = copied.total
        units = posted.total.write_units + total.write_units
        dollars = (units * prices().write + total.read_units * prices().read) / 1e6
        outcome.figures[f"push, {followers:,} followers"] = (
            f"{units:,.0f} write units, {total.read_units:,.0f} read units, "
            f"{total.requests:,} requests, ${dollars:.6f}"
        )
        db.close()
    return outcome


def _followed(followers: int) -> Db:
    db = design.open(EmbeddedClient(Engine.open(":memory:", clock=_clock())), clock=_clock())
    _write(db, [Follow(follower_id=f"f{n:06d}", followee_id="star") for n in range(followers)])
    return db


def _write(db: Db, items: Sequence[Entity]) -> None:
    for start in range(0, len(items), BATCH_WRITE_ITEMS):
        chunk = items[start : start + BATCH_WRITE_ITEMS]
        puts = [{"PutRequest": {"Item": one.__spec__.encode(one)}} for one in chunk]
        db.client.call("BatchWriteItem", {"RequestItems": {"gg_core": puts}})


def _network(title: str, famous_post_most: bool) -> Outcome:
    """A day of a whole network, by the policy's own code, in units and dollars."""
    sources = zipf(famous_post_most)
    edges = sum(source.followers for source in sources)
    outcome = Outcome("feed", f"feed, a day of {USERS:,} users{title}", "push")
    dollars = {}
    for mode in MODES:
        writes = pulled = 0.0
        for source in sources:
            if mode == "pull" or (mode == "hybrid" and source.choice.mode == "pull"):
                pulled += source.followers
            else:
                writes += source.posts * source.followers * -(-ITEM_BYTES // 1024)
        reads = USERS * READS * page_units(pulled / USERS)
        dollars[mode] = (writes * prices().write + reads * prices().read) / 1e6
        outcome.figures[mode] = (
            f"{writes:,.0f} write units, {reads:,.0f} read units, ${dollars[mode]:.2f}; "
            f"{pulled / edges:.1%} of follows pulled, {page_units(pulled / USERS):.1f} units a page"
        )
    outcome.goal = "hybrid the cheapest"
    outcome.met = dollars["hybrid"] <= min(dollars["pull"], dollars["push"])
    return outcome


def draw(folder: Path) -> None:
    """The plot of the guide, from numbers that are the same on every run."""
    pages: dict[str, list[tuple[float, float]]] = {mode: [] for mode in MODES}
    for followees in SIZES:
        sources, activities = _followed_by_reader(followees)
        for mode in MODES:
            with _filled(sources, activities, _pulled(sources, mode)) as db, db.work("") as work:
                home.page(db, "reader", limit=PAGE)
            pages[mode].append((followees, work.total.read_units))
    plot = lines(f"A page of {PAGE} items", "followees", "read units", pages)
    (folder / "feed-pages.svg").write_text(plot, "utf-8")


def page_units(pulled: float) -> float:
    """Read units of a page: copies, marks and removals, then hints and the sources on the page."""
    copies = -(-PAGE * ITEM_BYTES // 4096) + 2
    if pulled <= HINTS_FROM:
        return copies + pulled
    return copies + pulled * HINT_UNITS + min(pulled, PAGE / 2)


def _clock() -> ManualClock:
    return ManualClock(NOW.timestamp() + 1)


def _size(item: Entity) -> int:
    """Bytes of names and texts, which is all that a copy has."""
    wire: dict[str, Any] = item.__spec__.encode(item)
    return sum(len(name) + len(str(next(iter(value.values())))) for name, value in wire.items())


ITEM_BYTES = _size(home.copy(_activities([Source("s000000", 1, 1)], random.Random(0))[0], "reader"))

CASES = [Case("feed", "Feed", run)]
