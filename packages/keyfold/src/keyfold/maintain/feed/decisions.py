"""The policy at work: which way each reader gets a source, decided when there is news of them.

A follow is decided when it is made. A sampled page names the pulled sources that look worth
pushing; its record in the stream brings them here. One copy in a few looks whether its reader
still reads. A promotion flag that is set decides instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from math import ceil, inf
from typing import TYPE_CHECKING, Any, cast
from zlib import crc32

from keyfold.design.predicate import FieldComparison, FieldPath
from keyfold.errors import ConditionFailed, NotFound, PlanError
from keyfold.maintain.feed.contents import glance
from keyfold.maintain.feed.counts import DAY, crowd_of, note_readers, rates_of, switched
from keyfold.maintain.feed.edges import edge_between
from keyfold.maintain.feed.policy import FIRST_NOTED, Decision, Mode, born, decide
from keyfold.maintain.feed.switch import pull, push
from keyfold.runtime.changes import Set
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Update
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed


def flag_of(context: Context, feed: Feed[Any], source: str) -> Flow[Any | None]:
    """A source's promotion flag, if an administrator set one."""
    if feed.promotion is None:
        return None
    flag: Any = yield from find(context, feed.promotion_ref(source))
    return flag


def begin(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[None]:
    """Decide how a new follow begins; it is pulled so far."""
    flag = yield from flag_of(context, feed, source)
    if flag is not None:
        if flag.fanout_enabled:
            yield from push(context, feed, reader, source, reason_of(flag))
        return
    if feed.policy is None:
        return
    known = yield from find(context, feed.support.hint.key(source=source), consistent=False)
    person = yield from find(context, feed.reader_ref(reader), consistent=False)
    now = context.now()
    others = yield from crowd_of(context, feed)
    rates = rates_of(feed, now, others, person, known, None)
    kept = switched(rates, now, moved=False)
    wide = known is not None and known.wide
    if not wide and born(rates, feed.policy) == "push":
        reason = decide(rates, "push", feed.policy).reason
        yield from push(context, feed, reader, source, reason, ceil(rates.shown_posts), kept)
        return
    mark = yield from find(context, feed.source_ref(reader, source))
    if mark is not None and mark.state == "pull" and mark.at is None:
        same = FieldComparison(FieldPath(("token",)), "=", mark.token)
        changes = {name: Set(value) for name, value in kept.items()}
        with suppress(ConditionFailed, NotFound):
            yield from commit(context, [Update(mark.ref(), changes, same)])


def consider(context: Context, feed: Feed[Any], person: Any) -> Flow[int]:
    """Push what a sampled page proposes, if it is confirmed; returns how many."""
    if feed.policy is None or not person.want:
        return 0
    reader, now = getattr(person, feed.reader_field), context.now()
    sources = person.want[: feed.policy.at_once]
    hints = yield from glance(context, [feed.support.hint.key(source=s) for s in sources])
    marks = yield from glance(context, [feed.source_ref(reader, s) for s in sources])
    others, pushed = (yield from crowd_of(context, feed)), 0
    for place, source in enumerate(sources):
        known, mark = hints.get(place), marks.get(place)
        if mark is None or mark.state != "pull" or known is None or known.wide:
            continue
        rates = rates_of(feed, now, others, person, known, mark)
        decision = decide(rates, "pull", feed.policy)
        if decision.switch and (yield from flag_of(context, feed, source)) is None:
            kept = switched(rates, now, moved=True)
            pushed += yield from push(
                context, feed, reader, source, decision.reason, ceil(rates.shown_posts), kept
            )
    return pushed


def look(
    context: Context,
    feed: Feed[Any],
    subscriptions: Sequence[Any],
    position: str,
    known: Any | None,
    before: int,
) -> Flow[None]:
    """Stop copying to readers that a look finds too inactive."""
    policy = feed.policy
    if policy is None:
        return
    beyond = [] if policy.widest is None else subscriptions[max(0, policy.widest - before) :]
    now = context.now()
    drawn = [one for one in subscriptions if one in beyond or _is_due(feed, one, position, now)]
    if not drawn:
        return
    others = yield from crowd_of(context, feed)

    def could_end(one: Any) -> bool:
        """Whether the copying would end if the reader had not come since it began."""
        return decide(rates_of(feed, now, others, None, known, one), "push", policy).switch

    def is_noted(one: Any) -> bool:
        return _draw(feed, one, position) % others.noted == 0

    looked = [one for one in drawn if one in beyond or is_noted(one) or could_end(one)]
    refs = [feed.reader_ref(getattr(one, feed.reader_field)) for one in looked]
    people = yield from glance(context, refs)
    flagged = cast("bool | None", None)
    noted = []
    for place, person in people.items():
        one = looked[place]
        rates = rates_of(feed, now, others, person, known, one)
        if is_noted(one):
            noted.append(rates.counted)
        if one not in beyond and not decide(rates, "push", policy).switch:
            continue
        if flagged is None:
            flagged = (yield from flag_of(context, feed, one.source)) is not None
        if flagged:
            continue
        kept = switched(rates, now, moved=True)
        yield from pull(context, feed, getattr(one, feed.reader_field), one.source, kept)
    yield from note_readers(context, feed, noted)
    if beyond and known is not None and not known.wide:
        wide = Update(known.ref(), {"wide": Set(True)}, lenient=True)
        yield from commit(context, [wide])


def _is_due(feed: Feed[Any], subscription: Any, position: str, now: datetime) -> bool:
    since = subscription.at
    looks = feed.chosen_policy.looks_at(inf if since is None else (now - since) / DAY)
    drawn = _draw(feed, subscription, position)
    return drawn % looks == 0 or drawn % FIRST_NOTED == 0


def _draw(feed: Feed[Any], subscription: Any, position: str) -> int:
    """The same at every attempt, so that a redelivered record looks at the same readers."""
    return crc32(f"{position}{getattr(subscription, feed.reader_field)}".encode())


def reason_of(flag: Any) -> str:
    return str(getattr(flag, "reason", None) or "manual")


def explain(context: Context, feed: Feed[Any], reader: str, source: str) -> Flow[Decision]:
    """The policy's current decision about a reader and a source."""
    if (yield from edge_between(context, feed, reader, source)) is None:
        raise PlanError(f"{reader} does not follow {source} in the feed {feed.name}")
    mark = yield from find(context, feed.source_ref(reader, source))
    listed = yield from find(context, feed.subscription_ref(reader, source))
    known = yield from find(context, feed.support.hint.key(source=source))
    person = yield from find(context, feed.reader_ref(reader))
    is_pulled = mark is not None and mark.state == "pull"
    others = yield from crowd_of(context, feed)
    edge = mark if is_pulled else listed
    rates = rates_of(feed, context.now(), others, person, known, edge)
    mode: Mode = "pull" if is_pulled else "push"
    decision = decide(rates, mode, feed.chosen_policy)
    flag = yield from flag_of(context, feed, source)
    if flag is None:
        return decision
    reason = f"{decision.reason}; a promotion flag decides: {reason_of(flag)}"
    return replace(decision, mode=mode, switch=False, reason=reason)
