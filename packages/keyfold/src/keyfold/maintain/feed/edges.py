"""The edges of a feed, from the reader's and the source's side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keyfold.design import codes
from keyfold.design.address import OpenKey, Ref
from keyfold.design.entity import Entity
from keyfold.design.predicate import FieldPath, Test
from keyfold.errors import DeclarationError
from keyfold_engine.limits import BATCH_WRITE_ITEMS
from keyfold.maintain.address import raw
from keyfold.maintain.edge import sharded_fields
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Check
from keyfold.runtime.query import query_request
from keyfold.runtime.walk import Walk

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

FOLLOWERS_AT_ONCE = 8 * BATCH_WRITE_ITEMS
Place = list[Any]
"""Where to continue among the followers: a partition's number and a key, or None for its start."""


@dataclass(frozen=True)
class FollowEdges:
    """One kind of edge; `followers` is its key as seen from the source."""

    entity: type[Entity]
    reader: str
    source: str
    followers: OpenKey[Any]

    def ref(self, reader: str, source: str) -> Ref[Any]:
        return Ref(self.entity, {self.reader: reader, self.source: source})

    def absence(self, reader: str, source: str) -> Check:
        """A check that fails if the edge exists."""
        return Check(self.ref(reader, source), Test("missing", FieldPath((self.reader,))))

    def partitions(self, source: str) -> Iterator[dict[str, Any]]:
        """The key fields of each partition with a source's followers."""
        named = self.followers.declared.templates.partition.fields
        sharded = {n: s for n, s in sharded_fields(self.entity).items() if n in named}
        if not sharded:
            yield {self.source: source}
        for name, mark in sharded.items():
            for shard in range(mark.shards):
                yield {self.source: source, name: shard}


def declare(
    edge: type[Entity] | Mapping[type[Entity], str], place: str
) -> dict[type[Entity], FollowEdges]:
    """The kinds of edges of a feed; a single one uses its `followers` key."""
    given = edge if isinstance(edge, Mapping) else {edge: "followers"}
    return {entity: _following(entity, name, place) for entity, name in given.items()}


def _following(entity: type[Entity], name: str, place: str) -> FollowEdges:
    followers = getattr(entity, name, None)
    if not isinstance(followers, OpenKey):
        raise DeclarationError(
            codes.UNKNOWN_REFERENCE,
            f"{entity.__name__} has no key {name!r}.",
            place=place,
            suggestion=f"Say how followers are listed: edge={{{entity.__name__}: "
            '"name of a key, an On or a Mirror"}.',
        )
    partition = followers.declared.templates.partition.fields
    sources = [field for field in partition if field not in sharded_fields(entity)]
    readers = [field for field in entity.__spec__.key.address if field not in sources]
    if len(sources) != 1 or len(readers) != 1:
        raise DeclarationError(
            codes.MARKER_MISUSED,
            f"{entity.__name__}.{name} does not say which field is the source and which the "
            "reader.",
            place=place,
            suggestion="Its partition is one field, the source; the key of the edge has one "
            "more, the reader.",
        )
    return FollowEdges(entity, readers[0], sources[0], followers)


def edges_to(
    context: Context, edges: Iterable[FollowEdges], source: str, start: Place | None
) -> Flow[tuple[list[Any], Place | None]]:
    """Some edges to a source, and where to continue."""
    partitions = [(edge, v) for edge in edges for v in edge.partitions(source)]
    number, key = start if start is not None else (0, None)
    edge, values = partitions[number]
    query = edge.followers.query(**values)
    if edge.followers.declared.index is None:
        query = query.consistent()
    request = query_request(context, query, {})
    assert request is not None, "a whole partition is not an empty range"
    walk = Walk("Query", request, key)
    answer = yield from walk.next(FOLLOWERS_AT_ONCE)
    spec = edge.followers.entity.__spec__
    found = [spec.decode(item) for item in answer["Items"]]
    if not walk.ended:
        return found, [number, walk.position]
    return found, [number + 1, None] if number + 1 < len(partitions) else None


def edge_between(
    context: Context, feed: Feed[Any], reader: str, source: str
) -> Flow[FollowEdges | None]:
    """The kind of edge by which a reader follows a source, if any."""
    for edge in feed.edges.values():
        if (yield from raw(context, edge.ref(reader, source))) is not None:
            return edge
    return None
