"""Several partitions merged into one list: in key order, without duplicates, with one cursor.

A position is the sort value and identity of the last item returned. Every partition resumes from
the same position, so the cursor stays small for any number of partitions, and items that arrive
after it are never skipped. `maintain.feed.newest_first` merges ranges that are known in advance;
its docstring says why it is separate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.fields import FieldSpec
from keyfold.design.item_collection import Collection
from keyfold.design.parameter import Param
from keyfold.design.query import Query
from keyfold.design.query_merge import Merge
from keyfold.design.read import Each, Page, resolve
from keyfold.errors import Undecodable
from keyfold.runtime.context import Context
from keyfold.runtime.cursor import arguments_of, seal, unseal
from keyfold.runtime.flow import Flow, Parallel
from keyfold.runtime.pages import FIRST_READ
from keyfold.runtime.query import Request, collection_request, query_request
from keyfold.runtime.recognition import declared_at, member_decoder, recognise
from keyfold.runtime.undecodable import complain, decode_all
from keyfold.runtime.walk import Walk

E = TypeVar("E", bound=Entity)
Position = tuple[Any, str]

DEFAULT_PAGE = 50
CONCURRENCY = 32


@dataclass
class _Source:
    """One partition being read."""

    walk: Walk
    size: int | None
    spec_of: Callable[[dict[str, Any]], EntitySpec]
    decode: Callable[[dict[str, Any]], Any]
    """Returns None for an item that was not asked for."""
    sort: str
    unique: str
    backwards: bool
    waiting: list[tuple[Position, dict[str, Any]]] = field(default_factory=list)

    def take(self, answer: dict[str, Any], after: Position | None) -> None:
        for item in self.walk.take(answer)["Items"]:
            position = self.position(item)
            if after is None or _follows(position, after, backwards=self.backwards):
                self.waiting.append((position, item))
        if "FilterExpression" in self.walk.request:
            # The filter dropped so much that more is needed: read a full page.
            self.size = None

    def position(self, item: dict[str, Any]) -> Position:
        spec = self.spec_of(item)
        identity = (
            _thing(spec.fields[self.unique], item)
            if self.unique
            else {"S": "\0".join(str(item[a]) for a in spec.table.schema.key_attributes)}
        )
        kind, value = next(iter(item[self.sort].items()))
        return (Decimal(value) if kind == "N" else value), str(next(iter(identity.values())))


def _thing(field: FieldSpec, item: dict[str, Any]) -> dict[str, Any]:
    """The value that identifies an item across partitions."""
    found: dict[str, Any] = item[field.attribute]
    return found if field.reader is None else {"": field.reader(item)}


def read_merge(
    context: Context,
    wanted: Merge[E],
    arguments: Mapping[str, Any],
    name: str,
    cursor: str | None,
    limit: int | None,
) -> Flow[Page[E]]:
    """One page of the merge."""
    size = limit or DEFAULT_PAGE
    scope = f"merge:{name}:{wanted.unique}:{arguments_of(arguments, _left_out(wanted))}"
    after: Position | None = None
    if cursor is not None:
        kind, value, identity = unseal(context.cursor_key, scope, cursor)
        after = (Decimal(value) if kind == "N" else value, identity)
    sources = _sources(context, wanted, arguments, after, size)
    page: list[E] = []
    wrong: list[Undecodable] = []
    last = after
    while len(page) < size:
        hungry = [s for s in sources if not s.waiting and not s.walk.ended]
        for start in range(0, len(hungry), CONCURRENCY):
            chunk = hungry[start : start + CONCURRENCY]
            answers = yield Parallel([s.walk.call(s.size) for s in chunk])
            for source, answer in zip(chunk, answers, strict=True):
                source.take(answer, after)
        if any(not s.waiting and not s.walk.ended for s in sources):
            continue
        ready = [s for s in sources if s.waiting]
        if not ready:
            complain(wrong, page)
            return Page(page)
        heads = [(s.waiting[0][0], s) for s in ready]
        position, source = _first(heads)
        _, item = source.waiting.pop(0)
        if last is not None and position == last:
            continue
        last = position
        good, bad = decode_all(context.on_undecodable, source.decode, [item])
        page += [one for one in good if one is not None]
        wrong += bad
        if bad and len(page) + len(wrong) >= size:
            break
    if last is None or not any(s.waiting or not s.walk.ended for s in sources):
        complain(wrong, page)
        return Page(page)
    value, identity = last
    sealed = ("N", str(value), identity) if isinstance(value, Decimal) else ("S", value, identity)
    following = seal(context.cursor_key, scope, sealed)
    complain(wrong, page, following)
    return Page(page, following)


def _sources(
    context: Context,
    wanted: Merge[Any],
    arguments: Mapping[str, Any],
    after: Position | None,
    size: int,
) -> list[_Source]:
    sources = []
    for query in wanted.queries:
        for one in _expand(query, arguments):
            request = _request(context, one, arguments, _wire(after))
            if request is None:
                continue
            filtered = "FilterExpression" in request
            first = max(size + 1, FIRST_READ) if filtered else size + 1
            readers = _readers(context, one)
            walk = Walk("Query", request, mine=declared_at(query.keys[0].entity.__spec__))
            sort = query.keys[0].declared.sort_attributes[0].attribute
            sources.append(_Source(walk, first, *readers, sort, wanted.unique, query.backwards))
    return sources


def _request(
    context: Context,
    one: Query[Any] | Collection[Any],
    arguments: Mapping[str, Any],
    at: dict[str, str] | None,
) -> Request | None:
    if isinstance(one, Collection):
        return collection_request(context, one, arguments, at)
    return query_request(context, one, arguments, at)


def _readers(
    context: Context, one: Query[Any] | Collection[Any]
) -> tuple[Callable[[dict[str, Any]], EntitySpec], Callable[[dict[str, Any]], Any]]:
    """Functions that recognise and decode the entities of the merge."""
    spec: EntitySpec = one.keys[0].entity.__spec__
    if isinstance(one, Collection):
        return partial(recognise, spec), member_decoder(context, one)
    return (lambda _: spec), spec.decode


def _left_out(wanted: Merge[Any]) -> list[str]:
    """Parameters that may change between two pages: the page size and the list of partitions."""
    spread = [v.values for q in wanted.queries for v in q.values.values() if isinstance(v, Each)]
    return [one.name for one in (*spread, wanted.size) if isinstance(one, Param)]


def _expand(
    query: Query[Any] | Collection[Any], arguments: Mapping[str, Any]
) -> list[Query[Any] | Collection[Any]]:
    """One query per element of an `each` parameter."""
    for name, value in query.values.items():
        if isinstance(value, Each):
            elements = list(dict.fromkeys(resolve(value.values, arguments)))
            return [replace(query, values={**query.values, name: e}) for e in elements]
    return [query]


def _follows(position: Position, after: Position, *, backwards: bool) -> bool:
    ours, theirs = _order_key(position), _order_key(after)
    return ours < theirs if backwards else ours > theirs


def _wire(position: Position | None) -> dict[str, str] | None:
    if position is None:
        return None
    value = position[0]
    return {"N": str(value)} if isinstance(value, Decimal) else {"S": value}


def _first(heads: list[tuple[Position, _Source]]) -> tuple[Position, _Source]:
    choose = max if heads[0][1].backwards else min
    return choose(heads, key=lambda head: _order_key(head[0]))


def _order_key(position: Position) -> tuple[Any, bytes]:
    value, identity = position
    return (value if isinstance(value, Decimal) else value.encode()), identity.encode()
