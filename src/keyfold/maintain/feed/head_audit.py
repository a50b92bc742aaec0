"""The heads of a feed verified against the activities of their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import apsw

from keyfold.errors import Undecodable
from keyfold.maintain.address import raw
from keyfold.maintain.drift import Drift
from keyfold.maintain.feed.contents import newest_of
from keyfold.maintain.feed.heads import Entry, Head, entry_of, head_of
from keyfold.maintain.feed.removed_list import name_of, refs_of
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.reads import find
from keyfold.values.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyfold.maintain.feed.declaration import Feed

_WAITING: Final = 4_000


class HeadAudit:
    """The sources that a scan meets, kept on disk; each is looked at when all are known."""

    def __init__(self, feed: Feed[Any], label: str) -> None:
        self.feed, self._label = feed, label
        # An empty name is a temporary file that SQLite removes.
        self._database = apsw.Connection("")
        self._database.execute("CREATE TABLE sources (name TEXT PRIMARY KEY) WITHOUT ROWID")
        self._met: set[str] = set()

    def close(self) -> None:
        self._database.close()

    def note(self, entity: Any) -> None:
        if type(entity) is self.feed.activity:
            self._met.add(getattr(entity, self.feed.source_field))
        elif type(entity) is self.feed.support.hint:
            self._met.add(entity.source)
        if len(self._met) >= _WAITING:
            self._flush()

    def wrong(self, context: Context, found: Callable[[Drift], Flow[None]]) -> Flow[None]:
        """Hand over the heads that do not show what their sources have."""
        self._flush()
        feed, table = self.feed, self.feed.support.hint.__table__.name
        for (source,) in self._database.execute("SELECT name FROM sources"):
            ref = feed.support.hint.key(source=source)
            try:
                hint = yield from find(context, ref)
                if hint is None:
                    continue
                head = head_of(hint)
                wanted = yield from self._wanted(context, source, head)
            except Undecodable:
                continue  # it is named itself
            if wanted is not None:
                expected, seen = _shown(wanted), None if head is None else _shown(head.entries)
                yield from found(
                    Drift("feed heads", self._label, table, ref.wire(), expected, seen, ref)
                )

    def _wanted(
        self, context: Context, source: str, head: Head | None
    ) -> Flow[tuple[Entry, ...] | None]:
        """What a head should have, if it has something else; None where it is right."""
        feed, sort = self.feed, self.feed.item.__spec__.table.schema.sort
        oldest = feed.oldest(context.now())
        since = "" if head is None else head.since
        present = yield from newest_of(context, feed, source, feed.heads + 1, max(since, oldest))
        wanted = tuple(entry_of(feed, activity) for activity in present)
        if head is None:
            return wanted or None
        shown = []
        for entry in head.entries:
            hidden = entry[sort] < oldest
            if entry not in wanted and not hidden:
                # What the removed list hides is about to be taken out.
                refs = refs_of(feed, name_of(source, entry[sort]))
                hidden = bool(refs) and (yield from raw(context, refs[0])) is not None
            if not hidden:
                shown.append(entry)
        return None if tuple(shown) == wanted else wanted

    def _flush(self) -> None:
        with self._database:
            self._database.executemany(
                "INSERT OR IGNORE INTO sources VALUES (?)", [(name,) for name in self._met]
            )
        self._met = set()


def _shown(entries: tuple[Entry, ...]) -> dict[str, Any]:
    return {"newest": encode(list(entries))}
