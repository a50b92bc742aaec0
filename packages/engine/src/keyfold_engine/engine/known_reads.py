"""A cache of recent single-item reads, by their request bytes.

Clients that read an item often send the same bytes, which were already validated for the same
table. If the item is cached too, such a read is two dictionary lookups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from keyfold_engine.engine.catalog import Catalog
    from keyfold_engine.engine.item_cache import HotItems
    from keyfold_engine.engine.tables import TableDefinition

OPERATION: Final = "GetItem"
_REQUIRED: Final = 2
_LONGEST: Final = 512
_MOST: Final = 16_384
# Only a sample of reads is noted: frequent ones soon are, and noting rare ones costs little.
_ONE_OF: Final = 8


class KnownReads:
    """Answers repeated reads while their items are cached."""

    def __init__(self, catalog: Catalog, hot: HotItems) -> None:
        self._catalog, self._hot = catalog, hot
        self._places: dict[bytes, tuple[str, TableDefinition, bytes]] = {}
        self._seen = 0

    def answer(self, body: bytes) -> bytes | None:
        """The answer to a request with these bytes, if available at once."""
        known = self._places.get(body)
        if known is None:
            return None
        name, table, place = known
        # A changed table is another object. Reads of a table with contributor insights are counted.
        if self._catalog.cached(name) is not table or table.watched:
            return None
        stored = self._hot.find(table.id, place)
        return None if stored is None else b'{"Item":%b}' % stored.body

    def note(self, body: bytes, request: dict[str, Any]) -> None:
        """Note a valid, answered request."""
        self._seen += 1
        if self._seen % _ONE_OF or len(request) != _REQUIRED or len(body) > _LONGEST:
            return
        name = request["TableName"]
        table = self._catalog.cached(name)
        if table is not None:
            # Already imported by now; not needed at start.
            from keyfold_engine.engine.keys import place_of_key

            if len(self._places) >= _MOST:
                self._places.clear()
            self._places[body] = name, table, place_of_key(table, request["Key"])
