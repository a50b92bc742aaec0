"""The flag on an author that has activities copied, and the thresholds that set it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.markers import Updated

MARGIN: Final = timedelta(minutes=1)
"""How much later than the flag and the follow copies are relied on: the index of followers, a
clock or another writer may be so far behind.
"""


@dataclass(frozen=True)
class Threshold:
    """Sets the flag of an author when a number, such as a counter of followers, gets this high.

    `entity` is the item of one author that holds the number. `sets` is what else the new flag
    says. An author who has a flag, on or off, keeps it: people overrule numbers.
    """

    entity: type[Entity]
    number: str
    least: int
    sets: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Flag:
    """Copies the activities of authors whose item of `entity` has a true `enabled`.

    `since` is the field with the time of its last change, marked `Updated()`: what is older is
    read from the author.
    """

    entity: type[Entity]
    enabled: str
    since: str
    thresholds: tuple[Threshold, ...] = ()

    def ref(self, author: object) -> Ref[Any]:
        [name] = self.entity.__spec__.key.address
        return Ref(self.entity, {name: author})

    def since_when(self, flag: Entity | None) -> datetime | None:
        """Since when activities are copied; None if they are not."""
        if flag is None or not getattr(flag, self.enabled):
            return None
        changed: datetime | None = getattr(flag, self.since)
        return changed

    @property
    def fault(self) -> tuple[str, str] | None:
        """What is wrong with the declaration, and what to do about it."""
        spec = self.entity.__spec__
        enabled, since = spec.fields.get(self.enabled), spec.fields.get(self.since)
        if len(spec.key.address) != 1:
            return f"the key of {spec.name} must have one field.", "It is the author's flag."
        if enabled is None or enabled.kind != "boolean":
            return f"{spec.name}.{self.enabled} is not a bool.", "Name the field of the flag."
        if since is None or since.mark(Updated) is None:
            return (
                f"{spec.name}.{self.since} is not the time of the flag's last change.",
                f"Declare {self.since}: Annotated[Timestamp | None, Updated()] = None.",
            )
        for one in self.thresholds:
            holder = one.entity.__spec__
            number = holder.fields.get(one.number)
            if number is None or number.kind != "integer" or len(holder.key.address) != 1:
                return (
                    f"{holder.name}.{one.number} is not a number of one author.",
                    "Name an integer field of an entity whose key is the author.",
                )
            unknown = sorted(set(one.sets) - spec.fields.keys())
            if unknown:
                return f"{spec.name} has no field {unknown[0]}.", "Correct sets= of the threshold."
        return None
