"""Designs in Python: what keyfold takes care of is not reported, what it cannot is."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from keyfold import (
    Collection,
    Counter,
    Design,
    Entity,
    Id,
    Index,
    Key,
    Merge,
    On,
    Query,
    Timestamp,
    collection,
    each,
    merge,
)
from keyfold.review.check import check
from keyfold.structures import Edge, Sharded, across_shards

design = Design("python")
table = design.table(
    "python",
    indexes=[Index("ByTime", "GSI1PK", "GSI1SK"), Index("ByStatus", "GSI2PK", "GSI2SK")],
)


class Post(Entity, table=table):
    author_id: Id
    post_id: Id
    status: str
    at: Timestamp
    likes: Annotated[int, Counter("Like", shards=8)] = 0
    key = Key("AUTHOR#{author_id}", "POST#{post_id}")
    by_time = On("ByTime", "TIME#{author_id}", "{at}")
    by_status = On("ByStatus", "STATUS#{status}#{author_id}", "POST#{post_id}")


class Like(Entity, table=table):
    author_id: Id
    post_id: Id
    user_id: Id
    key = Key("AUTHOR#{author_id}", "LIKE#{post_id}#{user_id}")


class Visit(Edge, table=table):
    page_id: Id
    visit_id: Id
    shard: Annotated[int, Sharded(by="visit_id", shards=4)] = 0
    key = Key("PAGE#{page_id}#{shard:02d}", "VISIT#{visit_id}")


@design.pattern()
def since(author_id: str, at: datetime, limit: int = 20) -> Query[Post]:
    """A range that keyfold closes."""
    return Post.by_time.query(author_id=author_id).since(at=at).limit(limit)


@design.pattern()
def by_status(status: str, author_id: str, limit: int = 20) -> Query[Post]:
    """An index key that changes: keyfold writes it whole."""
    return Post.by_status.query(status=status, author_id=author_id).limit(limit)


@design.pattern()
def whole(author_id: str, limit: int = 20) -> Collection:
    """Posts and likes of an author."""
    return collection(Post, Like, author_id=author_id).limit(limit)


@design.pattern()
def visits(page_id: str, limit: int = 20) -> Merge[Visit]:
    """All shards of a page: their number is known."""
    return across_shards(Visit.key, page_id=page_id).limit(limit)


@design.pattern()
def of_many(author_ids: list[str], limit: int = 20) -> Merge[Post]:
    """As many queries as the caller gives authors."""
    return merge(Post.key.query(author_id=each(author_ids))).limit(limit)


def test_only_what_the_caller_decides_is_left_to_say() -> None:
    report = check(design.schema)
    assert report.crashes == ()
    found = [(f.code, f.subject) for f in report.findings]
    assert found == [("Q8", "of_many")]


def test_findings_lead_to_the_line_of_the_declaration() -> None:
    finding = next(f for f in check(design.schema).findings if f.code == "Q8")
    assert finding.place.file == __file__
    assert finding.place.line > 0
