"""Heads: a source's newest activities in its hint, so that a page reads a hundred sources at once.

A head is complete from the position `since` on; what is older is in the source's own partition. A
post is acknowledged when it is in its head, so that a page that is asked for then has it. Every
write of a head is made on the token of the one that was read: of two writers at once, one reads
again. One who loses too often takes the head away, and pages ask the source until the stream has
made it anew. What is taken back or changed leaves it as copies do: the removed list hides it at
once, the stream takes it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.predicate import Both, FieldComparison, FieldPath, Predicate, Test
from keyfold.errors import ConditionFailed
from keyfold.limits import READ_UNIT_BYTES
from keyfold.maintain.feed.contents import newest_of
from keyfold.maintain.feed.counts import counted
from keyfold.maintain.feed.newest_first import LOWEST, PartitionRead
from keyfold.maintain.feed.support_items import new_token
from keyfold.runtime.changes import Change, Set, clear
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Flow
from keyfold.runtime.intent import Update
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit
from keyfold.values.codec import decode_item, encode_item
from keyfold.values.size import item_size

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

Item = dict[str, Any]
Entry = dict[str, Any]

REST_BYTES: Final = 400
"""What a hint has beside its head, at most: so that both are one read unit."""
ATTEMPTS: Final = 4


@dataclass(frozen=True)
class Head:
    """The newest activities of a source, newest first, and from which position on all are there."""

    entries: tuple[Entry, ...]
    since: str

    def joined(self, sort: str, entry: Entry, most: int) -> Head:
        """With one more, which stands once however often it comes."""
        others = [one for one in self.entries if one[sort] != entry[sort]]
        ordered = sorted((entry, *others), key=lambda one: str(one[sort]), reverse=True)
        return Head(tuple(ordered), self.since).bounded(sort, most)

    def bounded(self, sort: str, most: int) -> Head:
        """As much of it as a read unit holds, and no more than so many."""
        kept, left = list[Entry](), READ_UNIT_BYTES - REST_BYTES
        for entry in self.entries[:most]:
            left -= item_size(encode_item(entry)) + 1
            if left < 0:
                break
            kept.append(entry)
        if len(kept) == len(self.entries):
            return self
        # All that is newer than the first that is left out is there.
        return Head(tuple(kept), str(self.entries[len(kept)][sort]) + LOWEST)


def entry_of(feed: Feed[Any], activity: Entity) -> Entry:
    """An activity in a head: what its copies have in common, without its source.

    A set is a list there, as inside all lists and maps that entities have.
    """
    spec = feed.item.__spec__
    copy = feed.copy(activity, getattr(activity, feed.source_field))
    shared = spec.attributes_of(copy.__dict__)
    for field in (feed.reader_field, feed.source_field):
        shared.pop(spec.fields[field].attribute, None)
    plain = {n: sorted(v) if isinstance(v, set) else v for n, v in decode_item(shared).items()}
    return {**plain, spec.table.schema.sort: feed.position(activity)}


def note(context: Context, feed: Feed[Any], activity: Entity) -> Flow[None]:
    """Put a new activity into its source's head, and count it."""
    source, position = getattr(activity, feed.source_field), feed.position(activity)
    for _ in range(ATTEMPTS):
        known = yield from find(context, feed.support.hint.key(source=source))
        head = head_of(known)
        newer = known is None or known.last < position
        if head is None or (newer and position < head.since):
            head = yield from _made(context, feed, source)
        elif position < head.since:
            return
        else:
            head = head.joined(_sort(feed), entry_of(feed, activity), feed.heads)
        changes = counted(context, feed, activity) if newer else {}
        if (yield from _write(context, feed, source, known, head, changes)):
            return
    yield from forget(context, feed, source)


def refresh(context: Context, feed: Feed[Any], source: str) -> Flow[None]:
    """Bring a source's head to what is in its partition now."""
    for _ in range(ATTEMPTS):
        # The token is read first: what changes after it lets the write fail.
        known = yield from find(context, feed.support.hint.key(source=source))
        if known is None:
            return
        head = yield from _made(context, feed, source)
        if head == head_of(known) or (yield from _write(context, feed, source, known, head, {})):
            return
    yield from forget(context, feed, source)


def forget(context: Context, feed: Feed[Any], source: str) -> Flow[None]:
    """Take a head away, so that pages ask the source."""
    changes: dict[str, Change] = {"newest": clear, "since": clear, "token": Set(new_token())}
    ref = feed.support.hint.key(source=source)
    yield from commit(context, [Update(ref, changes, lenient=True)])


def head_of(hint: Any | None) -> Head | None:
    """The head in a hint; none where nobody made it yet, or it was taken away."""
    if hint is None or hint.since is None:
        return None
    return Head(tuple(hint.newest or ()), hint.since)


def _made(context: Context, feed: Feed[Any], source: str) -> Flow[Head]:
    found = yield from newest_of(context, feed, source, feed.heads + 1)
    return Head(tuple(entry_of(feed, one) for one in found), "").bounded(_sort(feed), feed.heads)


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
    written: dict[str, Change] = {
        **changes,
        "newest": Set(list(head.entries)),
        "since": Set(head.since),
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


def _with_sets(spec: EntitySpec, entry: Item) -> Item:
    """An entry as it is stored, with sets where its entity has them."""
    sets = [f.attribute for f in spec.fields.values() if f.kind.endswith("_set")]
    listed = {name: entry[name]["L"] for name in sets if name in entry}
    return entry | {
        name: {f"{kind}S": [one[kind] for one in members]}
        for name, members in listed.items()
        for kind in list(members[0])
    }


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
    names = {name: hints.fields[name].attribute for name in ("source", "newest", "since")}
    own = {spec.fields[feed.reader_field].attribute: spec.encoders[feed.reader_field](reader)}
    encode = spec.encoders[feed.source_field]
    found = {}
    for item in (one for answer in answers for one in answer["Responses"].get(table, ())):
        if names["since"] not in item:
            continue
        source, since = item[names["source"]]["S"], item[names["since"]]["S"]
        common = {**own, spec.fields[feed.source_field].attribute: encode(source)}
        entries: Sequence[Item] = [one["M"] for one in item[names["newest"]]["L"]]
        shown = [
            {**_with_sets(spec, one), **common}
            for one in entries
            if oldest <= one[sort]["S"] < bounds[source]
        ]
        found[source] = (PartitionRead.of_items(spec, shown), min(since, bounds[source]))
    return found
