"""Relations declared as data: what a type's ids lead to, loaded for a whole answer at once.

    class Inviter(Service):
        relations = (
            relation(Hangout, "host", User, user_id="host_id"),
            relation(Hangout, "groups", Group, group_id="group_ids"),
        )

`relation(Hangout, "host", User, user_id="host_id")` gives Hangout a GraphQL field `host`: the User
whose key has `user_id` from the hangout's `host_id`. Where that field holds several ids, the
relation is a list. What needs a query or looks at the caller is a method with `@related`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from keyfold.design import Entity
from keyfold.errors import DeclarationError
from keyfold_web.names import camel
from keyfold_web.parameters import RelatedField

_MANY = (list, set, frozenset, tuple)


def relation(parent: type[BaseModel], name: str, target: type[Entity], **by: str) -> RelatedField:
    """A field of `parent` that leads to an entity: its key fields from fields of the parent."""
    place = f"relation {parent.__name__}.{name}"
    for field in by.values():
        if field not in parent.model_fields:
            raise DeclarationError("O17", f"{parent.__name__} has no field {field}.", place=place)
    needed = set(target.__spec__.key.address)
    if set(by) != needed:
        raise DeclarationError(
            "O17",
            f"the key of {target.__name__} has the fields {', '.join(sorted(needed))}.",
            place=place,
            suggestion="For each, name the field of the parent that has its value.",
        )
    several = [own for own, field in by.items() if _holds_many(parent, field)]
    if len(several) > 1:
        raise DeclarationError("O17", "only one field can hold several ids.", place=place)
    key: Any = target.key  # type: ignore[attr-defined]
    names = tuple(by)

    def addresses(one: Any) -> list[tuple[Any, ...]]:
        """The key values that a parent leads to, in the order of their names."""
        values = {own: getattr(one, field) for own, field in by.items()}
        if any(value is None for value in values.values()):
            return []
        if not several:
            return [tuple(values.values())]
        (own,) = several
        return [tuple((values | {own: each}).values()) for each in sorted(values[own])]

    async def load(service: Any, parents: Sequence[Any]) -> list[Any]:
        asked = [addresses(one) for one in parents]
        wanted = list(dict.fromkeys(address for each in asked for address in each))
        refs = [key(**dict(zip(names, address, strict=True))) for address in wanted]
        found = dict(zip(wanted, await service.db.get_many(refs), strict=True))
        answers = [[found[one] for one in each if found[one] is not None] for each in asked]
        return answers if several else [each[0] if each else None for each in answers]

    kind: Any = list[target] if several else target | None  # type: ignore[valid-type]
    words = (target.__doc__ or "").strip().partition("\n")[0]
    return RelatedField(camel(name), parent, kind, load, words, takes_caller=False)


def _holds_many(parent: type[BaseModel], field: str) -> bool:
    annotation = parent.model_fields[field].annotation
    return get_origin(annotation) in _MANY or any(
        get_origin(one) in _MANY for one in get_args(annotation)
    )
