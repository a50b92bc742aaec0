"""The one read path: every read of a handle is one of these flows."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.formats import text_of
from keyfold.design.home import Home
from keyfold.design.item_collection import Collected, Collection
from keyfold.design.nearest import NEIGHBOURS, Nearest
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


@dataclass
class Asked:
    """What comes with a read."""

    arguments: Mapping[str, Any]
    name: str = ""
    """The pattern's; an unnamed read is checked first."""
    cursor: str | None = None
    """Continues a paged read."""
    limit: int | None = None
    """Overrides the page size."""
    budget: int | None = None
    """The most requests: a filtered page ends short rather than exceed it."""


def read(context: Context, wanted: Read[Any], asked: Asked) -> Flow[Any]:
    """Run a read."""
    arguments = asked.arguments
    if not asked.name:
        check_readable(wanted)
    if asked.limit is None:
        asked.limit = resolve(getattr(wanted, "size", None), arguments)
    if isinstance(wanted, Query):
        return read_query(context, wanted, asked)
    if isinstance(wanted, Projected):
        return read_query(context, wanted.query, asked, wanted.view)
    if isinstance(wanted, Get):
        values = {k: resolve(v, arguments) for k, v in wanted.ref.values.items()}
        return find(context, Ref(wanted.ref.entity, values), consistent=wanted.consistent_read)
    if isinstance(wanted, GetMany | GetTogether):
        from keyfold.runtime import batch

        several = batch.get_many if isinstance(wanted, GetMany) else batch.get_together
        return several(context, resolve_refs(wanted.refs, arguments))
    if isinstance(wanted, First | Exists):
        return _first(context, wanted, asked)
    if isinstance(wanted, Count):
        return _count(context, wanted.query, arguments)
    if isinstance(wanted, Collection):
        return _collect(context, wanted, asked)
    if isinstance(wanted, Merge):
        limit = check_limit(asked.limit)
        return read_merge(context, wanted, arguments, asked.name, asked.cursor, limit)
    if isinstance(wanted, Nearest):
        from keyfold.runtime.search import search

        return search(context, wanted, arguments, check_limit(asked.limit) or NEIGHBOURS)
    if isinstance(wanted, SteppedRead):
        return wanted.steps(context)
    raise PlanError(
        f"{wanted!r} is not a read; give a query, as Order.key.query(user_id='1'), or another "
        "read; use `get` for an item by address"
    )


def _first(context: Context, wanted: First[Any] | Exists[Any], asked: Asked) -> Flow[Any]:
    query = wanted.query
    request = query_request(context, query, asked.arguments)
    if request is None:
        return False if isinstance(wanted, Exists) else None
    page = _page(request, query, 1, asked.budget)
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
    context: Context, query: Query[Any], asked: Asked, view: View[Any] | None = None
) -> Flow[Page[Any]]:
    """One page; if a filter drops many items it may be short and still have a cursor."""
    limit, spec = check_limit(asked.limit), query.entity.__spec__
    request = query_request(context, query, asked.arguments, fields=view.fields if view else ())
    if request is None:
        return Page([])
    page = _page(request, query, limit, asked.budget)
    read = _fill(context, asked, query, page, (view or spec).decode, spec.home)
    return Page(*(yield from read))


def _fill(
    context: Context,
    asked: Asked,
    wanted: Query[Any] | Collection[Any],
    page: QueryPage,
    decode: Callable[[dict[str, Any]], Any],
    home: Home | None = None,
) -> Flow[tuple[list[Any], str | None]]:
    """The items of a page from the cursor on, and the cursor of the next."""
    bound, request = scope(asked.name, wanted, asked.arguments), page.walk.request
    page.walk.position = yield from _start(context, bound, request, page.key, asked.cursor, home)
    last = yield from page.fill()
    following = None
    if last is not None:
        following = seal(context.cursor_key, bound, [place_of(request), last])
    good, wrong = decode_all(context.on_undecodable, decode, page.found)
    found = [one for one in good if one is not None]
    complain(wrong, found, following)
    return found, following


def _page(request: Request, query: Query[Any], limit: int | None, budget: int | None) -> QueryPage:
    spec = query.entity.__spec__
    hidden = spec.ttl is not None and query.condition is None
    key = query.source.declared.position
    return QueryPage(walk_query(request, spec.home), key, limit, budget, hidden)


def _start(
    context: Context,
    bound: str,
    request: Mapping[str, Any],
    key: Sequence[str],
    cursor: str | None,
    home: Home | None,
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


def _collect(context: Context, wanted: Collection[Any], asked: Asked) -> Flow[Collected[Any]]:
    limit = check_limit(asked.limit)
    request = collection_request(context, wanted, asked.arguments)
    if request is None:
        return Collected([])
    spec = wanted.entities[0].__spec__
    walk = Walk("Query", request, mine=declared_at(spec))
    page = QueryPage(walk, wanted.keys[0].declared.position, limit, asked.budget)
    read = _fill(context, asked, wanted, page, member_decoder(context, wanted))
    return Collected(*(yield from read))


def check_limit(limit: int | None) -> int | None:
    if limit is None or (isinstance(limit, int) and limit >= 1):
        return limit
    raise PlanError(f"limit must be a whole number of at least 1, not {limit!r}")


def scope(name: str, wanted: Query[Any] | Collection[Any], arguments: Mapping[str, Any]) -> str:
    """What a cursor is bound to: the pattern and its arguments."""
    limit = wanted.size.name if isinstance(wanted.size, Param) else ""
    return f"{name}:{arguments_of(arguments, (limit,))}"


def place_of(request: Mapping[str, Any]) -> str:
    """Where a position lies: the table or index, and the partition."""
    values = request.get("ExpressionAttributeValues", {})
    place = [request["TableName"], request.get("IndexName"), values.get(":0")]
    return hashlib.blake2b(orjson.dumps(place, default=text_of), digest_size=8).hexdigest()
