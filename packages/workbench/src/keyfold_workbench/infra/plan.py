"""What a design needs in an account: tables, stream consumers, permissions, alarms."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from keyfold.design.schema import Index, Schema, TableSchema
from keyfold.errors import KeyfoldError
from keyfold.runtime.tables import create_request
from keyfold.streams.support_table import TABLE as SUPPORT

VIEW: Final = "NEW_AND_OLD_IMAGES"
RUNTIME: Final = "python3.13"
HANDLER: Final = "handlers.stream"
BATCH: Final = 100
ATTEMPTS: Final = 10
LOGS: Final = ("logs:CreateLogStream", "logs:PutLogEvents")


@dataclass(frozen=True)
class StreamFunction:
    """A function that reads one table's stream."""

    table: TableSchema
    keeps: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.table.name}-consumer"


@dataclass(frozen=True)
class Stack:
    """Everything that is exported."""

    schema: Schema
    tables: tuple[TableSchema, ...]
    consumers: tuple[StreamFunction, ...]

    @property
    def emits(self) -> bool:
        """Whether processors may emit events, which go to a bus named after the design."""
        return bool(self.consumers and self.schema.consumers)


def plan(schema: Schema) -> Stack:
    """The tables and consumers of a design."""
    keeps = {table.name: tuple(_consumer_work(schema, table)) for table in schema.tables}
    tables = tuple(
        replace(table, stream=VIEW) if not table.stream and keeps[table.name] else table
        for table in schema.tables
    )
    consumers = tuple(StreamFunction(t, keeps[t.name]) for t in tables if keeps[t.name])
    return Stack(schema, (*tables, *((SUPPORT,) if consumers else ())), consumers)


def refuse_unwritable(schema: Schema, form: str) -> None:
    """Refuse what a format cannot express."""
    for table in schema.tables:
        if table.vectors:
            raise KeyfoldError(
                f"the table {table.name} has vector indexes; keyfold cannot export this as "
                f"{form}; create the tables with db.create_tables()"
            )


def _consumer_work(schema: Schema, table: TableSchema) -> Iterator[str]:
    """The work of a table's consumer."""
    inside = {entity.name for entity in schema.entities_of(table.name)}
    followed = [each.name for each in schema.follows if each.by_stream and each.source in inside]
    for consumer in schema.consumers:
        if consumer.table == table.name or set(consumer.entities) & inside:
            yield consumer.name
    for feed in schema.feeds:
        if feed.post in inside and feed.mode != "fan_in":
            yield feed.name
    stated = {consumer.name for consumer in schema.consumers}
    yield from (name for name in followed if name not in stated)


def identifier(*words: str) -> str:
    """A name that templates accept: letters and digits, each word capitalised."""
    parts = re.split(r"[^A-Za-z0-9]+", "-".join(words))
    made = "".join(part[:1].upper() + part[1:] for part in parts if part)
    return made if made[:1].isalpha() else f"N{made}"


def snake(*words: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words))
    made = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    return made if made[:1].isalpha() and not keyword.iskeyword(made) else f"n_{made}"


def request(table: TableSchema) -> dict[str, Any]:
    """The CreateTable request, without the name."""
    made = create_request(table, table.name)
    del made["TableName"]
    return made


# Alarms


@dataclass(frozen=True)
class Alarm:
    """A metric with an alarm."""

    name: str
    about: str
    namespace: str
    metric: str
    dimensions: tuple[tuple[str, str], ...]
    """The dimension and what it names: `table:NAME`, `index:NAME`, `queue:...`, `function:...`."""
    statistic: str
    threshold: float
    periods: int


def alarms(made: Stack) -> Iterator[Alarm]:
    for table in made.tables:
        for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):
            yield _throttle(table, None, metric)
            for index in table.indexes:
                if not index.local:
                    yield _throttle(table, index, metric)
    for each in made.consumers:
        yield Alarm(
            f"{each.name}-late",
            "The consumer is more than five minutes behind its stream.",
            "AWS/Lambda",
            "IteratorAge",
            (("FunctionName", f"function:{each.name}"),),
            "Maximum",
            300_000,
            3,
        )
        yield Alarm(
            f"{each.name}-dead-letters",
            "Records could not be processed and wait in the dead-letter queue.",
            "AWS/SQS",
            "ApproximateNumberOfMessagesVisible",
            (("QueueName", f"queue:{each.name}"),),
            "Maximum",
            0,
            1,
        )


def _throttle(table: TableSchema, index: Index | None, metric: str) -> Alarm:
    dimensions = [("TableName", f"table:{table.name}")]
    if index is not None:
        dimensions.append(("GlobalSecondaryIndexName", f"index:{index.name}"))
    words = [table.name, *([index.name] if index else []), metric]
    where = f"the index {index.name} of {table.name}" if index else table.name
    return Alarm(
        "-".join(words),
        f"Requests to {where} are throttled.",
        "AWS/DynamoDB",
        metric,
        tuple(dimensions),
        "Sum",
        0,
        2,
    )
