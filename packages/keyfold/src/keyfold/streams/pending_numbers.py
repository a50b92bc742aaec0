"""Numbers up to now, without the consumer: the amounts of the records that it has not read yet.

Each amount is added with its processed marker, so the consumer skips it when it comes to the
record, and everything else that the record triggers is left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from keyfold.design.table import Table
from keyfold.errors import TrimmedData, Unavailable
from keyfold.runtime.context import Context
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow
from keyfold.streams import lease as leasing
from keyfold.streams import support_table
from keyfold.streams.effect import Effects, ReactionContext
from keyfold.streams.lease import Group
from keyfold.streams.policy import retry_transient
from keyfold.streams.record_batch import process
from keyfold.streams.shard import Shard, ShardRecords, WireRecord, shards


def adding(db: Db, labels: Container[str]) -> Callable[[], None] | None:
    """What adds the waiting amounts of these numbers of the stream; None if none follows it."""
    effects = Effects(db.context.design)
    effects.summed = [
        one for one in effects.summed if one.name in labels and one.structure.sync == "stream"
    ]
    if not effects.summed:
        return None
    effects.maintained, effects.processed = [], []
    run = ReactionContext(db.context, db)

    def add() -> None:
        adding_all = retry_transient(run.policy, lambda: _add(db.context, run, effects))
        db.run(adding_all, "streams")

    return add


def _add(context: Context, run: ReactionContext, effects: Effects) -> Flow[None]:
    yield from support_table.ensure(context)
    structures = (one.structure for one in effects.summed)
    followed = [each for one in structures for each in (one.source, one.carrier) if each]
    tables = dict.fromkeys(each.__table__ for each in followed)
    known = yield from leasing.leases(context, Group(context.design.name))
    for shard in (yield from shards(context, list(tables))):
        lease = known.get(shard.sort)
        if lease is not None and lease.finished:
            continue
        try:
            yield from _add_shard(run, effects, shard, lease.sequence if lease else None)
        except TrimmedData:
            # What the stream has dropped no consumer reads any more: counting the items finds it.
            yield from _add_shard(run, effects, shard, None)


def _add_shard(
    run: ReactionContext, effects: Effects, shard: Shard, after: str | None
) -> Flow[None]:
    records = ShardRecords(shard.stream, shard.id, after)
    while found := (yield from records.next()):
        yield from _add_all(run, effects, shard.table, found)
        if records.ended:
            break


def _add_all(
    run: ReactionContext, effects: Effects, table: Table, records: Sequence[WireRecord]
) -> Flow[None]:
    """Amounts that others keep from being added would be taken for drift, and added twice."""
    outcome = yield from process(run, effects, table, records)
    if outcome.unresolved:
        raise Unavailable(
            f"the amounts of {len(outcome.unresolved)} records of {table.name} cannot be added: "
            "the backend refuses them. Try again"
        )
