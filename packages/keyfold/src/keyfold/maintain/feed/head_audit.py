"""Verifies a feed's heads against the activities of their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold.design.template import HIGHEST
from keyfold.errors import Undecodable
from keyfold.maintain.address import raw
from keyfold.maintain.drift import Drift
from keyfold.maintain.feed.audit import ScannedRows
from keyfold.maintain.feed.contents import newest_of
from keyfold.maintain.feed.heads import Entry, Head, entry_of, head_of
from keyfold.maintain.feed.removed_list import name_of, refs_of
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.reads import find

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyfold.maintain.feed.declaration import Feed


class HeadAudit:
    """The sources that a scan finds, stored on disk and checked at the end."""

    def __init__(self, feed: Feed[Any], label: str) -> None:
        self.feed, self._label = feed, label
        self._scanned = ScannedRows("CREATE TABLE sources (name TEXT PRIMARY KEY) WITHOUT ROWID")

    def close(self) -> None:
        self._scanned.close()

    def note(self, entity: Any) -> None:
        if type(entity) is self.feed.activity:
            self._scanned.add("sources", (getattr(entity, self.feed.source_field),))
        elif type(entity) is self.feed.support.hint:
            self._scanned.add("sources", (entity.source,))

    def wrong(self, context: Context, found: Callable[[Drift], Flow[None]]) -> Flow[None]:
        """Report heads that do not match their sources."""
        feed, table = self.feed, self.feed.support.hint.__table__.name
        for (source,) in self._scanned.select("SELECT name FROM sources"):
            ref = feed.support.hint.key(source=source)
            try:
                hint = yield from find(context, ref)
                if hint is None:
                    continue
                head = head_of(feed, hint)
                wanted = yield from self._right_content(context, source, head)
            except Undecodable:
                continue  # It is reported itself.
            if wanted is not None:
                expected, seen = (
                    _head_value(wanted),
                    None if head is None else _head_value(head.entries),
                )
                yield from found(
                    Drift("feed heads", self._label, table, ref.wire(), expected, seen, ref)
                )

    def _right_content(
        self, context: Context, source: str, head: Head | None
    ) -> Flow[tuple[Entry, ...] | None]:
        """The right content of a wrong head; None if it is right."""
        feed, sort = self.feed, self.feed.item.__spec__.table.schema.sort
        oldest = feed.oldest(context.now())
        since = "" if head is None else head.since
        if since == HIGHEST:
            return None  # Its newest activity is too large for a head.
        # It may have more than it would get now.
        most = max(feed.heads, 0 if head is None else len(head.entries))
        present = yield from newest_of(context, feed, source, most + 1, max(since, oldest))
        wanted = tuple(entry_of(feed, activity) for activity in present)
        if head is None:
            return wanted or None
        shown = []
        for entry in head.entries:
            position = entry[sort]["S"]
            hidden = position < oldest
            if entry not in wanted and not hidden:
                # What the removed list hides is about to be removed.
                refs = refs_of(feed, name_of(source, position))
                hidden = bool(refs) and (yield from raw(context, refs[0])) is not None
            if not hidden:
                shown.append(entry)
        return None if tuple(shown) == wanted else wanted


def _head_value(entries: tuple[Entry, ...]) -> dict[str, Any]:
    return {"head": {"L": [{"M": entry} for entry in entries]}}
