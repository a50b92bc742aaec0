"""Items that belong to another item: how they are found, and how they refer back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyfold.design import codes
from keyfold.design.address import OpenKey, Ref
from keyfold.design.condition import Condition, all_of, equal
from keyfold.design.declaration import refuse
from keyfold.design.entity import Entity
from keyfold.design.placement import On
from keyfold.design.query import Query
from keyfold.errors import IndexBehind
from keyfold.maintain.address import raw
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.query import query_request
from keyfold.runtime.recognition import is_expired
from keyfold.runtime.walk import walk_query

PAGE: Final = 100


class Related:
    """The items of `child` that belong to an item of `parent`.

    `through` names the key or placement of the child whose partition contains them; `via` names the
    fields that hold the parent's key, if they differ.
    """

    def __init__(
        self,
        parent: type[Entity],
        child: type[Entity],
        through: str,
        via: Mapping[str, str],
        *,
        owner: str,
    ) -> None:
        self.parent, self.child = parent, child
        spec = child.__spec__
        keys = {"key": spec.key, **spec.placements}
        if through not in keys:
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"{owner} looks through {through!r}, which {child.__name__} does not have.",
                f"It has: {', '.join(keys)}.",
            )
        self.key: OpenKey[Any] = OpenKey(child, keys[through])
        self.via = {name: via.get(name, name) for name in parent.__spec__.key.address}
        refuse_itself(parent, child, self.via, owner)
        missing = [name for name in self.via.values() if name not in spec.fields]
        partition = self.key.declared.templates.partition.fields
        unknown = [name for name in partition if name not in self.via.values()]
        if missing or unknown:
            refuse(
                codes.UNKNOWN_REFERENCE,
                f"{owner} cannot find the items of {child.__name__}: "
                + (
                    f"it has no field {missing[0]!r}."
                    if missing
                    else f"the partition of {through!r} needs {unknown[0]!r}."
                ),
                "Say with through= and via={...} how they hold the key.",
            )

    @property
    def index_name(self) -> str:
        """The index that finds the items; empty for the table's own key."""
        return self.key.declared.index or ""

    def parent_of(self, child: Entity) -> Ref[Any] | None:
        values = {name: getattr(child, theirs) for name, theirs in self.via.items()}
        return None if None in values.values() else Ref(self.parent, values)

    def place_of(self, child: Entity) -> tuple[object, ...]:
        """Its parent's key, and where a search for the parent's items finds it."""
        declared = self.key.declared
        shown = not isinstance(declared, On) or declared.applies(child.__dict__)
        found = declared.parts_of(child) if shown else None
        return *(getattr(child, theirs) for theirs in self.via.values()), found

    def belongs(self, parent: Ref[Any]) -> Condition | None:
        """The condition that an item still belongs to its parent; None if its key implies it."""
        spec = self.child.__spec__
        held = {theirs: parent.values[name] for name, theirs in self.via.items()}
        same = (equal(n, held[n], spec) for n in held if n not in spec.key.address)
        return all_of(*same)

    def query(self, parent: Ref[Any]) -> Query[Any]:
        declared = self.key.declared
        sort = declared.templates.sort
        held = {theirs: parent.values[name] for name, theirs in self.via.items()}
        leading = {}
        for field in sort.fields if sort is not None else ():
            if field not in held:
                break
            leading[field] = held[field]
        partition = {name: held[name] for name in declared.templates.partition.fields}
        found = self.key.query(**{**partition, **leading})
        return found if declared.index is not None else found.consistent()

    def wait_until_shown(self, context: Context, child: Entity) -> Flow[None]:
        """Wait until the index that finds the items shows this one.

        Then a later query of the index finds the item.
        """
        declared = self.key.declared
        if declared.index is None or (
            isinstance(declared, On) and not declared.applies(child.__dict__)
        ):
            return
        placed = declared.parts_of(child)
        if None in placed.values():
            return
        request = query_request(context, self.key.query(**placed), {})
        assert request is not None, "one key is not an empty range"
        address = child.ref().wire()
        answer = yield Call("Query", request)
        if any(address.items() <= item.items() for item in answer["Items"]):
            return
        spec, item = self.child.__spec__, (yield from raw(context, child.ref()))
        if item is None or is_expired(context, spec, item):
            return  # It is no longer found.
        found = spec.decode(item)
        if any(getattr(found, name) != one for name, one in placed.items()):
            return  # It has moved, and has its own record.
        raise IndexBehind(f"{declared.index} does not contain {child.ref()} yet")

    def all(self, context: Context, parent: Ref[Any]) -> Flow[list[Any]]:
        """All items."""
        found, start = yield from self.page(context, parent, None)
        while start is not None:
            more, start = yield from self.page(context, parent, start)
            found += more
        return found

    def page(
        self,
        context: Context,
        parent: Ref[Any],
        start: dict[str, Any] | None,
        *,
        descending: bool = False,
        limit: int = PAGE,
    ) -> Flow[tuple[list[Any], dict[str, Any] | None]]:
        """Some of the items, and where to continue."""
        query = self.query(parent)
        request = query_request(context, query.descending() if descending else query, {})
        assert request is not None, "a whole partition is not an empty range"
        spec = self.child.__spec__
        walk = walk_query(request, spec.home, start)
        answer = yield from walk.next(limit)
        found = [spec.decode(item) for item in answer["Items"]]
        kept = [one for one in found if _same(self.parent_of(one), parent)]
        return kept, walk.position


def refuse_itself(
    parent: type[Entity], child: type[Entity], via: Mapping[str, str], owner: str
) -> None:
    """Refuse an item that would belong only to itself."""
    if parent is child and all(name == theirs for name, theirs in via.items()):
        refuse(
            codes.UNKNOWN_REFERENCE,
            f"{owner} is over {child.__name__} itself, and finds each item by its own key: every "
            "item would only belong to itself.",
            "Say with via={...} which field holds the key of the item above, as "
            'via={"node_id": "parent_id"}.',
        )


def _same(one: Ref[Any] | None, other: Ref[Any]) -> bool:
    return one is not None and one.wire() == other.wire()
