"""Copies brought to the present state of their canonical, whatever record asked for it.

The canonical is read, and the writes are refused if it changes meanwhile. So repeated, late and
shuffled records all lead to the same end, and none brings back what is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from keyfold.design.entity import Entity, EntitySpec
from keyfold.design.keys import Ref
from keyfold.errors import VersionConflict
from keyfold.limits import TRANSACTION_ITEMS
from keyfold.runtime.context import Context
from keyfold.runtime.expression import Expressions
from keyfold.runtime.flow import Call, Flow, Pause
from keyfold.runtime.intent import Delete, Intent, Marker, Put
from keyfold.runtime.writes import commit

WireItem = dict[str, Any]

ATTEMPTS: Final = 20
AT_ONCE: Final = TRANSACTION_ITEMS // 2 - 1
"""A copy may itself have copies that join the transaction."""


class Copies(Protocol):
    """A maintainer whose structure is a function of one canonical item."""

    source: type[Entity]

    @property
    def fields(self) -> frozenset[str]: ...

    def copies(self, canonical: Entity | None) -> list[Entity]: ...


class CanonicalMoved(VersionConflict):
    """The canonical changed between read and write; read it again."""


def reconcile(
    context: Context, maintainer: Copies, old: Entity | None, new: Entity | None
) -> Flow[None]:
    """Bring the copies that a change touched to what the canonical says now."""
    touched = {_address(ref): ref for ref in _touched(maintainer, old, new)}
    if not touched:
        return
    seen = old or new
    assert seen is not None, "a change has an item before or after"
    yield from bring(context, maintainer, seen.ref(), list(touched.values()))


def bring(
    context: Context, maintainer: Copies, canonical: Ref[Any], touched: Sequence[Ref[Any]]
) -> Flow[None]:
    """Put the wanted copies at these addresses and delete the unwanted, guarded."""
    spec = canonical.entity.__spec__
    for attempt in range(ATTEMPTS):
        item = yield from raw(context, canonical)
        present = None if item is None else spec.decode(item)
        wanted = {_address(copy.ref()): copy for copy in maintainer.copies(present)}
        intents: list[Intent] = []
        for ref in touched:
            copy = wanted.get(_address(ref))
            intents.append(Delete(ref) if copy is None else Put(copy, absent=False))
        guard = unchanged(canonical, item, maintainer.fields)
        try:
            for start in range(0, len(intents), AT_ONCE):
                yield from commit(context, [guard, *intents[start : start + AT_ONCE]])
            return
        except CanonicalMoved:
            yield Pause(0.002 * 2.0 ** min(attempt, 6))
    raise VersionConflict(f"{canonical} changes faster than its copies can follow")


def raw(context: Context, ref: Ref[Any]) -> Flow[WireItem | None]:
    """The stored item, expired or not."""
    spec = ref.entity.__spec__
    request = {
        "TableName": context.physical(spec.table.schema),
        "Key": ref.wire(),
        "ConsistentRead": True,
    }
    answer = yield Call("GetItem", request)
    item: WireItem | None = answer.get("Item")
    return item


def unchanged(canonical: Ref[Any], item: WireItem | None, fields: frozenset[str]) -> Marker:
    """A check that the canonical's fields still are what was read, or that it still is gone."""
    spec: EntitySpec = canonical.entity.__spec__
    expressions = Expressions()
    if item is None:
        condition = f"attribute_not_exists({expressions.name(spec.table.schema.partition)})"
    else:
        tests = [f"attribute_exists({expressions.name(spec.table.schema.partition)})"]
        for attribute in sorted(spec.fields[name].attribute for name in fields):
            if attribute in spec.table.schema.key_attributes:
                continue
            name = expressions.name(attribute)
            if attribute in item:
                tests.append(f"{name} = {expressions.value(item[attribute])}")
            else:
                tests.append(f"attribute_not_exists({name})")
        condition = " AND ".join(tests)
    return Marker(
        spec.table,
        "ConditionCheck",
        {
            "Key": canonical.wire(),
            "ConditionExpression": condition,
            **expressions.placeholders(),
        },
        lambda _: CanonicalMoved(f"{canonical} changed meanwhile"),
    )


def _touched(maintainer: Copies, old: Entity | None, new: Entity | None) -> Iterator[Ref[Any]]:
    """The addresses at which the change makes a difference."""
    before = {_address(copy.ref()): copy for copy in maintainer.copies(old)}
    after = {_address(copy.ref()): copy for copy in maintainer.copies(new)}
    for address in before.keys() | after.keys():
        if before.get(address) != after.get(address):
            yield (after.get(address) or before[address]).ref()


def _address(ref: Ref[Any]) -> tuple[str, str]:
    return ref.entity.__name__, repr(sorted(ref.wire().items()))
