"""What a counter's declaration must say, so that its number can be maintained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keyfold.design import codes
from keyfold.design.declaration import refuse
from keyfold.design.entity import Entity

if TYPE_CHECKING:
    from keyfold.maintain.counter import Counter

_HOLDS = {
    "integer": ("integer", "decimal", "float"),
    "decimal": ("decimal",),
    "float": ("float",),
}
"""Number types that hold a sum exactly, or as exactly as its terms."""


@dataclass(frozen=True)
class CounterDeclaration:
    """A counter on a field of `target`, which counts items of `source`."""

    mark: Counter
    label: str
    target: type[Entity]
    field: str
    source: type[Entity]
    via: tuple[str, ...]
    """The fields of a counted item that hold the key of its holder."""

    def check(self) -> None:
        self._check_sources()
        self._check_numbers()
        self._check_keys()
        self._check_stamps()

    def _check_sources(self) -> None:
        names = self.source.__spec__.fields
        for name in (*self.via, *((self.mark.sums,) if self.mark.sums else ())):
            if name not in names:
                refuse(
                    codes.UNKNOWN_REFERENCE,
                    f"the {self.label} needs the field {name!r}, which {self.source.__name__} "
                    "does not have.",
                    "Name the field with the key in via={...}.",
                )

    def _check_numbers(self) -> None:
        kind = self.target.__spec__.fields[self.field].kind
        summed = self.source.__spec__.fields.get(self.mark.sums)
        counted = "integer" if summed is None else summed.kind
        if kind not in _HOLDS.get(counted, ()):
            refuse(
                codes.MARKER_MISUSED,
                f"the {self.label} is of kind {kind}, and cannot hold a sum of {counted} values.",
                "Declare it as int for counts and whole numbers, as Decimal for others.",
            )
        info = self.target.model_fields[self.field]
        if info.is_required() or info.default not in (0, None):
            refuse(
                codes.MARKER_MISUSED,
                f"the {self.label} has "
                + ("no default." if info.is_required() else f"the default {info.default!r}.")
                + " A new item has nothing counted yet, so it starts at 0.",
                "Give it the default 0.",
            )

    def _check_keys(self) -> None:
        key = self.target.__spec__.key.address
        for name in self.mark.via:
            if name not in key:
                refuse(
                    codes.UNKNOWN_REFERENCE,
                    f"the {self.label} has via={{{name!r}: ...}}, but {name} is not in the key of "
                    f"{self.target.__name__}.",
                    f"Its key is made of: {', '.join(key)}.",
                )

    def _check_stamps(self) -> None:
        name, spec = self.mark.stamps, self.target.__spec__
        stamped = spec.fields.get(name)
        keyed = {one for placement in spec.placements.values() for one in placement.fields}
        if not name:
            return
        if stamped is None:
            problem = f"{spec.name} has no field {name!r}"
        elif stamped.kind != "timestamp":
            problem = f"{spec.name}.{name} is not a Timestamp"
        elif name in keyed or name in spec.key.address:
            problem = f"{spec.name}.{name} is part of a key"
        elif self.mark.shards > 1:
            problem = "it has shards, and no one item that they all change"
        else:
            return
        refuse(
            codes.MARKER_MISUSED,
            f"the {self.label} cannot stamp {name!r}: {problem}.",
            "Name a Timestamp field of the item that holds the number.",
        )
