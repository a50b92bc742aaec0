"""The writes of a design document: copies, counters, operations, streams, feeds."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.condition import condition_text
from keyfold.design.follows import SUPPORT_TABLE
from keyfold.design.schema import Follows, Schema, UniqueSchema
from keyfold.review.docs.blocks import Block, Grid, Picture, anchor
from keyfold.review.docs.write_flow import flows, write_flow

MANY_FLOWS = 12
SYNCS = {
    "transaction": "in the same transaction",
    "stream": "from the stream",
    "none": "**nothing**",
}


def copies(schema: Schema) -> Iterator[Block]:
    rows = (
        (
            f"**{each.target}**",
            each.source,
            ", ".join(each.writes) or "all it shares",
            _many(each),
            _maintained_by(each),
        )
        for each in schema.follows
        if each.fact == "copy"
    )
    yield Grid(("Copy", "Of", "Fields", "How many", "Maintained"), tuple(rows))


def _many(each: Follows) -> str:
    words = [f"one for each of `{each.each}`"] if each.each else []
    words += [f"where `{condition_text(each.when)}`"] if each.when is not None else []
    return " ".join(words) or "–"


def _maintained_by(each: Follows) -> str:
    """How a structure is maintained, and what is left to the stream."""
    if each.overflow == "stream" and each.joins:
        return f"{SYNCS['transaction']}; from the stream, where it does not fit"
    return SYNCS[each.sync]


def counters(schema: Schema) -> Iterator[Block]:
    rows = (
        (
            f"**{each.name.removeprefix('counter ')}**",
            (f"sum of {each.sums} of " if each.sums else "number of ")
            + each.source
            + (f" where `{condition_text(each.when)}`" if each.when is not None else ""),
            _maintained_by(each) if each.sync != "none" else "by adding: **a repeat counts twice**",
            str(each.shards),
        )
        for each in schema.follows
        if each.fact == "amount"
    )
    yield Grid(("Counter", "What it is", "Kept right", "Shards"), tuple(rows))


def uniques(schema: Schema) -> Iterator[Block]:
    held = {
        "marker": "a marker item in the same transaction",
        "claim": "a claim item that is its key",
        "index": "**an index lookup, which enforces nothing**",
    }
    rows = (
        (f"**{entity.name}**", ", ".join(u.fields), held[u.by] + _at(u), u.normalise or "–")
        for entity in schema.entities
        for u in entity.uniques
    )
    yield Grid(("Entity", "Unique", "Held by", "Normalised"), tuple(rows))


def _at(unique: UniqueSchema) -> str:
    keys = " / ".join(f"`{template.text}`" for template in unique.marker)
    return f", at {keys}" if keys else ""


def writes(schema: Schema) -> Iterator[Block]:
    rows = (
        (
            f"**{o.name}**",
            ", ".join(f"{e.action} {'each ' if e.each else ''}{e.entity}" for e in o.effects),
            "yes" if o.atomic else ("no" if len(o.effects) > 1 else "–"),
            "yes" if o.idempotent and not o.needs else "–",
        )
        for o in schema.operations
    )
    yield Grid(("Operation", "Writes", "Atomic", "Safe to repeat"), tuple(rows))
    for flow in flows(schema)[:MANY_FLOWS]:
        if len(flow.writes) > 1 or flow.later:
            yield Picture(f"flow-{anchor(flow.name)}", write_flow(flow), "")


def streams(schema: Schema) -> Iterator[Block]:
    rows = [
        (
            f"**{c.name}**",
            ", ".join(c.entities) or "everything",
            ", ".join(event.lower() for event in c.events) or "–",
            ", ".join(f"{e.action} {e.entity}" for e in c.effects) or "–",
            c.dead_letter or "**nowhere**",
        )
        for c in schema.consumers
    ]
    stated = {consumer.name for consumer in schema.consumers}
    rows += [
        (
            f"**{each.name}**",
            each.source,
            ", ".join(event.lower() for event in each.on),
            _work(each),
            SUPPORT_TABLE,
        )
        for each in schema.follows
        if schema.enforced and each.by_stream and each.name not in stated
    ]
    yield Grid(("Consumer", "Acts on", "Events", "Does", "Failures go to"), tuple(rows))


def _work(each: Follows) -> str:
    """What a consumer does for a structure."""
    if each.fact == "job" and each.found is not None:
        return f"{'delete' if each.deletes else 'update'} {each.target}"
    late = "" if each.sync == "stream" else " where the transaction had no room"
    if each.expires and each.joins:
        late = " of what expired" if each.overflow == "refuse" else f"{late}, or of what expired"
    done = {"copy": "keep", "amount": "count in", "shown": "look at", "job": "bring to"}
    target = each.target or f"unique {', '.join(each.writes)}"
    return f"{done.get(each.fact, 'keep' if each.target else 'free')} {target}{late}"


def feeds(schema: Schema) -> Iterator[Block]:
    ways = {
        "fan_in": "pulled when read",
        "fan_out": "pushed when written",
        "hybrid": "pulled for some, pushed for others",
    }
    rows = (
        (
            f"**{feed.name}**",
            feed.post,
            feed.item or "–",
            ways[feed.mode],
            feed.edge or "–",
            f"{feed.cap:,}" if feed.cap else "–",
            feed.trimmed_by or "–",
        )
        for feed in schema.feeds
    )
    yield Grid(("Feed", "Posts", "Items", "How", "Along", "Cap", "Trimmed by"), tuple(rows))
