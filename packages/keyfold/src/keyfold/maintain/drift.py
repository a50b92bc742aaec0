"""Drift: a structure that differs from what the canonical items say."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keyfold.design.address import Ref
from keyfold.design.entity import Entity

SET_IT: Final = "set it to the expected value"
UNREPAIRABLE: Final = frozenset(("key", "undecodable"))


UNKNOWN: Final = "unknown"
"""What is expected where an item that cannot be read may count."""


@dataclass(frozen=True)
class Drift:
    """One difference."""

    kind: str
    """The kind of its structure, or index, key, undecodable."""
    structure: str
    """The label of the pointer, counter, unique, feed or index."""
    table: str
    key: Mapping[str, Any]
    """The primary key of the wrong or missing item."""
    expected: Any
    found: Any
    subject: Ref[Any] | None = field(default=None, compare=False)
    """The canonical item that defines the expected state, if known."""
    decision: str = field(default="", compare=False)
    """Why a repair cannot decide what is right."""
    remedy: str = field(default="", compare=False)
    """What a repair does, if not rewriting or deleting the item."""
    follows: tuple[str, ...] = field(default=(), compare=False)
    """Structures that show the same error and are right once it is fixed."""

    @property
    def repairable(self) -> bool:
        return self.kind not in UNREPAIRABLE and not self.decision

    def as_data(self) -> dict[str, Any]:
        """The difference for programs."""
        names = ("kind", "structure", "table", "key", "expected", "found")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        key = ", ".join(f"{name}={_value_text(value)}" for name, value in self.key.items())
        return (
            f"{self.structure}: {self.table} {key}: expected {_value_text(self.expected)}, "
            f"found {_value_text(self.found)}"
            + (f"; shown by {', '.join(self.follows)}" if self.follows else "")
        )


@dataclass
class DriftReport:
    """The result of a verification: the first drifts, and a count of all."""

    limit: int = 10_000
    scanned: int = 0
    drifts: list[Drift] = field(default_factory=list)
    counts: Tally[str] = field(default_factory=Tally)
    undeclared: int = 0
    """Items that no entity declares. They are not drift: nothing defines what they should be."""
    strangers: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Tables and keys of the first of them."""
    foreign: Tally[tuple[str, str]] = field(default_factory=Tally)
    """How many items have an undeclared attribute, by entity and name. They are not drift
    either: other applications own them, and every write keeps them.
    """
    elsewhere: Tally[str] = field(default_factory=Tally)
    """How many items have an entity's type, by its name, under another key than its own: copies of
    a migration. They are not read, and not repaired.
    """
    moving: int = 0
    """Numbers that differed, but changed while they were checked."""
    differing: set[tuple[int, bytes]] = field(default_factory=set, repr=False)
    """Numbers that differed at first, by structure and address."""
    late: set[tuple[int, bytes]] = field(default_factory=set, repr=False)
    """Those of a stream that changed while they were checked."""

    @property
    def clean(self) -> bool:
        return not self.counts

    @property
    def truncated(self) -> bool:
        return self.counts.total() > len(self.drifts)

    def add(self, drift: Drift) -> None:
        self.counts[drift.kind] += 1
        if len(self.drifts) < self.limit:
            self.drifts.append(drift)

    def as_data(self) -> dict[str, Any]:
        """The report for programs, also where there is nothing to report."""
        foreign = [
            {"entity": entity, "attribute": name, "items": count}
            for (entity, name), count in sorted(self.foreign.items())
        ]
        return {
            "clean": self.clean,
            "items": self.scanned,
            "counts": dict(self.counts),
            "drifts": [drift.as_data() for drift in self.drifts],
            "undeclared": self.undeclared,
            "strangers": [{"table": table, "key": key} for table, key in self.strangers],
            "undeclared_attributes": foreign,
            "elsewhere": dict(self.elsewhere),
        }

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        drift = f"drift: {kinds}" if kinds else "no drift"
        more = f"; {self.undeclared} that no entity declares" if self.undeclared else ""
        for name, count in sorted(self.elsewhere.items()):
            more += f"; elsewhere: {count} of {name}"
        moving = f"; {self.moving} numbers in motion" if self.moving else ""
        return f"{self.scanned} items, {drift}{more}{moving}"


def differences(wanted: Entity | None, found: Entity | None) -> tuple[Any, Any]:
    """The whole item if one side is missing; otherwise the differing fields."""
    left = None if wanted is None else wanted.__spec__.attributes_of(wanted.__dict__)
    right = None if found is None else found.__spec__.attributes_of(found.__dict__)
    if left is None or right is None:
        return left, right
    names = [n for n in left.keys() | right.keys() if left.get(n) != right.get(n)]
    return {n: left.get(n) for n in sorted(names)}, {n: right.get(n) for n in sorted(names)}


def _value_text(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        if len(value) == 1 and next(iter(value)) in ("S", "N", "B", "BOOL"):
            return str(next(iter(value.values())))
        return (
            "{" + ", ".join(f"{name}: {_value_text(inner)}" for name, inner in value.items()) + "}"
        )
    return str(value)
