"""Which item maps to an item of the other side: no two items may become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import orjson

from keyfold.maintain.fact import HOLDER
from keyfold.migrations.backend import Item
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.moves import Output
from keyfold.migrations.state import key_text, place_text

Address: TypeAlias = tuple[str, str]
"""A table and a key."""
Found: TypeAlias = Callable[[Iterable[Address]], dict[Address, Item]]


class Ownership:
    """Which items of one side map to those of the other; `back` is the reverse direction."""

    def __init__(self, direction: Direction, back: Direction, found: Found) -> None:
        self.direction, self.back, self._found = direction, back, found

    def is_left_behind(self, marker: Item, table: str) -> bool:
        """Whether a unique value is held by an item that nothing maps to now."""
        key = marker.get(HOLDER, {}).get("M")
        if key is None:
            return False
        address = (table, key_text(key))
        there = self._found([address]).get(address)
        return there is None or (
            self.back.concerns(table, there) and self.owner(address, there) is None
        )

    def owner(self, address: Address, there: Item) -> Address | None:
        """The item that currently maps to another one."""
        owners = self._owners({origin: [address] for origin in self._origins(address, there)})
        return next((owner for owner, _ in owners), None)

    def collisions(
        self,
        items: Iterable[tuple[Address, Mapping[Address, Output]]],
        there: Mapping[Address, Item],
    ) -> dict[Address, Address]:
        """Items that map to the same target as another: each with that one."""
        claimed: dict[Address, list[Address]] = {}
        for source, outputs in items:
            for address, output in outputs.items():
                if not output.claim:
                    claimed.setdefault(address, []).append(source)
        found: dict[Address, Address] = {}
        former: dict[Address, list[Address]] = {}
        for address, sources in claimed.items():
            found |= dict.fromkeys(sources[1:], sources[0])
            origins = self._origins(address, there[address]) if address in there else ()
            # If its origin is known, nothing else has to be read.
            if origins and not all(source in origins for source in sources):
                for origin in origins:
                    former.setdefault(origin, []).append(address)
        for owner, address in self._owners(former):
            found |= {source: owner for source in claimed[address] if source != owner}
        return found

    def _origins(self, address: Address, there: Item) -> Iterable[Address]:
        """The possible origins of an item of the other side."""
        try:
            return self.back.outputs(address[0], there)
        except Uncopyable:
            return ()  # Nothing here can be its origin.

    def _owners(
        self, former: Mapping[Address, Sequence[Address]]
    ) -> Iterator[tuple[Address, Address]]:
        """Those of these items that really map to their target."""
        for origin, item in self._found(former).items():
            try:
                outputs = self.direction.outputs(origin[0], item)
            except Uncopyable:
                continue
            yield from ((origin, address) for address in former[origin] if address in outputs)


def address_text(address: Address) -> str:
    """An address in words."""
    return place_text(address[0], orjson.loads(address[1]))
