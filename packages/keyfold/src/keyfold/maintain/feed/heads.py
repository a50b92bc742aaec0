"""Heads: a source's newest activities in its hint, so that a page reads a hundred sources at once.

A head is complete from its oldest entry on; older activities are in the source's own partition. It
is valid until something newer is announced, so a writer without heads invalidates it. A post is
acknowledged when it is in its head, so that a later page has it. A write of a head is conditional
on the token that was read: of two concurrent writers, one reads again. A writer that loses too
often removes the head, and pages query the source until the stream has written it again. Deleted
and changed activities leave a head as they leave copies: the removed list hides them at once, the
stream removes them.

Entries are compressed, and fill at most one write unit, so that a head adds no cost to a post. If a
counted page needs more, the head may be twice as large for some months: only sources that many
readers pull pay for it.
"""

from __future__ import annotations

import zlib
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import orjson

from keyfold.design.entity import Entity
from keyfold.design.predicate import Both, FieldComparison, FieldPath, Predicate, Test
from keyfold.design.template import HIGHEST
from keyfold.errors import ConditionFailed
from keyfold_engine.limits import WRITE_UNIT_BYTES
from keyfold.maintain.feed.contents import glance, newest_of
from keyfold.maintain.feed.counts import hint_changes
from keyfold.maintain.feed.newest_first import PartitionRead
from keyfold.maintain.feed.support_items import new_token
from keyfold.runtime.changes import Change, Set, clear
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Flow
from keyfold.runtime.intent import Update
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit
from keyfold_engine.values.size import item_size

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

Item = dict[str, Any]
Entry = dict[str, Any]
"""An activity as it is stored in a copy, without its reader and source."""

SHORT_BYTES: Final = WRITE_UNIT_BYTES
LONG_BYTES: Final = 2 * WRITE_UNIT_BYTES
"""A hint with its head, while pages ask for more than a short one has."""
LONG_FOR: Final = timedelta(days=90)
SPARE_BYTES: Final = 12
"""Numbers of a hint get longer from post to post."""
ATTEMPTS: Final = 4


@dataclass(frozen=True)
class Head:
    """The newest activities of a source, newest first."""

    entries: tuple[Entry, ...]
    sort: str
    """The attribute of their positions."""
    whole: bool = True
    """Nothing is older than these; else something may be."""
    last: str = ""
    """What its hint said of the newest activity when it was made."""

    @property
    def packed(self) -> bytes:
        return zlib.compress(orjson.dumps([self.last, self.whole, self.entries]), 9)

    @property
    def since(self) -> str:
        """The position from which on all are there."""
        if self.whole:
            return ""
        return str(self.entries[-1][self.sort]["S"]) if self.entries else HIGHEST

    def with_entry(self, entry: Entry) -> Head:
        """With one more activity; a repeated one is added once."""
        place = entry[self.sort]["S"]
        others = [one for one in self.entries if one[self.sort]["S"] != place]
        ordered = sorted((entry, *others), key=lambda one: str(one[self.sort]["S"]), reverse=True)
        return replace(self, entries=tuple(ordered))

    def bounded(self, most: int, room: int) -> Head:
        """The newest activities, up to a number and a size."""
        kept = self if len(self.entries) <= most else self._first(most)
        while kept.entries and len(kept.packed) > room:
            kept = kept._first(len(kept.entries) - 1)
        return kept

    def _first(self, count: int) -> Head:
        return replace(self, entries=self.entries[:count], whole=False)


def unpacked(content: bytes, sort: str, newest: str) -> Head | None:
    """A head as it was packed; None if it is damaged, or older than what its hint names.

    That is as if there were none.
    """
    try:
        last, whole, entries = orjson.loads(zlib.decompress(content))
    except (zlib.error, ValueError, TypeError):
        return None
    return Head(tuple(entries), sort, whole, last) if last == newest else None


def entry_of(feed: Feed[Any], activity: Entity) -> Entry:
    """An activity in a head: what its copies have in common, without its source."""
    spec = feed.item.__spec__
    copy = feed.copy(activity, getattr(activity, feed.source_field))
    shared = dict(spec.attributes_of(copy.__dict__))
    for field in (feed.reader_field, feed.source_field):
        shared.pop(spec.fields[field].attribute, None)
    return {**shared, _sort(feed): {"S": feed.position(activity)}}


def note(context: Context, feed: Feed[Any], activity: Entity) -> Flow[None]:
    """Put a new activity into its source's head, and count it."""
    source, position = getattr(activity, feed.source_field), feed.position(activity)
    for attempt in range(ATTEMPTS):
        # What is a moment old costs half, and the write fails on it.
        consistent = attempt > 0
        ref = feed.support.hint.key(source=source)
        known = yield from find(context, ref, consistent=consistent)
        head = head_of(feed, known)
        newer = known is None or known.last < position
        if head is None or (newer and position < head.since):
            head = yield from _new_head(context, feed, source)
        elif position >= head.since:
            head = head.with_entry(entry_of(feed, activity))
        elif consistent:
            return
        else:
            continue
        changes = hint_changes(context, feed, activity) if newer else {}
        head = replace(head, last=position if known is None or newer else known.last)
        if (yield from _write(context, feed, source, known, head, changes)):
            return
    yield from forget(context, feed, source)


def refresh(context: Context, feed: Feed[Any], source: str) -> Flow[None]:
    """Update a source's head from its partition."""
    for _ in range(ATTEMPTS):
        # The token is read first: what changes after it lets the write fail.
        known = yield from find(context, feed.support.hint.key(source=source))
        if known is None:
            return
        made = replace((yield from _new_head(context, feed, source)), last=known.last)
        if made.bounded(feed.heads, _room(context, feed, known)) == head_of(feed, known):
            return
        if (yield from _write(context, feed, source, known, made, {})):
            return
    yield from forget(context, feed, source)


def lengthen(context: Context, feed: Feed[Any], sources: Sequence[str]) -> Flow[None]:
    """Let the heads of these sources grow with their next posts, since pages ask for more.

    A record that comes again finds it done.
    """
    refs, now = [feed.support.hint.key(source=source) for source in sources], context.now()
    for place, known in (yield from glance(context, refs)).items():
        if known is None or (known.long_until and known.long_until > now + LONG_FOR / 2):
            continue
        changes: dict[str, Change] = {"long_until": Set(now + LONG_FOR)}
        yield from commit(context, [Update(refs[place], changes, lenient=True)])


def forget(context: Context, feed: Feed[Any], source: str) -> Flow[None]:
    """Take a head away, so that pages ask the source."""
    changes: dict[str, Change] = {"head": clear, "token": Set(new_token())}
    ref = feed.support.hint.key(source=source)
    yield from commit(context, [Update(ref, changes, lenient=True)])


def head_of(feed: Feed[Any], hint: Any | None) -> Head | None:
    """The head in a hint; None if it was not written yet, or was removed."""
    if hint is None or hint.head is None:
        return None
    return unpacked(hint.head, _sort(feed), hint.last)


def _new_head(context: Context, feed: Feed[Any], source: str) -> Flow[Head]:
    found = yield from newest_of(context, feed, source, feed.heads + 1)
    entries = tuple(entry_of(feed, one) for one in found)
    return Head(entries, _sort(feed))


def _room(context: Context, feed: Feed[Any], known: Any) -> int:
    """Bytes that a head may have beside what its hint has anyway."""
    # Without a policy, pages are not counted, so nothing would report that a head is too short.
    until = known.long_until
    is_long = feed.policy is None or (until is not None and until > context.now())
    rest = known.model_copy(update={"head": b"", "token": new_token()})
    used = item_size(rest.__spec__.encode(rest)) + SPARE_BYTES
    return (LONG_BYTES if is_long else SHORT_BYTES) - used


def _write(
    context: Context,
    feed: Feed[Any],
    source: str,
    known: Any | None,
    head: Head,
    changes: Mapping[str, Change],
) -> Flow[bool]:
    """Write a head, with what else is new, where the hint is as it was read."""
    ref = feed.support.hint.key(source=source)
    as_if = known or feed.support.hint(source=source, last=head.last, begun=context.now())
    kept = head.bounded(feed.heads, _room(context, feed, as_if))
    written: dict[str, Change] = {
        **changes,
        "head": Set(kept.packed),
        "token": Set(new_token()),
    }
    try:
        yield from commit(context, [Update(ref, written, _unchanged(known), upsert=True)])
    except ConditionFailed:
        return False
    return True


def _unchanged(known: Any | None) -> Predicate:
    last, token = FieldPath(("last",)), FieldPath(("token",))
    if known is None:
        return Test("missing", last)
    same = FieldComparison(last, "=", known.last)
    if known.token is None:
        return Both(same, Test("missing", token))
    return Both(same, FieldComparison(token, "=", known.token))


def _sort(feed: Feed[Any]) -> str:
    sort: str = feed.item.__spec__.table.schema.sort
    return sort


def opened(
    context: Context,
    feed: Feed[Any],
    reader: str,
    bounds: Mapping[str, str],
    oldest: str,
    answers: Iterable[Answer],
) -> dict[str, tuple[PartitionRead, str]]:
    """What heads have for a reader, by source: items between its bound and the oldest, to be read
    like a partition, and the position from which on older ones are in the source's own."""
    spec, hints = feed.item.__spec__, feed.support.hint.__spec__
    sort, table = _sort(feed), context.physical(hints.table.schema)
    name, last, content = (hints.fields[f].attribute for f in ("source", "last", "head"))
    own = {spec.fields[feed.reader_field].attribute: spec.encoders[feed.reader_field](reader)}
    encode = spec.encoders[feed.source_field]
    found = {}
    for item in (one for answer in answers for one in answer["Responses"].get(table, ())):
        if content not in item:
            continue
        source, packed = item[name]["S"], b64decode(item[content]["B"])
        head = unpacked(packed, sort, item[last]["S"])
        if head is None:
            continue
        common = {**own, spec.fields[feed.source_field].attribute: encode(source)}
        shown = [
            {**one, **common} for one in head.entries if oldest <= one[sort]["S"] < bounds[source]
        ]
        found[source] = (PartitionRead.of_items(spec, shown), min(head.since, bounds[source]))
    return found
