"""Many items at once: batches, unprocessed rests, scans."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from keyfold.design.entity import Entity, EntitySpec
from keyfold.design.keys import Ref, address
from keyfold.design.read import Query
from keyfold.design.schema import TableSchema
from keyfold.errors import PlanError, Throttled, TransactionCanceled, TransactionConflict
from keyfold.limits import BATCH_GET_ITEMS, BATCH_WRITE_ITEMS, TRANSACTION_ITEMS
from keyfold.runtime.context import Context
from keyfold.runtime.decoding import complain, decode_all
from keyfold.runtime.flow import Call, Flow, Pause
from keyfold.runtime.intent import Delete, Put
from keyfold.runtime.reads import is_expired, read_query
from keyfold.runtime.transaction import checked_item
from keyfold.runtime.writes import commit, refuse_counts, transactional
from keyfold.runtime.writing import stamped

E = TypeVar("E", bound=Entity)
Progress = Callable[[int], None]
ATTEMPTS = 10


def get_many(context: Context, refs: Sequence[Ref[E]]) -> Flow[list[E | None]]:
    """Items in the order of their refs, None where there is none; each is read once."""
    wanted = {_address(context, address(ref)): ref for ref in refs}
    found: dict[tuple[str, str], Any] = {}
    for chunk in _chunks(list(wanted.values()), BATCH_GET_ITEMS):
        requested: dict[str, Any] = {}
        for ref in chunk:
            table = context.physical(ref.entity.__table__.schema)
            requested.setdefault(table, {"Keys": [], "ConsistentRead": True})["Keys"].append(
                ref.wire()
            )
        answers = yield from _until_processed("BatchGetItem", requested, "UnprocessedKeys")
        for answer in answers:
            for table, items in answer["Responses"].items():
                names = _key_names(chunk, context, table)
                for item in items:
                    found[table, repr([item[name] for name in names])] = item
    stored = ((ref, found.get(_address(context, ref))) for ref in refs)
    if context.on_undecodable != "raise":
        return [_or_none(context, ref, item) for ref, item in stored]
    good, wrong = decode_all("raise", lambda one: _decoded(context, *one), stored)
    complain(wrong, [one for one in good if one is not None])
    return good


def _or_none(context: Context, ref: Ref[E], item: dict[str, Any] | None) -> E | None:
    good, _ = decode_all(context.on_undecodable, lambda one: _decoded(context, ref, one), [item])
    return good[0] if good else None


def get_together(context: Context, refs: Sequence[Ref[Any]]) -> Flow[tuple[Any, ...]]:
    """Items as they were at one moment, in the order of their refs, None where there is none."""
    wanted = {_address(context, address(ref)): ref for ref in refs}
    if not 0 < len(wanted) <= TRANSACTION_ITEMS:
        raise PlanError(
            f"get_together was given {len(wanted)} items; one transaction takes 1 to "
            f"{TRANSACTION_ITEMS}"
        )
    reads = [
        {"Get": {"TableName": context.physical(r.entity.__table__.schema), "Key": r.wire()}}
        for r in wanted.values()
    ]
    for attempt in range(ATTEMPTS):
        try:
            answer = yield Call("TransactGetItems", {"TransactItems": reads})
        except TransactionCanceled as cancelled:
            if attempt == ATTEMPTS - 1:
                raise TransactionConflict(cancelled.message) from cancelled
            yield Pause(random.uniform(0, 0.01 * 2**attempt))
        else:
            items = [one.get("Item") for one in answer["Responses"]]
            found = dict(zip(wanted, items, strict=True))
            return tuple(_decoded(context, ref, found[_address(context, ref)]) for ref in refs)
    raise AssertionError("the last attempt returns or raises")


def put_many(
    context: Context,
    entities: Sequence[Entity],
    progress: Progress | None = None,
    *,
    carry: bool = False,
) -> Flow[int]:
    """Unguarded puts in batches; refused for entities whose copies a batch would leave behind.

    With `carry`, items that exist are updated instead, and keep what the design does not declare.
    """
    for kind in {type(checked_item(entity)) for entity in entities}:
        _refuse_maintained(kind.__spec__, "put_many")
    _refuse_repeated([entity.ref() for entity in entities], "put_many")
    new = [stamped(context, entity) for entity in entities]
    done = 0
    for chunk in _chunks(new, BATCH_WRITE_ITEMS):
        present = (yield from _present(context, chunk)) if carry else set()
        fresh = [e for e in chunk if _address(context, e.ref()) not in present]
        puts = []
        for entity in fresh:
            refuse_counts(entity)
            item = {"PutRequest": {"Item": entity.__spec__.encode(entity)}}
            puts.append((context.physical(entity.__table__.schema), item))
        yield from _write_batches(puts, None)
        for entity in chunk:
            if _address(context, entity.ref()) in present:
                yield from commit(context, [Put(entity, absent=False)])
        done += len(chunk)
        if progress is not None:
            progress(done)
    return done


def _present(context: Context, entities: Sequence[Entity]) -> Flow[set[tuple[str, str]]]:
    """The addresses among these at which something is stored."""
    refs = [entity.ref() for entity in entities]
    found: set[tuple[str, str]] = set()
    requested: dict[str, Any] = {}
    for ref in refs:
        schema = ref.entity.__table__.schema
        names = {f"#{i}": name for i, name in enumerate(schema.key_attributes)}
        empty: dict[str, Any] = {
            "Keys": [],
            "ConsistentRead": True,
            "ProjectionExpression": ", ".join(names),
            "ExpressionAttributeNames": names,
        }
        requested.setdefault(context.physical(schema), empty)["Keys"].append(ref.wire())
    answers = yield from _until_processed("BatchGetItem", requested, "UnprocessedKeys")
    for answer in answers:
        for table, items in answer["Responses"].items():
            names_of = _key_names(refs, context, table)
            found |= {(table, repr([item[name] for name in names_of])) for item in items}
    return found


def delete_many(
    context: Context, refs: Sequence[Ref[Any]], progress: Progress | None = None
) -> Flow[int]:
    """Unguarded deletes in batches, likewise only for entities without copies."""
    for entity in {address(ref).entity for ref in refs}:
        _refuse_maintained(entity.__spec__, "delete_many")
    _refuse_repeated(refs, "delete_many")
    deletes = [
        (context.physical(ref.entity.__table__.schema), {"DeleteRequest": {"Key": ref.wire()}})
        for ref in refs
    ]
    return (yield from _write_batches(deletes, progress))


def _refuse_repeated(refs: Sequence[Ref[Any]], verb: str) -> None:
    """A batch has no order, so one of two writes of an item would win by chance."""
    seen: set[tuple[str, str]] = set()
    for ref in refs:
        place = ref.entity.__table__.name, repr(ref.wire())
        if place in seen:
            raise PlanError(f"{verb} was given {ref} twice; give each item once")
        seen.add(place)


def delete_keys(table: str, keys: Sequence[dict[str, Any]]) -> Flow[int]:
    """Delete items of a table by their wire keys."""
    return (yield from _write_batches([(table, {"DeleteRequest": {"Key": k}}) for k in keys], None))


def delete_collection(
    context: Context, query: Query[Any], progress: Progress | None = None
) -> Flow[int]:
    """Delete every item of a query, with what is kept for it; can be repeated after a stop."""
    done = 0
    maintained = bool(transactional(query.entity.__spec__))
    cursor: str | None = None
    while True:
        page = yield from read_query(context, query, {}, limit=BATCH_WRITE_ITEMS, cursor=cursor)
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


def scan_page(
    context: Context,
    spec: EntitySpec,
    start: dict[str, Any] | None,
    *,
    segment: int = 0,
    segments: int = 1,
) -> Flow[tuple[list[Any], dict[str, Any] | None]]:
    """One page of all items of an entity; the whole table is read to find them."""
    request: dict[str, Any] = {"TableName": context.physical(spec.table.schema)}
    if segments > 1:
        request |= {"Segment": segment, "TotalSegments": segments}
    if start is not None:
        request["ExclusiveStartKey"] = start
    answer = yield Call("Scan", request)
    ours = (
        item
        for item in answer["Items"]
        if spec.recognises(item) and not is_expired(context, spec, item)
    )
    good, wrong = decode_all(context.on_undecodable, spec.decode, ours)
    complain(wrong, good)
    return good, answer.get("LastEvaluatedKey")


def _write_batches(
    writes: Sequence[tuple[str, dict[str, Any]]], progress: Progress | None
) -> Flow[int]:
    done = 0
    for chunk in _chunks(writes, BATCH_WRITE_ITEMS):
        requested: dict[str, list[Any]] = {}
        for table, write in chunk:
            requested.setdefault(table, []).append(write)
        yield from _until_processed("BatchWriteItem", requested, "UnprocessedItems")
        done += len(chunk)
        if progress is not None:
            progress(done)
    return done


def _until_processed(
    operation: str, requested: dict[str, Any], unprocessed: str
) -> Flow[list[dict[str, Any]]]:
    """Send the rest again, with growing pauses, until nothing is left."""
    answers = []
    for attempt in range(ATTEMPTS):
        answer = yield Call(operation, {"RequestItems": requested})
        answers.append(answer)
        requested = answer.get(unprocessed) or {}
        if not requested:
            return answers
        yield Pause(random.uniform(0, 0.02 * 2**attempt))
    raise Throttled(f"{operation}: items were still unprocessed after {ATTEMPTS} attempts")


def _refuse_maintained(spec: EntitySpec, verb: str) -> None:
    kept = transactional(spec)
    if kept:
        kinds = ", ".join(sorted({m.kind for m in kept}))
        raise PlanError(
            f"{spec.name} has copies kept in its own transaction ({kinds}); {verb} would leave "
            "them behind. Write the items one by one"
        )


def _chunks(things: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]


def _address(context: Context, ref: Ref[Any]) -> tuple[str, str]:
    schema = ref.entity.__table__.schema
    key = ref.wire()
    return context.physical(schema), repr([key[name] for name in schema.key_attributes])


def _key_names(refs: Sequence[Ref[Any]], context: Context, table: str) -> tuple[str, ...]:
    for ref in refs:
        declared: TableSchema = ref.entity.__table__.schema
        if context.physical(declared) == table:
            return declared.key_attributes
    raise PlanError(f"an answer came for {table}, which was not asked")


def _decoded(context: Context, ref: Ref[E], item: dict[str, Any] | None) -> E | None:
    spec = ref.entity.__spec__
    if item is None or is_expired(context, spec, item):
        return None
    decoded: E = spec.decode(item)
    return decoded
