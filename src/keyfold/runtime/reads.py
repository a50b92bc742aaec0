"""The one read path: every read of a handle is one of these flows."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar, cast

import orjson

from keyfold.design.entity import Entity, EntitySpec
from keyfold.design.formats import plain
from keyfold.design.keys import Ref
from keyfold.design.projection import View
from keyfold.design.read import (
    Collected,
    Collection,
    Count,
    Exists,
    First,
    Get,
    Merge,
    Page,
    Projected,
    Query,
    Read,
    resolve,
)
from keyfold.design.reading import check_readable
from keyfold.errors import NotFound, PlanError, Undecodable
from keyfold.runtime.context import Context
from keyfold.runtime.cursor import seal, unseal
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.merging import read_merge
from keyfold.runtime.query import Request, collection_request, query_request

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


class SteppedRead(Read[T], ABC):
    """A read that takes steps of its own, for which there is no one request."""

    @abstractmethod
    def steps(self, context: Context) -> Flow[T]: ...


def read(
    context: Context,
    wanted: Read[T],
    arguments: Mapping[str, Any],
    *,
    name: str = "",
    cursor: str | None = None,
    limit: int | None = None,
) -> Flow[T]:
    """What a read gives; `cursor` continues a paged one, `limit` overrides its page size."""
    if not name:
        check_readable(wanted)
    return cast("Flow[T]", _dispatch(context, wanted, arguments, name, cursor, limit))


def _dispatch(
    context: Context,
    wanted: Read[Any],
    arguments: Mapping[str, Any],
    name: str,
    cursor: str | None,
    limit: int | None,
) -> Flow[Any]:
    size = limit if limit is not None else resolve(getattr(wanted, "size", None), arguments)
    if isinstance(wanted, Query):
        return read_query(context, wanted, arguments, name=name, cursor=cursor, limit=size)
    if isinstance(wanted, Projected):
        return read_query(
            context, wanted.query, arguments, name=name, cursor=cursor, limit=size, view=wanted.view
        )
    if isinstance(wanted, Get):
        values = {k: resolve(v, arguments) for k, v in wanted.ref.values.items()}
        return find(context, Ref(wanted.ref.entity, values), consistent=wanted.consistent_read)
    if isinstance(wanted, First | Exists):
        return _first(context, wanted, arguments)
    if isinstance(wanted, Count):
        return _count(context, wanted.query, arguments)
    if isinstance(wanted, Collection):
        return _collect(context, wanted, arguments, name, cursor, size)
    if isinstance(wanted, Merge):
        return read_merge(context, wanted, arguments, name, cursor, size)
    if isinstance(wanted, SteppedRead):
        return wanted.steps(context)
    raise PlanError(f"{type(wanted).__name__} cannot be read")


def _first(
    context: Context, wanted: First[Any] | Exists[Any], arguments: Mapping[str, Any]
) -> Flow[Any]:
    page = yield from read_query(context, wanted.query, arguments, limit=1)
    if isinstance(wanted, Exists):
        return bool(page.items)
    return page.items[0] if page.items else None


def find(context: Context, ref: Ref[E], *, consistent: bool = True) -> Flow[E | None]:
    """One item, or None; an expired item counts as gone."""
    item = yield from find_item(context, ref, consistent=consistent)
    found: E | None = None if item is None else ref.entity.__spec__.decode(item)
    return found


def find_item(
    context: Context, ref: Ref[Any], *, consistent: bool = True
) -> Flow[dict[str, Any] | None]:
    """The same as it is stored, with attributes that the design does not declare."""
    spec = ref.entity.__spec__
    request: Request = {"TableName": context.physical(spec.table.schema), "Key": ref.wire()}
    if consistent:
        request["ConsistentRead"] = True
    answer = yield Call("GetItem", request)
    item: dict[str, Any] | None = answer.get("Item")
    return None if item is None or is_expired(context, spec, item) else item


def get(context: Context, ref: Ref[E], *, consistent: bool = True) -> Flow[E]:
    found = yield from find(context, ref, consistent=consistent)
    if found is None:
        raise NotFound(f"there is no {ref}")
    return found


def read_query(
    context: Context,
    query: Query[Any],
    arguments: Mapping[str, Any],
    *,
    name: str = "",
    cursor: str | None = None,
    limit: int | None = None,
    view: View[Any] | None = None,
) -> Flow[Page[Any]]:
    """One page. With a filter it reads on until the page is full or the partition ends."""
    check_limit(limit)
    request = query_request(context, query, arguments, fields=view.fields if view else ())
    if request is None:
        return Page([])
    decode = (view or query.entity.__spec__).decode
    items, last = yield from _fill(context, request, name, cursor, limit)
    return Page([decode(item) for item in items], seal_position(context, request, name, last))


def _fill(
    context: Context, request: Request, name: str, cursor: str | None, limit: int | None
) -> Flow[tuple[list[dict[str, Any]], dict[str, Any] | None]]:
    start = unseal(context.cursor_key, scope(request, name), cursor) if cursor else None
    found: list[dict[str, Any]] = []
    while True:
        step = dict(request)
        if limit is not None:
            step["Limit"] = limit - len(found)
        if start is not None:
            step["ExclusiveStartKey"] = start
        answer = yield Call("Query", step)
        found += answer["Items"]
        start = answer.get("LastEvaluatedKey")
        filtered = "FilterExpression" in request
        if start is None or not filtered or limit is None or len(found) >= limit:
            return found, start


def _count(context: Context, query: Query[Any], arguments: Mapping[str, Any]) -> Flow[int]:
    request = query_request(context, query, arguments)
    if request is None:
        return 0
    request["Select"] = "COUNT"
    total: int = 0
    while True:
        answer = yield Call("Query", request)
        total += answer["Count"]
        if "LastEvaluatedKey" not in answer:
            return total
        request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}


def _collect(
    context: Context,
    wanted: Collection,
    arguments: Mapping[str, Any],
    name: str,
    cursor: str | None,
    limit: int | None,
) -> Flow[Collected]:
    check_limit(limit)
    request = collection_request(context, wanted, arguments)
    items, last = yield from _fill(context, request, name, cursor, limit)
    specs = [entity.__spec__ for entity in wanted.entities]
    table: EntitySpec = specs[0]
    found = []
    for item in items:
        spec = recognise(table, item)
        if spec in specs and not is_expired(context, spec, item):
            found.append(spec.decode(item))
    return Collected(found, seal_position(context, request, name, last))


def recognise(any_of_table: EntitySpec, item: dict[str, Any]) -> EntitySpec:
    """The entity that an item of this table belongs to."""
    for entity in any_of_table.table.entities:
        if entity.__spec__.recognises(item):
            return entity.__spec__
    key = {a: item.get(a) for a in any_of_table.table.schema.key_attributes}
    raise Undecodable(
        f"the item {key} of {any_of_table.table.name} belongs to no declared entity", key
    )


def is_expired(context: Context, spec: EntitySpec, item: dict[str, Any]) -> bool:
    if spec.ttl is None:
        return False
    expires = item.get(spec.ttl.attribute)
    return expires is not None and "N" in expires and float(expires["N"]) <= context.clock.now()


def check_limit(limit: int | None) -> None:
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise PlanError(f"limit must be a whole number of at least 1, not {limit!r}")


def seal_position(
    context: Context, request: Request, name: str, position: Any | None
) -> str | None:
    if position is None:
        return None
    return seal(context.cursor_key, scope(request, name), position)


def scope(request: Request, name: str) -> str:
    """What a cursor is bound to: the pattern, the table or index, and the partition."""
    values = request.get("ExpressionAttributeValues", {})
    bound = [name, request["TableName"], request.get("IndexName"), values.get(":0")]
    return hashlib.blake2b(orjson.dumps(bound, default=plain), digest_size=16).hexdigest()
