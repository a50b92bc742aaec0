"""Reconciles copies with the current state of their canonical, whatever record asked for it.

The canonical is read, and the writes are refused if it changes meanwhile. So repeated, late and
reordered records lead to the same result, and none restores what was deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.follows import COPIES_AT_ONCE
from keyfold.errors import Undecodable, VersionConflict
from keyfold.maintain.copy_fact import CopyFact
from keyfold.maintain.fact import Address
from keyfold.maintain.structure import Sync
from keyfold.runtime.batch import decode_stored, stored_items
from keyfold.runtime.context import Context
from keyfold.runtime.expression import Expressions
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Delete, Marker
from keyfold.runtime.walk import in_chunks, retrying
from keyfold.runtime.writes import commit

WireItem = dict[str, Any]

ATTEMPTS: Final = 20


class CanonicalMoved(VersionConflict):
    """The canonical changed between read and write; read it again."""


class Copies(Protocol):
    """A structure whose facts are copies."""

    sync: Sync

    @property
    def fields(self) -> frozenset[str]: ...

    def facts(self, item: Any) -> Iterable[CopyFact]: ...


def reconcile(
    context: Context, structure: Copies, old: Entity | None, new: Entity | None
) -> Flow[None]:
    """Reconcile the copies that a change touched with the current canonical."""
    seen = old or new
    assert seen is not None, "a change has an item before or after"
    before, after = _by_address(structure, old), _by_address(structure, new)
    touched = {
        address: (after.get(address) or before[address]).ref
        for address in before.keys() | after.keys()
        if before.get(address) != after.get(address)
    }
    if touched:
        yield from restore_copies(context, structure, seen.ref(), list(touched.values()))


def restore_copies(
    context: Context, structure: Copies, canonical: Ref[Any], touched: Sequence[Ref[Any]]
) -> Flow[None]:
    """Write the wanted copies at these addresses and delete the others, guarded."""
    spec = canonical.entity.__spec__

    def once() -> Flow[None]:
        # Usually the transaction wrote the copies, and nothing is left to do.
        written = structure.sync == "transaction"
        found = yield from stored_items(context, [canonical, *touched] if written else [canonical])
        item = found.get(canonical.address)
        wanted = _by_address(structure, None if item is None else spec.decode(item))
        facts = [(ref, wanted.get(ref.address)) for ref in touched]
        intents = [
            Delete(ref) if fact is None else fact.ensure()
            for ref, fact in facts
            if not (written and _stands(context, ref, fact, found.get(ref.address)))
        ]
        if not intents:
            return
        guard = unchanged_check(canonical, item, structure.fields)
        for some in in_chunks(intents, COPIES_AT_ONCE):
            yield from commit(context, [guard, *some])

    return retrying(once, CanonicalMoved, attempts=ATTEMPTS)


def _stands(
    context: Context, ref: Ref[Any], fact: CopyFact | None, stored: WireItem | None
) -> bool:
    """Whether what is stored at a copy's address is the copy that is wanted there."""
    try:
        found = decode_stored(context, ref, stored)
    except Undecodable:
        return False
    return found == (None if fact is None else fact.item)


def _by_address(structure: Copies, item: Entity | None) -> dict[Address, CopyFact]:
    return {} if item is None else {fact.address: fact for fact in structure.facts(item)}


def unchanged_check(canonical: Ref[Any], item: WireItem | None, fields: frozenset[str]) -> Marker:
    """A check that the canonical's fields are unchanged, or that it is still missing."""
    spec: EntitySpec = canonical.entity.__spec__
    expressions, table = Expressions(), spec.table.schema
    if item is None:
        tests = expressions.unchanged([table.partition], {})
    else:
        tests = [f"attribute_exists({expressions.name(table.partition)})"]
        attributes = {spec.fields[name].attribute for name in fields}
        tests += expressions.unchanged(sorted(attributes - set(table.key_attributes)), item)
    return Marker(
        spec.table,
        "ConditionCheck",
        {
            "Key": canonical.wire(),
            "ConditionExpression": " AND ".join(tests),
            **expressions.placeholders(),
        },
        lambda _: CanonicalMoved(f"{canonical} changed in the meantime"),
    )
