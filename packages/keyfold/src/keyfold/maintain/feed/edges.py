"""The edges of a feed, from the reader's and the source's side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from keyfold.design import codes
from keyfold.design.address import OpenKey, Ref
from keyfold.design.declaration import refuse
from keyfold.design.entity import Entity
from keyfold.design.markers import Created, Ttl
from keyfold.maintain.edge import sharded_fields
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow, Parallel
from keyfold.runtime.query import query_request
from keyfold.runtime.walk import Walk, get_batches, rest, walk_query
from keyfold_engine.limits import BATCH_WRITE_ITEMS

FOLLOWERS_AT_ONCE = 8 * BATCH_WRITE_ITEMS
Place = list[Any]
"""Where to continue among the followers: a partition's number and a key, or None for its start."""


@dataclass(frozen=True)
class FollowEdges:
    """One kind of edge: `followers` is its key seen from the source, `sources` from the reader."""

    entity: type[Entity]
    reader: str
    source: str
    followers: OpenKey[Any]
    sources: OpenKey[Any]
    since: str
    """The field with the time of the follow; "" if it has none."""

    def ref(self, reader: str, source: str) -> Ref[Any]:
        return Ref(self.entity, {self.reader: reader, self.source: source})

    def partitions(self, source: str) -> Iterator[dict[str, Any]]:
        """The key fields of each partition with a source's followers."""
        named = self.followers.declared.templates.partition.fields
        sharded = {n: s for n, s in sharded_fields(self.entity).items() if n in named}
        if not sharded:
            yield {self.source: source}
        for name, mark in sharded.items():
            for shard in range(mark.shards):
                yield {self.source: source, name: shard}

    def time_of(self, edge: Entity) -> datetime | None:
        """Since when somebody follows, if the edge says so."""
        return getattr(edge, self.since) if self.since else None


def declare(edge: type[Entity] | Mapping[type[Entity], str]) -> dict[type[Entity], FollowEdges]:
    """The kinds of edges of a feed; a single one uses its `followers` key."""
    given = edge if isinstance(edge, Mapping) else {edge: "followers"}
    return {entity: _following(entity, name) for entity, name in given.items()}


def _following(entity: type[Entity], name: str) -> FollowEdges:
    followers = getattr(entity, name, None)
    if not isinstance(followers, OpenKey):
        refuse(
            codes.UNKNOWN_REFERENCE,
            f"{entity.__name__} has no key {name!r}.",
            f"Say how followers are listed: edge={{{entity.__name__}: "
            '"name of a key, an On or a Mirror"}.',
        )
    partition = followers.declared.templates.partition.fields
    sources = [field for field in partition if field not in sharded_fields(entity)]
    readers = [field for field in entity.__spec__.key.address if field not in sources]
    if len(sources) != 1 or len(readers) != 1:
        refuse(
            codes.MARKER_MISUSED,
            f"{entity.__name__}.{name} does not say which field is the source and which the "
            "reader.",
            "Its partition is one field, the source; the key of the edge has one more, the reader.",
        )
    [reader], [source] = readers, sources
    spec = entity.__spec__
    listings = (
        getattr(entity, one.name)
        for one in (spec.key, *spec.placements.values())
        if one.templates.partition.fields == (reader,)
    )
    listing = next(listings, None)
    if listing is None:
        refuse(
            codes.MARKER_MISUSED,
            f"{entity.__name__} does not list the sources of one reader.",
            f"Give it a key or an On whose partition is {{{reader}}} alone.",
        )
    return FollowEdges(entity, reader, source, followers, listing, _time(entity))


def _time(entity: type[Entity]) -> str:
    fields = entity.__spec__.fields.values()
    times = [f for f in fields if f.kind == "timestamp" and f.mark(Ttl) is None]
    created = [f for f in times if f.mark(Created) is not None] or times
    return created[0].name if len(created) == 1 else ""


def sources_of(
    context: Context, edges: Mapping[type[Entity], FollowEdges], reader: str
) -> Flow[dict[str, datetime | None]]:
    """Whom a reader follows at this moment, each with the time of the oldest follow."""
    walks = [_listing(context, edge, reader) for edge in edges.values()]
    answers = yield Parallel([walk.call() for walk in walks])
    found: dict[str, datetime | None] = {}
    for edge, walk, answer in zip(edges.values(), walks, answers, strict=True):
        items = yield from rest(walk, answer)
        spec = edge.entity.__spec__
        if edge.sources.declared.index is not None:
            # An index may still list who is not followed any more.
            table = spec.table.schema
            keys = [{name: item[name] for name in table.key_attributes} for item in items]
            place = context.physical(table)
            present = yield from get_batches((place, key) for key in keys)
            items = [item for _, item in present]
        for one in map(spec.decode, items):
            source, since = getattr(one, edge.source), edge.time_of(one)
            known = found.get(source, since)
            found[source] = None if since is None or known is None else min(since, known)
    return found


def _listing(context: Context, edge: FollowEdges, reader: str) -> Walk:
    return _walk(context, edge.sources, {edge.reader: reader}, None)


def edges_to(
    context: Context, edges: Mapping[type[Entity], FollowEdges], source: str, start: Place | None
) -> Flow[tuple[list[Any], Place | None]]:
    """Some edges to a source, and where to continue."""
    partitions = [(edge, v) for edge in edges.values() for v in edge.partitions(source)]
    number, key = start if start is not None else (0, None)
    edge, values = partitions[number]
    walk = _walk(context, edge.followers, values, key)
    answer = yield from walk.next(FOLLOWERS_AT_ONCE)
    spec = edge.followers.entity.__spec__
    found = [spec.decode(item) for item in answer["Items"]]
    if not walk.ended:
        return found, [number, walk.position]
    return found, [number + 1, None] if number + 1 < len(partitions) else None


def _walk(context: Context, key: OpenKey[Any], values: dict[str, Any], start: Any) -> Walk:
    query = key.query(**values)
    if key.declared.index is None:
        query = query.consistent()
    request = query_request(context, query, {})
    assert request is not None, "a whole partition is not an empty range"
    return walk_query(request, key.entity.__spec__.home, start)
