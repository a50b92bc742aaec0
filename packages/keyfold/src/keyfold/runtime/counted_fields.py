"""What maintainers write and callers may not: counted fields, and copies."""

from __future__ import annotations

from typing import Any

from keyfold.design.entity import Entity
from keyfold.errors import PlanError, ValueRefused


def refuse_counts(new: Entity) -> None:
    """Refuse a new item whose counted fields do not start at zero."""
    for name, begins in initial_counts(type(new)).items():
        if getattr(new, name) != begins:
            raise ValueRefused(
                f"{type(new).__name__}.{name} is a counter; omit it in a new item",
                {name: "is counted; leave it out"},
            )


def initial_counts(entity: type[Entity]) -> dict[str, Any]:
    """Counted fields at their initial values: counts under the old key do not apply to the new
    one.
    """
    return {
        name: entity.model_fields[name].get_default(call_default_factory=True)
        for name in entity.__spec__.kept
    }


def refuse_copy(entity: type[Entity], verb: str) -> None:
    """Refuse to write a pointer by hand."""
    copy = entity.__spec__.copy
    if copy is not None:
        raise PlanError(
            f"{entity.__name__} is a copy of {copy.of}, which keyfold keeps; {verb} the {copy.of} "
            "instead"
        )
