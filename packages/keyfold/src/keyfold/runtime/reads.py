"""The one read path: every read of a handle is one of these flows."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import orjson

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.formats import text_of
from keyfold.design.home import Home
from keyfold.design.item_collection import Collected, Collection
from keyfold.design.nearest import Nearest
from keyfold.design.parameter import Param
from keyfold.design.projection import View
from keyfold.design.query import Count, Exists, First, Projected, Query
from keyfold.design.query_merge import Merge
from keyfold.design.read import Get, GetMany, GetTogether, Page, Read, resolve, resolve_refs
from keyfold.design.read_schema import check_readable
from keyfold.errors import NotFound, PlanError
from keyfold.runtime.context import Context
from keyfold.runtime.cursor import arguments_of, cursor_refused, seal, unseal
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.merged_partitions import read_merge
from keyfold.runtime.pages import QueryPage
from keyfold.runtime.query import Request, collection_request, query_request
from keyfold.runtime.recognition import declared_at, is_expired, member_decoder
from keyfold.runtime.undecodable import complain, decode_all
from keyfold.runtime.walk import Walk, count_items, walk_query

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


class SteppedRead(Read[T], ABC):
    """A read that takes several requests of its own."""

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
    budget: int | None = None,
) -> Flow[T]:
    """Run a read; `cursor` continues a paged one, `limit` overrides its page size.

    `budget` limits its requests: a filtered page ends short rather than exceed it.
    """
    if not name:
        check_readable(wanted)
    return cast("Flow[T]", _dispatch(context, wanted, arguments, name, cursor, limit, budget))


def _dispatch(
    context: Context,
    wanted: Read[Any],
    arguments: Mapping[str, Any],
    name: str,
    cursor: str | None,
    limit: int | None,
    budget: int | None,
) -> Flow[Any]:
    size = limit if limit is not None else resolve(getattr(wanted, "size", None), arguments)
    if isinstance(wanted, Query):
        return read_query(
            context, wanted, arguments, name=name, cursor=cursor, limit=size, budget=budget
        )
    if isinstance(wanted, Projected):
        return read_query(
            context,
            wanted.query,
            arguments,
            name=name,
            cursor=cursor,
            limit=size,
            budget=budget,
            view=wanted.view,
        )
    if isinstance(wanted, Get):
        values = {k: resolve(v, arguments) for k, v in wanted.ref.values.items()}
        return find(context, Ref(wanted.ref.entity, values), consistent=wanted.consistent_read)
    if isinstance(wanted, GetMany | GetTogether):
        from keyfold.runtime import batch

        several = batch.get_many if isinstance(wanted, GetMany) else batch.get_together
        return several(context, resolve_refs(wanted.refs, arguments))
    if isinstance(wanted, First | Exists):
        return _first(context, wanted, arguments, budget)
    if isinstance(wanted, Count):
        return _count(context, wanted.query, arguments)
    if isinstance(wanted, Collection):
        return _collect(context, wanted, arguments, name, cursor, size, budget)
    if isinstance(wanted, Merge):
        return read_merge(context, wanted, arguments, name, cursor, size)
    if isinstance(wanted, Nearest):
        from keyfold.runtime.search import search

        check_limit(size)
        return search(context, wanted, arguments, size)
    if isinstance(wanted, SteppedRead):
        return wanted.steps(context)
    raise PlanError(
        f"{wanted!r} is not a read; give a query, as Order.key.query(user_id='1'), or another "
        "read; use `get` for an item by address"
    )


def _first(
    context: Context,
    wanted: First[Any] | Exists[Any],
    arguments: Mapping[str, Any],
    budget: int | None,
) -> Flow[Any]:
    query = wanted.query
    request = query_request(context, query, arguments)
    if request is None:
        return False if isinstance(wanted, Exists) else None
    page = _page(request, query, 1, budget)
    yield from page.fill()
    while not page.walk.ended and not page.found:
        # A short page would look like the end. Expired items do not count against the caller.
        yield from page.turn(None, excused=page.hidden)
    if isinstance(wanted, Exists):
        return bool(page.found)
    return query.entity.__spec__.decode(page.found[0]) if page.found else None


def find(context: Context, ref: Ref[E], *, consistent: bool = True) -> Flow[E | None]:
    """One item, or None; an expired item counts as missing."""
    item = yield from find_item(context, ref, consistent=consistent)
    found: E | None = None if item is None else ref.entity.__spec__.decode(item)
    return found


def find_item(
    context: Context, ref: Ref[Any], *, consistent: bool = True
) -> Flow[dict[str, Any] | None]:
    """The item as it is stored, including attributes that the design does not declare."""
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
        raise NotFound(f"{ref} does not exist", entity=ref.entity.__name__, key=ref.values)
    return found


def read_query(
    context: Context,
    query: Query[Any],
    arguments: Mapping[str, Any],
    *,
    name: str = "",
    cursor: str | None = None,
    limit: int | None = None,
    budget: int | None = None,
    view: View[Any] | None = None,
) -> Flow[Page[Any]]:
    """One page; if a filter drops many items it may be short and still have a cursor."""
    check_limit(limit)
    request = query_request(context, query, arguments, fields=view.fields if view else ())
    if request is None:
        return Page([])
    decode = (view or query.entity.__spec__).decode
    bound = scope(name, query, arguments)
    page = _page(request, query, limit, budget)
    home = query.entity.__spec__.home
    page.walk.position = yield from _start(context, bound, request, page.key, cursor, home)
    last = yield from page.fill()
    following = seal_position(context, bound, request, last)
    good, wrong = decode_all(context.on_undecodable, decode, page.found)
    complain(wrong, good, following)
    return Page(good, following)


def _page(
    request: Request,
    query: Query[Any],
    limit: int | None,
    budget: int | None,
) -> QueryPage:
    spec, declared = query.entity.__spec__, query.source.declared
    key = [a.attribute for a in declared.attributes] if declared.index is not None else []
    positions = tuple(dict.fromkeys([*key, *spec.table.schema.key_attributes]))
    hidden = spec.ttl is not None and query.condition is None
    return QueryPage(walk_query(request, spec.home), positions, limit, budget, hidden)


def _start(
    context: Context,
    bound: str,
    request: Request,
    key: Sequence[str],
    cursor: str | None,
    home: Home | None = None,
) -> Flow[dict[str, Any] | None]:
    """Where a cursor continues; one from before a migration continues behind the same item."""
    if not cursor:
        return None
    place, position = unseal(context.cursor_key, bound, cursor)
    here = place == place_of(request)
    found: dict[str, Any] = position
    if here and (home is None or not context.followed or home.holds(position)):
        return found
    for migration in context.followed:
        item = yield from migration.item_now(context, position, request["TableName"])
        if item is not None and item.get(key[0]) == request["ExpressionAttributeValues"][":0"]:
            return {name: item[name] for name in key}
    if here:
        return found
    raise cursor_refused()


def _count(context: Context, query: Query[Any], arguments: Mapping[str, Any]) -> Flow[int]:
    request = query_request(context, query, arguments, counted=True)
    if request is None:
        return 0
    if not context.followed:
        return (yield from count_items(request))
    # The other key of a migration may begin like this one: no filter tells them apart, keys do.
    spec = query.entity.__spec__
    names = {f"#key{at}": name for at, name in enumerate(spec.table.schema.key_attributes)}
    known = request.get("ExpressionAttributeNames", {})
    asked = {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": known | names}
    walk, found = walk_query({**request, **asked}, spec.home), 0
    while not walk.ended:
        found += len((yield from walk.next())["Items"])
    return found


def _collect(
    context: Context,
    wanted: Collection[Any],
    arguments: Mapping[str, Any],
    name: str,
    cursor: str | None,
    limit: int | None,
    budget: int | None,
) -> Flow[Collected[Any]]:
    check_limit(limit)
    request = collection_request(context, wanted, arguments)
    if request is None:
        return Collected([])
    key = wanted.keys[0].declared
    index = [a.attribute for a in key.attributes] if key.index is not None else []
    home = wanted.entities[0].__spec__.table.schema.key_attributes
    positions = tuple(dict.fromkeys([*index, *home]))
    bound = scope(name, wanted, arguments)
    start = yield from _start(context, bound, request, positions, cursor)
    walk = Walk("Query", request, start, mine=declared_at(wanted.entities[0].__spec__))
    page = QueryPage(walk, positions, limit, budget)
    last = yield from page.fill()
    following = seal_position(context, bound, request, last)

    decode = member_decoder(context, wanted)
    good, wrong = decode_all(context.on_undecodable, decode, page.found)
    found = [one for one in good if one is not None]
    complain(wrong, found, following)
    return Collected(found, following)


def check_limit(limit: int | None) -> None:
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise PlanError(f"limit must be a whole number of at least 1, not {limit!r}")


def seal_position(
    context: Context, bound: str, request: Request, position: Any | None
) -> str | None:
    if position is None:
        return None
    return seal(context.cursor_key, bound, [place_of(request), position])


def scope(name: str, wanted: Query[Any] | Collection[Any], arguments: Mapping[str, Any]) -> str:
    """What a cursor is bound to: the pattern and its arguments."""
    limit = wanted.size.name if isinstance(wanted.size, Param) else ""
    return f"{name}:{arguments_of(arguments, (limit,))}"


def place_of(request: Request) -> str:
    """Where a position lies: the table or index, and the partition."""
    values = request.get("ExpressionAttributeValues", {})
    place = [request["TableName"], request.get("IndexName"), values.get(":0")]
    return hashlib.blake2b(orjson.dumps(place, default=text_of), digest_size=8).hexdigest()
