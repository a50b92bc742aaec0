"""The policy of a feed: what is cheaper, when a switch pays, and what an adversary can do to it."""

from __future__ import annotations

import random
import re
from datetime import timedelta
from math import inf
from typing import Annotated, Any

import pytest

from keyfold import Design, Entity, Feed, Id, Index, Key, On, Timestamp, Ttl
from keyfold.errors import DeclarationError
from keyfold.maintain.feed.policy import (
    FIRST_NOTED,
    MARK_BYTES,
    NOTED,
    Crowd,
    EdgeRates,
    FadingCount,
    FeedPolicy,
    FeedPrices,
    Mode,
    Snapshot,
    born,
    crowd,
    decide,
    post_count,
    sample_share,
    unseen,
)

PRICES = FeedPrices(item_bytes=364, days=30)


def _rates(pages: float, posts: float, switched: Snapshot | None = None) -> EdgeRates:
    """Rates that were watched for a month."""
    return EdgeRates(
        FadingCount(28 * pages, 28, 60 * pages),
        FadingCount(28 * posts, 28, 60 * posts),
        prices=PRICES,
        switched=switched,
    )


def test_a_copy_costs_a_write_its_fan_out_and_a_month_of_storage() -> None:
    assert PRICES.copy == pytest.approx(6.0, abs=0.15)
    assert FeedPrices(1200, 30).copy > PRICES.copy + 5
    assert FeedPrices(364, 60).copy > PRICES.copy + 0.8


@pytest.mark.parametrize(
    ("pages", "posts", "mode"), [(20, 0.5, "push"), (20, 10, "pull"), (0.1, 2, "pull")]
)
def test_what_decides_is_how_often_somebody_reads_for_each_post(
    pages: float, posts: float, mode: Mode
) -> None:
    for now in ("push", "pull"):
        assert decide(_rates(pages, posts), now, FeedPolicy()).mode == mode


def test_near_parity_nothing_is_switched() -> None:
    for pages in (5.6, 6.0, 6.6):
        for now in ("push", "pull"):
            assert not decide(_rates(pages, 1.0), now, FeedPolicy()).switch


def test_who_was_not_seen_is_taken_for_one_of_the_crowd_and_less_so_with_time() -> None:
    policy = FeedPolicy(pages=8, days=2)
    others = crowd(policy, 0.0, 0.0, 0.0, 0.0)
    assert others == Crowd(8, 2, known=False)
    assert others.blend(unseen(0)).rate == pytest.approx(8)
    assert others.blend(unseen(14)).rate < 2
    rates = EdgeRates(unseen(0), post_count(0.0, 0.0, 0.0), prices=PRICES, crowd=others)
    assert born(rates, policy) == "push"


def test_the_crowd_counts_for_more_where_readers_are_alike() -> None:
    policy, looks = FeedPolicy(), 100.0
    alike = crowd(policy, looks, 5.0 * looks, 26.0 * looks, 1.0 * looks)
    apart = crowd(policy, looks, 5.0 * looks, 75.0 * looks, 1.0 * looks)
    assert (alike.pages, apart.pages) == (5.0, 5.0)
    assert alike.days > 5 * apart.days


def test_the_crowd_counts_for_more_where_pages_are_counted_rarely() -> None:
    others, seen = Crowd(5.0, 1.0), 20.0 * 14
    often, rarely = (FadingCount(seen, 14.0, seen, seen / share) for share in (0.1, 0.01))
    assert others.blend(often).rate == pytest.approx(285 / 15)
    assert others.blend(rarely).rate == pytest.approx(330 / 24)
    exact = FadingCount(seen, 14.0, seen, 0.0)
    assert others.blend(exact).rate == exact.rate


def test_the_mean_beside_a_count_is_that_of_a_gamma_distribution() -> None:
    mean, spread, share, days, samples = 5.0, 20.0, 0.02, 14.0, 3
    others = crowd(FeedPolicy(), 100.0, 100 * mean, 100 * (spread + mean**2), 0.0)
    count = FadingCount(samples / share, days, samples / share, samples / share**2)
    shape, rate = mean**2 / spread, mean / spread
    after = (shape + samples) / (rate + days * share)
    assert others.blend(count).rate == pytest.approx(after)
    blended = others.blend(count)
    assert blended.noise / blended.days**2 == pytest.approx(after / (rate + days * share))


def test_more_readers_are_noted_until_it_is_known_what_they_are_like() -> None:
    policy = FeedPolicy()
    first, later = crowd(policy, 39.0, 200.0, 2e3, 0.0), crowd(policy, 40.0, 200.0, 2e3, 0.0)
    assert (first.noted, later.noted) == (FIRST_NOTED, NOTED)
    assert NOTED % FIRST_NOTED == 0, "what is noted later would have been noted at first"


def test_a_source_that_posts_more_than_the_bound_is_pulled() -> None:
    policy = FeedPolicy(busiest=5)
    assert decide(_rates(1000, 6), "push", policy).mode == "pull"
    assert decide(_rates(1000, 6), "pull", policy).mode == "pull"
    assert born(_rates(1000, 6), policy) == "pull"
    assert "more than 5 posts" in decide(_rates(1000, 6), "push", policy).reason


def test_a_second_switch_must_make_good_what_was_lost() -> None:
    then = Snapshot(28 * 20, 60 * 20, 28 * 0.5, 60 * 0.5)
    back = _rates(20, 0.5, then)
    assert not decide(back, "pull", FeedPolicy()).switch
    assert decide(_rates(20, 0.5), "pull", FeedPolicy()).switch


def test_counting_costs_a_hundredth_of_what_it_steers() -> None:
    share = sample_share(FeedPolicy(), PRICES, pulled=20, copies=2.0, pages=5.0, watched=inf)
    steered = 20 + PRICES.copy * 2.0 / 5.0
    assert share * PRICES.write == pytest.approx(0.01 * steered)
    assert sample_share(FeedPolicy(), PRICES, 0, 0.0, 5.0, inf) == 1 / 256


def test_the_first_pages_of_a_reader_are_counted_more_often() -> None:
    shares = [sample_share(FeedPolicy(), PRICES, 20, 2.0, 5.0, days) for days in (0, 3, inf)]
    assert shares == pytest.approx([shares[2] * 4, shares[2] * 1.75, shares[2]])


def test_a_busy_source_is_priced_with_the_quarter_more_that_pages_ask_it_for() -> None:
    few, busy = PRICES.pulled(8), PRICES.pulled(10)
    assert (few, busy) == pytest.approx((1 + MARK_BYTES / 4096, 2 + MARK_BYTES / 4096))


@pytest.mark.parametrize("kind", ["mean", "runs", "eager"])
@pytest.mark.parametrize(
    "policy", [FeedPolicy(), FeedPolicy(least=1, guard=1), FeedPolicy(guard=8)]
)
def test_no_adversary_makes_a_follow_cost_more_than_the_bound(
    kind: str, policy: FeedPolicy
) -> None:
    paid, push, pull, trip = _played(kind, policy)
    bound = 1 + (policy.guard + 1) / policy.least
    # A last phase without a partner, and the event that went over.
    assert paid <= bound * min(push, pull) + (policy.guard + 2) * trip


def _played(kind: str, policy: FeedPolicy) -> tuple[float, float, float, float]:
    """Days on which somebody does what is dear just now: what we paid, and both fixed ways."""
    dice, mode, mood = random.Random(1), "pull", False
    pages, posts = FadingCount(0.0, 1.0), FadingCount(0.0, 1.0)
    switched, at = Snapshot(0.0, 0.0, 0.0, 0.0, moved=False), 0
    paid = push = pull = 0.0
    each = EdgeRates(pages, posts, window=0.0, prices=PRICES)
    for day in range(4_000):
        if kind == "runs":
            mood = mood ^ (dice.random() < 1 / 15)
            read, written = (dice.randrange(8), 0) if mood else (0, dice.randrange(2))
        elif mode == "push":
            read, written = 0, 1 if kind == "mean" else dice.randrange(1, 3)
        else:
            read, written = (6 if kind == "mean" else dice.randrange(1, 12)), 0
        pulled, pushed = -each.saving(-read, 0), -each.saving(0, written)
        pull, push = pull + pulled, push + pushed
        paid += pushed if mode == "push" else pulled
        pages = _counted(pages.aged(1), read)
        posts = _counted(posts.aged(1), written)
        then = Snapshot(
            switched.pages,
            switched.pages_total,
            switched.posts,
            switched.posts_total,
            float(day - at),
            switched.moved,
        )
        rates = EdgeRates(pages, posts, window=0.0, prices=PRICES, switched=then)
        if decide(rates, mode, policy).switch:  # type: ignore[arg-type]
            paid += PRICES.up(0) if mode == "pull" else PRICES.down
            mode, at = ("push" if mode == "pull" else "pull"), day
            switched = Snapshot(pages.seen, pages.total, posts.seen, posts.total)
    return paid, push, pull, PRICES.up(0) + PRICES.down


def _counted(count: FadingCount, events: int) -> FadingCount:
    return FadingCount(count.seen + events, count.days, count.total + events)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"policy": FeedPolicy(looks=0)}, "looks of its policy must be at least 1, not 0"),
        ({"policy": FeedPolicy(samples=-0.01)}, "samples of its policy must be at least 0"),
        ({"policy": FeedPolicy(pages=float("nan"))}, "pages of its policy must be at least 0"),
        ({"policy": FeedPolicy(least=5.0)}, "guard of its policy must be at least 5, not 4"),
        ({"policy": FeedPolicy(widest=-1)}, "widest of its policy must be at least 0"),
        ({"policy": "off"}, "policy must be a FeedPolicy or None, not 'off'"),
        ({"cap": 0}, "cap must be at least 1, not 0"),
        ({"ttl": timedelta(0)}, "ttl must be greater than 0"),
    ],
)
def test_bounds_that_cannot_hold_are_refused(wrong: dict[str, Any], said: str) -> None:
    design = Design("refused")
    table = design.table(
        "refused",
        indexes=[Index("GSI1", "GSI1PK", "GSI1SK")],
        ttl="ttl",
        stream="NEW_AND_OLD_IMAGES",
    )

    class Follow(Entity, table=table):
        follower_id: Id
        followee_id: Id
        key = Key("USER#{follower_id}", "FOLLOWING#{followee_id}")
        followers = On("GSI1", "USER#{followee_id}", "FOLLOWER#{follower_id}")

    class Post(Entity, table=table):
        actor_id: Id
        at: Timestamp
        key = Key("POSTS#{actor_id}", "AT#{at:iso}")

    class Item(Entity, table=table):
        follower_id: Id
        actor_id: Id
        at: Timestamp
        until: Annotated[Timestamp | None, Ttl()] = None
        key = Key("FEED#{follower_id}", "AT#{at:iso}")

    with pytest.raises(DeclarationError, match=re.escape(said)):
        Feed("home", activity=Post, edge=Follow, item=Item, **wrong)


def test_a_young_follow_is_looked_at_three_times_as_often() -> None:
    policy = FeedPolicy()
    assert policy.looks_at(0) * 3 == policy.looks_at(30) == policy.looks
    assert FeedPolicy(looks=1).looks_at(0) == 1
