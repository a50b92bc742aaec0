"""The contents of feeds and sources: copies, activities, and batch reads of small items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.template import HIGHEST
from keyfold_engine.limits import BATCH_GET_ITEMS
from keyfold.maintain.feed.newest_first import CONCURRENCY, PartitionRead, backwards
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Answer, Call, Flow, Parallel
from keyfold.runtime.walk import all_items, unprocessed_keys

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

Item = dict[str, Any]


def copies_of(
    context: Context, feed: Feed[Any], reader: str, source: str | None = None
) -> Flow[list[Entity]]:
    """The copies in a reader's feed, newest first; of one source, or all."""
    spec = feed.item.__spec__
    partition, position = spec.key.attributes
    request: Item = {
        "TableName": context.physical(spec.table.schema),
        "KeyConditionExpression": "#p = :p AND begins_with(#s, :s)",
        "ExpressionAttributeNames": {"#p": partition.attribute, "#s": position.attribute},
        "ExpressionAttributeValues": {
            ":p": partition.render({feed.reader_field: reader}, owner=spec.name),
            ":s": {"S": feed.prefix},
        },
        "ScanIndexForward": False,
        "ConsistentRead": True,
    }
    found = [spec.decode(item) for item in (yield from all_items(request))]
    return [i for i in found if source is None or getattr(i, feed.source_field) == source]


def newest_of(
    context: Context, feed: Feed[Any], source: str, count: int, oldest: str = ""
) -> Flow[list[Entity]]:
    """A source's newest visible activities, back to a position if one is given."""
    spec = feed.activity.__spec__
    partition = spec.key.attributes[0].render({feed.source_field: source}, owner=feed.name)
    low = oldest or feed.oldest(context.now())
    reading = PartitionRead(
        spec, backwards(context, spec), partition, feed.prefix + HIGHEST, low, low, count
    )
    answer = yield reading.next_call()
    return [spec.decode(item) for item in answer["Items"]]


def glance(context: Context, refs: Sequence[Ref[Any]]) -> Flow[dict[int, Any | None]]:
    """Items of one entity by their position among the refs, without missing ones.

    Eventually consistent, for half the price.
    """
    return read_glances(context, refs, (yield from run_concurrently(glances(context, refs))))


def glances(context: Context, refs: Sequence[Ref[Any]], *, consistent: bool = False) -> list[Call]:
    """The requests of a glance."""
    if not refs:
        return []
    table, keys = context.physical(refs[0].entity.__table__.schema), [ref.wire() for ref in refs]
    how: Item = {"ConsistentRead": True} if consistent else {}
    return [
        Call(
            "BatchGetItem",
            {"RequestItems": {table: {"Keys": keys[n : n + BATCH_GET_ITEMS], **how}}},
        )
        for n in range(0, len(keys), BATCH_GET_ITEMS)
    ]


def read_glances(
    context: Context, refs: Sequence[Ref[Any]], answers: Iterable[Answer]
) -> dict[int, Any | None]:
    """The items in the answers to a glance."""
    places = {_address(ref.wire()): place for place, ref in enumerate(refs)}
    found: dict[int, Any | None] = dict.fromkeys(range(len(refs)))
    for answer in answers:
        spec = refs[0].entity.__spec__
        table = context.physical(spec.table.schema)
        for item in answer["Responses"].get(table, ()):
            key = {name: item[name] for name in spec.table.schema.key_attributes}
            found[places[_address(key)]] = spec.decode(item)
        for key in unprocessed_keys(answer, table):
            del found[places[_address(key)]]
    return found


def run_concurrently(calls: Sequence[Call]) -> Flow[list[Answer]]:
    """The answers to concurrent requests, as many at once as a page may send."""
    answers: list[Answer] = []
    for start in range(0, len(calls), CONCURRENCY):
        answers += yield Parallel(calls[start : start + CONCURRENCY])
    return answers


def _address(key: Item) -> str:
    return repr(sorted(key.items()))
