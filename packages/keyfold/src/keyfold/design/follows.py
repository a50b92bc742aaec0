"""Consequences as data: one record for each structure that a design maintains.

Cost, documents, permissions, checks, exports and migrations read these records, and nothing else,
to know what a change of an item causes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated
from typing import Literal as Choice

from pydantic import PlainSerializer, PlainValidator

from keyfold.design.source import NOWHERE, Place
from keyfold.design.template import Template
from keyfold_engine.expressions import ast
from keyfold_engine.expressions.parser import literal_condition
from keyfold_engine.expressions.text import condition_text
from keyfold_engine.limits import TRANSACTION_ITEMS

Condition = Annotated[
    ast.Condition,
    PlainValidator(lambda given: literal_condition(given) if isinstance(given, str) else given),
    PlainSerializer(condition_text),
]
"""A condition; in a file it is text."""

FactKind = Choice["copy", "amount", "claim", "need", "shown", "best", "job"]
"""What must hold because of an item: a copy of it, an amount on a holder, a claimed value, an
item that must exist, a value shown from elsewhere, the best of many. A job is work over
many items.
"""

Event = Choice["INSERT", "MODIFY", "REMOVE"]
EVENTS: tuple[Event, ...] = ("INSERT", "MODIFY", "REMOVE")
COPIES_AT_ONCE = TRANSACTION_ITEMS // 2 - 1
"""The copies in one transaction of the consumer: each may have a copy that joins."""
ITEMS_AT_ONCE = 20
"""The items a job writes in one transaction, with a check of their source."""
FITS = 40
"""Up to this many items are deleted in their parent's own transaction."""
SUPPORT_TABLE = "keyfold_streams"
"""Where consumers keep their markers, events and dead letters."""


@dataclass(frozen=True)
class Follows:
    """What a change of one entity's items causes."""

    name: str
    """Its label, as verify shows it: `counter Group.members`."""
    kind: str
    """For messages only: pointer, edge, counter, unique, orphan, cascade, copied, feed."""
    source: str
    """The entity whose changes it follows."""
    target: str = field(metadata={"may_be_empty": True})
    """The entity that is written or read; empty for a marker."""
    fact: FactKind
    fields: tuple[str, ...] = ()
    """The source's fields whose change matters."""
    writes: tuple[str, ...] = ()
    """The target's fields that it writes."""
    adds: tuple[str, ...] = ()
    """Those of them that move by amounts."""
    via: tuple[tuple[str, str], ...] = ()
    """The target's key field (for a job: the source's), and the field that holds its value."""
    each: str = ""
    """The source's field that lists its targets."""
    when: Condition | None = None
    sums: str = ""
    by: str = ""
    """The source's field that ranks candidates; the largest or smallest is shown."""
    smallest: bool = False
    shows: tuple[tuple[str, str], ...] = ()
    """The target's field, and the candidate's field that it shows."""
    normalise: str = ""
    marker: tuple[Template, ...] = ()
    """The key templates of a claim's marker, if the design says them."""
    creates: bool = False
    """The first count creates the target."""
    stamps: str = ""
    """The target's field that says when its number last moved."""
    shards: int = 1
    sync: Choice["transaction", "stream", "none"] = "transaction"
    overflow: Choice["refuse", "stream"] = "refuse"
    expires: bool = False
    """The source has a time to live, so the stream handles what expiry leaves behind."""
    on: tuple[Event, ...] = EVENTS
    found: str | None = None
    """The index through which a job finds its items; empty for the table's own key."""
    at_once: int = 1
    """The items in one step of the consumer."""
    fits: int | None = None
    """Up to this many of a job's items join the source's transaction."""
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def by_stream(self) -> bool:
        """Whether a consumer of the source's table handles it."""
        return self.sync == "stream" or (
            self.sync == "transaction" and (self.overflow == "stream" or self.expires)
        )

    @property
    def deletes(self) -> bool:
        """Whether it is a job that deletes its items."""
        return self.fact == "job" and self.found is not None and self.on == ("REMOVE",)

    @property
    def joins(self) -> bool:
        """Whether it joins the transaction of the change."""
        return self.sync == "transaction"
