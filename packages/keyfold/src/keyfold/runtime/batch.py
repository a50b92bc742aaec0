"""Many items at once: batches and scans."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from keyfold.design.address import Ref, checked_ref
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.query import Query
from keyfold.errors import PlanError
from keyfold.runtime.arguments import checked_entity, checked_item, checked_query, several
from keyfold.runtime.context import Context
from keyfold.runtime.counted_fields import refuse_copy, refuse_counts
from keyfold.runtime.expansion import transactional
from keyfold.runtime.flow import Flow, Parallel
from keyfold.runtime.intent import Delete, Put
from keyfold.runtime.reads import Asked, read_query
from keyfold.runtime.recognition import is_expired
from keyfold.runtime.undecodable import complain, decode_all
from keyfold.runtime.walk import Walk, get_batches, in_chunks, transact, write_batches
from keyfold.runtime.write_requests import stamp
from keyfold.runtime.writes import commit
from keyfold_engine.limits import BATCH_WRITE_ITEMS, TRANSACTION_ITEMS

E = TypeVar("E", bound=Entity)
Progress = Callable[[int], None]


def get_many(context: Context, refs: Sequence[Ref[E]]) -> Flow[list[E | None]]:
    """Items in the order of their refs, None for missing ones; each item is read once."""
    refs = list(several(refs, "get_many", "addresses"))
    wanted = {checked_ref(ref).address: ref for ref in refs}
    found = yield from stored_items(context, wanted.values())
    stored = ((ref, found.get(ref.address)) for ref in refs)
    if context.on_undecodable != "raise":
        return [_or_none(context, ref, item) for ref, item in stored]
    good, wrong = decode_all("raise", lambda one: decode_stored(context, *one), stored)
    complain(wrong, [one for one in good if one is not None])
    return good


def _or_none(context: Context, ref: Ref[E], item: dict[str, Any] | None) -> E | None:
    good, _ = decode_all(
        context.on_undecodable, lambda one: decode_stored(context, ref, one), [item]
    )
    return good[0] if good else None


def get_together(context: Context, refs: Sequence[Ref[Any]]) -> Flow[tuple[Any, ...]]:
    """Items read in one transaction, in the order of their refs, None for missing ones."""
    wanted = {checked_ref(ref).address: ref for ref in refs}
    if not 0 < len(wanted) <= TRANSACTION_ITEMS:
        raise PlanError(
            f"get_together was given {len(wanted)} items; one transaction takes 1 to "
            f"{TRANSACTION_ITEMS}"
        )
    reads = [
        {"Get": {"TableName": context.physical(r.entity.__table__.schema), "Key": r.wire()}}
        for r in wanted.values()
    ]
    answer = yield from transact("TransactGetItems", {"TransactItems": reads})
    found = dict(zip(wanted, (one.get("Item") for one in answer["Responses"]), strict=True))
    return tuple(decode_stored(context, ref, found[ref.address]) for ref in refs)


def put_many(
    context: Context,
    entities: Sequence[Entity],
    progress: Progress | None = None,
    *,
    carry: bool = False,
) -> Flow[int]:
    """Unconditional puts in batches; refused for entities whose copies a batch could not maintain.

    With `carry`, existing items are updated instead and keep attributes that the design does not
    declare.
    """
    entities = list(several(entities, "put_many", "items"))
    for kind in {type(checked_item(entity)) for entity in entities}:
        _refuse_maintained(kind.__spec__, "put_many")
    _refuse_repeated([entity.ref() for entity in entities], "put_many")
    new = [(entity, stamp(context, entity)[1]) for entity in entities]
    done = 0
    for chunk in in_chunks(new, BATCH_WRITE_ITEMS):
        refs = [entity.ref() for entity, _ in chunk]
        present = (yield from stored_items(context, refs, keys_alone=True)) if carry else {}
        puts, over = [], []
        for entity, item in chunk:
            if carry and entity.ref().address in present:
                over.append(entity)
                continue
            refuse_counts(entity)
            table = context.physical(entity.__table__.schema)
            puts.append((table, {"PutRequest": {"Item": item}}))
        yield from write_batches(puts)
        for entity in over:
            yield from commit(context, [Put(entity, absent=False)])
        done += len(chunk)
        if progress is not None:
            progress(done)
    return done


def stored_items(
    context: Context, refs: Collection[Ref[Any]], *, keys_alone: bool = False
) -> Flow[dict[tuple[str, str], dict[str, Any]]]:
    """The items that exist, by address."""
    tables = {context.physical(ref.entity.__table__.schema): ref.entity.__table__ for ref in refs}
    keys = ((context.physical(ref.entity.__table__.schema), ref.wire()) for ref in refs)
    found = yield from get_batches(keys, keys_alone=keys_alone)
    return {tables[table].schema.address(item): item for table, item in found}


def delete_many(
    context: Context, refs: Sequence[Ref[Any]], progress: Progress | None = None
) -> Flow[int]:
    """Unconditional deletes in batches, also only for entities without copies."""
    refs = list(several(refs, "delete_many", "addresses"))
    for entity in {checked_ref(ref).entity for ref in refs}:
        _refuse_maintained(entity.__spec__, "delete_many")
    _refuse_repeated(refs, "delete_many")
    deletes = [
        (context.physical(ref.entity.__table__.schema), {"DeleteRequest": {"Key": ref.wire()}})
        for ref in refs
    ]
    return (yield from write_batches(deletes, progress))


def _refuse_repeated(refs: Sequence[Ref[Any]], verb: str) -> None:
    """A batch has no order, so of two writes to one item either could win."""
    seen: set[tuple[str, str]] = set()
    for ref in refs:
        if ref.address in seen:
            raise PlanError(f"{verb} was given {ref} twice; give each item once")
        seen.add(ref.address)


def delete_keys(table: str, keys: Sequence[dict[str, Any]]) -> Flow[int]:
    """Delete items of a table by their wire keys."""
    return (yield from write_batches([(table, {"DeleteRequest": {"Key": k}}) for k in keys]))


def delete_collection(
    context: Context, query: Query[Any], progress: Progress | None = None
) -> Flow[int]:
    """Delete every item of a query with everything derived from it; safe to repeat after an
    interruption.
    """
    done = 0
    maintained = bool(transactional(checked_query(query).entity.__spec__))
    cursor: str | None = None
    while True:
        asked = Asked({}, cursor=cursor, limit=BATCH_WRITE_ITEMS)
        page = yield from read_query(context, query, asked)
        refs = [item.ref() for item in page]
        if not refs and page.cursor is None:
            return done
        cursor = page.cursor
        if maintained:
            for ref in refs:
                yield from commit(context, [Delete(ref)])
        else:
            yield from delete_many(context, refs)
        done += len(refs)
        if progress is not None and refs:
            progress(done)
        if cursor is None:
            return done


def scan_walks(
    context: Context,
    entity: type[Entity],
    segments: int | None = None,
    segment: int | None = None,
    of: int | None = None,
) -> list[Walk]:
    """The walks of a scan: of everything in so many segments at once, or of one segment."""
    request: dict[str, Any] = {
        "TableName": context.physical(checked_entity(entity).__spec__.table.schema)
    }
    if segments is None and segment is None and of is None:
        return [Walk("Scan", request)]
    total = segments if of is None else of
    one = type(segment) is int and type(of) is int and 0 <= segment < of and segments is None
    everything = type(segments) is int and segments > 0 and segment is None and of is None
    if not one and not everything:
        raise PlanError(
            "a scan takes segments=4 for everything, in four segments at once, or segment=0, of=4 "
            f"for one of them; not segments={segments}, segment={segment}, of={of}"
        )
    numbers = range(segments or 0) if segment is None else (segment,)
    return [Walk("Scan", {**request, "Segment": n, "TotalSegments": total}) for n in numbers]


def scan_page(context: Context, entity: type[E], walks: Sequence[Walk]) -> Flow[list[E]]:
    """The next page of each walk, of an entity's items; reads the whole table to find them."""
    spec = checked_entity(entity).__spec__
    unread = [walk for walk in walks if not walk.ended]
    answers = yield Parallel([walk.call() for walk in unread])
    ours = [
        item
        for walk, answer in zip(unread, answers, strict=True)
        for item in walk.take(answer)["Items"]
        if spec.recognises(item) and not is_expired(context, spec, item)
    ]
    good, wrong = decode_all(context.on_undecodable, spec.decode, ours)
    complain(wrong, good)
    return good


def _refuse_maintained(spec: EntitySpec, verb: str) -> None:
    refuse_copy(spec.entity, verb.partition("_")[0])
    kept = transactional(spec)
    if kept:
        kinds = ", ".join(sorted({m.kind for m in kept}))
        raise PlanError(
            f"{spec.name} has copies kept in its own transaction ({kinds}); {verb} would not "
            "update them. Write the items one by one"
        )
    if spec.states and verb == "put_many":
        raise PlanError(
            f"{', '.join(spec.states)} of {spec.name} has state transitions, which {verb} cannot "
            "check. Write the items one by one"
        )


def decode_stored(context: Context, ref: Ref[E], item: dict[str, Any] | None) -> E | None:
    """An item as it is read: None where it is missing or expired."""
    spec = ref.entity.__spec__
    if item is None or is_expired(context, spec, item):
        return None
    decoded: E = spec.decode(item)
    return decoded
