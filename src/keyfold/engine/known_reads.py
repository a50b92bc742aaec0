"""Reads of single items that came lately, by the bytes they came in.

Whoever reads an item often asks for it in the same bytes, which were checked already and say the
same of the same table. Where the item is kept, too, such a read is two looks into dictionaries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from keyfold.engine.catalog import Catalog
    from keyfold.engine.item_cache import HotItems
    from keyfold.engine.tables import TableDefinition

OPERATION: Final = "GetItem"
_REQUIRED: Final = 2
_LONGEST: Final = 512
_MOST: Final = 16_384
# Only one of so many is noted: those that come often are, soon, and to note those that come once
# costs little.
_ONE_OF: Final = 8


class KnownReads:
    """Answers reads that were answered before, as long as their items are kept."""

    def __init__(self, catalog: Catalog, hot: HotItems) -> None:
        self._catalog, self._hot = catalog, hot
        self._places: dict[bytes, tuple[str, TableDefinition, bytes]] = {}
        self._seen = 0

    def answer(self, body: bytes) -> bytes | None:
        """The answer to a request in these bytes, if it can be had at once."""
        known = self._places.get(body)
        if known is None:
            return None
        name, table, place = known
        # A table that was changed is another object. Reads of one that is watched are counted.
        if self._catalog.known(name) is not table or table.watched:
            return None
        stored = self._hot.find(table.id, place)
        return None if stored is None else b'{"Item":%b}' % stored.body

    def note(self, body: bytes, request: dict[str, Any]) -> None:
        """A request was right, and is answered."""
        self._seen += 1
        if self._seen % _ONE_OF or len(request) != _REQUIRED or len(body) > _LONGEST:
            return
        name = request["TableName"]
        table = self._catalog.known(name)
        if table is not None:
            # Whoever was answered has loaded it; a start does without.
            from keyfold.engine.keys import place_of_key

            if len(self._places) >= _MOST:
                self._places.clear()
            self._places[body] = name, table, place_of_key(table, request["Key"])
