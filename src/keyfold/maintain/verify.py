"""Verification: every secondary structure recomputed from canonical records and compared.

One scan notes what is expected and what is there. What differs is looked at again before it is
reported, so that writes during the scan are no drift. Structures that follow the stream are only
right once the stream is read to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import orjson

from keyfold.design.entity import Entity
from keyfold.design.keys import Ref
from keyfold.errors import PlanError, Undecodable
from keyfold.maintain.cascade import OrphanMaintainer
from keyfold.maintain.copied import CopyMaintainer
from keyfold.maintain.counter import CounterMaintainer
from keyfold.maintain.drift import Drift, DriftReport, Kind, differences
from keyfold.maintain.fact import HOLDER
from keyfold.maintain.facts import Amount, Facts
from keyfold.maintain.feed.audit import Audit
from keyfold.maintain.feed.verifying import wrong_items
from keyfold.maintain.pointer import PointerMaintainer
from keyfold.maintain.reconcile import raw
from keyfold.maintain.survey import (
    Progress,
    Structures,
    Suspect,
    digest,
    fetch,
    ref_bytes,
    survey,
    wire_bytes,
    wrong_attributes,
)
from keyfold.maintain.unique import Unique
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Call, Flow, Invoke

Settle = Callable[[], object]

SETTLE_SECONDS: Final = 3600.0


def verify(
    db: Db,
    *,
    only: Iterable[str] = (),
    limit: int = 10_000,
    progress: Progress | None = None,
    settle: Settle | None = None,
) -> DriftReport:
    """Verify all structures, or those with these labels; see `labels`.

    `settle` waits until the streams are read up to now, as `Consumer(db).catch_up` does. It is
    called before the first look, and again before the second look at what differs.
    """
    flow = verification(db.context, only=only, limit=limit, progress=progress, settle=settle)
    return db.run(flow, "verify")


def labels(context: Context) -> list[str]:
    """The names by which a design's structures go, as `pointer HangoutPointer`."""
    structures = Structures(context.design)
    return ["index", *(m.label for m in structures.maintainers)]


def structures_of(context: Context, only: Iterable[str]) -> Structures:
    """The structures with these labels, or all of them."""
    wanted = frozenset(only)
    unknown = wanted - set(labels(context))
    if unknown:
        raise PlanError(
            f"{context.design.name} has no {', '.join(sorted(unknown))}; it has "
            f"{', '.join(labels(context))}"
        )
    return Structures(context.design, wanted)


def verification(
    context: Context,
    *,
    only: Iterable[str] = (),
    limit: int = 10_000,
    progress: Progress | None = None,
    settle: Settle | None = None,
) -> Flow[DriftReport]:
    """The same as a flow, for any handle."""
    structures, report = structures_of(context, only), DriftReport(limit)

    def add(drift: Drift) -> Flow[None]:
        report.add(drift)
        yield from ()

    report.scanned = yield from examine(context, structures, add, progress, settle)
    return report


def examine(
    context: Context,
    structures: Structures,
    found: Suspect,
    progress: Progress | None = None,
    settle: Settle | None = None,
) -> Flow[int]:
    """Look at everything and hand over each drift; gives how many items there are."""
    facts = Facts({place: Audit(context, feed) for place, feed in structures.feeds.items()})

    def suspect(drift: Drift) -> Flow[None]:
        if (yield from _still_wrong(context, drift)):
            yield from found(drift)

    late = {p for p, m in enumerate(structures.maintainers) if m.sync == "stream"}
    try:
        yield from _settled(settle)
        scanned = yield from survey(context, structures, facts, suspect, progress)
        counters_differ = next(facts.differing_amounts(), None) is not None
        if counters_differ or next(facts.differing_copies(), None) is not None:
            yield from _settled(settle)
        if counters_differ:
            facts.count_again()
            yield from survey(context, structures.counters_alone(), facts, lambda _: _nothing())
            for amount in facts.steady_amounts(late):
                wrong = yield from _wrong_amount(context, structures, amount)
                if wrong is not None:
                    yield from found(wrong)
        for place, address, origin, clash in facts.differing_copies():
            maintainer = structures.maintainers[place]
            copy = yield from _wrong_copy(context, structures, maintainer, address, origin, clash)
            if copy is not None:
                yield from found(copy)
        for place, maintainer in enumerate(structures.maintainers):
            yield from _wrong_links(context, structures, facts, found, place, maintainer)
        for place, audit in facts.audits.items():
            yield from wrong_items(context, structures.maintainers[place].label, audit, found)
    finally:
        facts.close()
    return scanned


def _settled(settle: Settle | None) -> Flow[None]:
    if settle is not None:
        yield Invoke(settle, SETTLE_SECONDS, "reading the streams up to now")


def _nothing() -> Flow[None]:
    yield from ()


def _still_wrong(context: Context, drift: Drift) -> Flow[bool]:
    if drift.subject is None:
        return True
    item = yield from raw(context, drift.subject)
    if item is None:
        return False
    spec = drift.subject.entity.__spec__
    try:
        return wrong_attributes(spec, spec.decode(item), item) is not None
    except Undecodable:
        return True


def _wrong_amount(context: Context, structures: Structures, amount: Amount) -> Flow[Drift | None]:
    counter: CounterMaintainer = structures.maintainers[amount.structure]
    # Where the holder is gone, its number is gone with it.
    if amount.found is None and not counter.declared.creates and counter.declared.shards == 1:
        return None
    subject: Ref[Any] | None = None
    if amount.key is not None or amount.sample is not None:
        item = yield from fetch(context, structures.design, amount.key or amount.sample or b"")
        if item is not None and amount.key is not None and _is_over(context, item):
            # Nothing is counted on it any more, and it will be removed.
            return None
        if item is not None:
            subject = item.ref() if amount.key is not None else counter.holder(item)
    shown = {"holder": {"S": amount.holder}} if subject is None else subject.wire()
    table = counter.target.__table__.name
    return Drift("counter", counter.label, table, shown, amount.expected, amount.found, subject)


def _is_over(context: Context, item: Entity) -> bool:
    field = item.__spec__.ttl
    expires = getattr(item, field.name) if field is not None else None
    return expires is not None and expires <= context.now()


def _wrong_copy(
    context: Context,
    structures: Structures,
    maintainer: Any,
    address: bytes,
    origin: bytes | None,
    clash: bytes | None,
) -> Flow[Drift | None]:
    if isinstance(maintainer, Unique):
        return (yield from _wrong_marker(context, structures, maintainer, address, origin, clash))
    assert isinstance(maintainer, PointerMaintainer)
    copy = yield from fetch(context, structures.design, address)
    canonical = None
    if origin is not None:
        canonical = yield from fetch(context, structures.design, origin)
    subject = canonical.ref() if canonical is not None else canonical_of(maintainer, copy)
    if canonical is None and subject is not None:
        canonical = yield from fetch(context, structures.design, ref_bytes(subject))
    wanted = {ref_bytes(one.ref()): one for one in maintainer.copies(canonical)}.get(address)
    if _equal(wanted, copy):
        return None
    expected, found = differences(wanted, copy)
    key = orjson.loads(address)[1]
    table = maintainer.pointer.__table__.name
    kind: Kind = "edge" if maintainer.kind == "edge" else "pointer"
    return Drift(kind, maintainer.label, table, key, expected, found, subject)


def _wrong_marker(
    context: Context,
    structures: Structures,
    unique: Unique,
    address: bytes,
    origin: bytes | None,
    clash: bytes | None,
) -> Flow[Drift | None]:
    key = orjson.loads(address)
    request = {
        "TableName": context.physical(unique.source.__table__.schema),
        "Key": key,
        "ConsistentRead": True,
    }
    answer = yield Call("GetItem", request)
    held = answer.get("Item", {}).get(HOLDER, {}).get("M")
    wanted: Entity | None = None
    if origin is not None:
        wanted = yield from fetch(context, structures.design, origin)
        value = unique.value(wanted)
        if value is None or wire_bytes(unique.key(value)) != address:
            wanted = None
    expected = None if wanted is None else wanted.ref().wire()
    if expected == held and clash is None:
        return None
    subject = None if wanted is None else wanted.ref()
    table = unique.source.__table__.name
    drift = Drift("unique", unique.label, table, key, expected, held, subject)
    if clash is not None:
        others = [orjson.loads(one)[1] for one in (origin, clash) if one is not None]
        return replace(drift, expected="one holder", found=others, subject=None)
    return drift


def _wrong_links(
    context: Context,
    structures: Structures,
    facts: Facts,
    found: Suspect,
    place: int,
    maintainer: Any,
) -> Flow[None]:
    if isinstance(maintainer, OrphanMaintainer):
        pairs: Iterator[tuple[bytes, bytes]] = facts.orphans(place)
    elif isinstance(maintainer, CopyMaintainer):
        pairs = facts.stale_links(place)
    else:
        return
    for _, address in pairs:
        child = yield from fetch(context, structures.design, address)
        parent = None if child is None else maintainer.related.parent_of(child)
        if child is None or parent is None:
            continue
        item = yield from raw(context, parent)
        table, key = child.__table__.name, child.ref().wire()
        if isinstance(maintainer, OrphanMaintainer):
            if item is None:
                wanted = f"{parent}"
                label = maintainer.label.removesuffix(" orphans")
                yield from found(Drift("orphan", label, table, key, wanted, None, parent))
            continue
        if item is None:
            continue
        value = getattr(parent.entity.__spec__.decode(item), maintainer.field)
        shown = getattr(child, maintainer.copy)
        if value != shown:
            label = maintainer.origin.label
            yield from found(Drift("copied", label, table, key, value, shown, child.ref()))


def canonical_of(maintainer: PointerMaintainer, copy: Entity | None) -> Ref[Any] | None:
    """The canonical that a copy was made from, where the copy holds its whole key."""
    fields = maintainer.source.__spec__.key.templates.fields
    if copy is None or any(name not in maintainer.copied for name in fields):
        return None
    return Ref(maintainer.source, {name: getattr(copy, name) for name in fields})


def _equal(wanted: Entity | None, found: Entity | None) -> bool:
    if wanted is None or found is None:
        return wanted is found
    return digest(wanted) == digest(found)
