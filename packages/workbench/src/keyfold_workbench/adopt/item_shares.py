"""The share of an entity in a sample, with its error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

from keyfold_workbench.adopt.item_groups import ItemGroup
from keyfold_workbench.adopt.value_format import Item


def share_text(group: ItemGroup, items: Sequence[Item], visits: Sequence[int]) -> str:
    """`34% ± 6% of the sample, 340 items`."""
    share = len(group.items) / len(items)
    error = share_error(group, items, visits) if len(visits) > 1 else None
    about = f"{share:.0%}" if error is None else f"{share:.0%} ± {100 * error:.0f}%"
    return f"{about} of the sample, {len(group.items):,} items"


def share_error(group: ItemGroup, items: Sequence[Item], visits: Sequence[int]) -> float:
    """Twice the standard error: items of one place are alike, so places are compared."""
    held = {id(item) for item in group.items}
    share = len(held) / len(items)
    found = list(_by_visit(items, visits))
    apart = sum((sum(id(i) in held for i in some) - share * len(some)) ** 2 for some in found)
    return 2 * sqrt(apart * len(found) / (len(found) - 1)) / len(items)


def _by_visit(items: Sequence[Item], visits: Sequence[int]) -> Iterator[Sequence[Item]]:
    begun = len(items) - sum(visits)
    for count in visits:
        yield items[begun : begun + count]
        begun += count
