"""Replays dead letters."""

from __future__ import annotations

from keyfold.design.table import Table
from keyfold.errors import StreamError
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow
from keyfold.streams import deadletter
from keyfold.streams.deadletter import DECODING, DeadLetter
from keyfold.streams.effect import Effects, ReactionContext
from keyfold.streams.policy import Policy, retry_transient
from keyfold.streams.record import parse
from keyfold.streams.record_batch import process


def replay(db: Db | AsyncDb, letter: DeadLetter) -> Flow[None]:
    """Apply the effect and delete the letter in one transaction. On failure the letter stays."""
    context = db.context
    run = ReactionContext(context, db, Policy())
    effects = Effects(context.design)
    table: Table | None = context.design.tables.get(letter.table)
    if letter.record is None or table is None:
        reason = (
            "its record was too large to keep"
            if table
            else f"the design has no table {letter.table}"
        )
        raise StreamError(f"the dead letter {letter.id} cannot be replayed: {reason}")
    if letter.effect == DECODING:
        # Raises if the record still cannot be decoded.
        list(effects.units(parse(table, letter.record)))
        outcome = yield from process(run, effects, table, [letter.record])
        if outcome.unresolved:
            raise StreamError(f"the dead letter {letter.id} could not be replayed yet; retry")
        yield from deadletter.drop(context, letter.id)
        return
    units = [
        unit
        for unit in effects.units(parse(table, letter.record))
        if unit.effect.name == letter.effect
    ]
    if not units:
        raise StreamError(
            f"the dead letter {letter.id} cannot be replayed: the design has no {letter.effect} "
            "for its record; drop it"
        )
    removal = deadletter.removal(context, letter.id)
    yield from retry_transient(run.policy, lambda: units[0].effect.apply(run, units[0], removal))
