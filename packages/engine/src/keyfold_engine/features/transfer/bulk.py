"""Bulk operations: items from a bucket's files, put into a table step by step.

A step is its own commit: the items of some records, and the progress. So an interrupted operation
continues when the file is opened again, and each record is put once. Failed items are recorded with
their reason, and written as reports at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import orjson

from keyfold_engine.engine import write
from keyfold_engine.engine.keys import place_of_item
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.engine.write import ItemWrite, NewItem, Prepared
from keyfold_engine.errors import ConditionFailed, OperationError, in_use
from keyfold_engine.expressions import parameters
from keyfold_engine.features.transfer import exports, ion
from keyfold_engine.features.transfer.buckets import bucket
from keyfold_engine.features.transfer.data_files import DAMAGED, unpacked
from keyfold_engine.features.transfer.exports import FOLDER
from keyfold_engine.values.wire import check_item

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

_KIND = "bulk"
_REPORT = "bulk report"
_RECORDS_PER_STEP = 200
_TURN_SECONDS = 0.02
RUNNING = ("IN_PROGRESS", "CANCELLING")
_CONDITION = ("ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues")

State = dict[str, Any]


def find(session: Session, arn: str) -> State | None:
    """An operation: `Description` is the public part, the rest its progress."""
    found: State | None = session.document(_KIND, arn)
    return found


def every(session: Session) -> list[State]:
    return [state for _, state in session.documents(_KIND)]


def keep(session: Session, state: State) -> None:
    arn = state["Description"]["BulkOperationArn"]
    session.keep_document(_KIND, arn, state)


def refuse_running(session: Session, table: str) -> None:
    """Refuse to change a table that a bulk operation writes to."""
    for state in every(session):
        if state["Table"] == table and state["Description"]["BulkOperationStatus"] in RUNNING:
            raise in_use(f"Table is being updated by a bulk operation: {table}")


def start(database: Database, arn: str) -> None:
    """Continue an operation in the background."""
    source = BulkInput(database)

    def step() -> bool:
        more = advance(database, arn, source)
        if more and _is_queued(database, arn):
            database.backfills.pause(_TURN_SECONDS)
        return more

    database.backfills.run(f"bulk {arn}", step)


def _is_queued(database: Database, arn: str) -> bool:
    with database.read() as session:
        state = find(session, arn)
    return state is not None and bool(database.delays.phase("bulk operation", state["Started"]))


def advance(database: Database, arn: str, source: BulkInput) -> bool:
    """Take the next step; False after the last."""
    with database.read() as session:
        state = find(session, arn)
    if state is None or state["Description"]["BulkOperationStatus"] not in RUNNING:
        return False
    cancelled = state["Description"]["BulkOperationStatus"] == "CANCELLING"
    if not cancelled and database.delays.phase("bulk operation", state["Started"]) is not None:
        return True
    if not cancelled and (records := source.next(state)):
        return bool(database.write(partial(_step, database, arn, records)))
    database.write(partial(_end, database, arn))
    return False


@dataclass(frozen=True, slots=True)
class InputRecord:
    """A record of an object, as JSON, or a problem; and where reading goes on behind it."""

    object: str
    number: int
    content: bytes
    problem: str
    behind: tuple[int, int]
    """The number of an object, and how many of its records are behind us."""
    bytes_read: int


class BulkInput:
    """The records of an operation's objects, read on from where the last step ended."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._at: tuple[int, int] | None = None
        self._records: Iterator[InputRecord] = iter(())

    def next(self, state: State) -> list[InputRecord]:
        begin = (state["File"], state["Line"])
        if self._at != begin:
            told = state["Description"]["InputS3Configuration"]
            self._records = _records(self._database, told, *begin)
        found = list(islice(self._records, _RECORDS_PER_STEP))
        self._at = found[-1].behind if found else None
        return found


def _records(
    database: Database, source: dict[str, Any], first: int, passed: int
) -> Iterator[InputRecord]:
    """The records behind the first `passed` ones of an object."""
    paths = input_files(database, source)
    contents = _CONTENTS[source["InputFormat"]]
    root = bucket(database, source["S3Bucket"], None)
    before = sum(path.stat().st_size for path in paths[:first])
    for at, path in enumerate(paths[first:], first):
        name, number = path.relative_to(root).as_posix(), passed
        with path.open("rb") as file:
            try:
                for content, problem in islice(contents(unpacked(file)), passed, None):
                    number += 1
                    read = before + file.tell()
                    yield InputRecord(name, number, content, problem, (at, number), read)
                before += path.stat().st_size
            except DAMAGED as error:
                before += path.stat().st_size
                problem = f"the rest of the object cannot be read: {_without_paths(error)}"
                yield InputRecord(name, number + 1, b"", problem, (at + 1, 0), before)
        passed = 0


def _ion_contents(file: BinaryIO) -> Iterator[tuple[bytes, str]]:
    for record in ion.records(file):
        try:
            yield orjson.dumps(ion.wire_record(record)), ""
        except ValueError as error:
            yield b"", f"not a record of an item: {error}"


_CONTENTS: Final[dict[str, Callable[[BinaryIO], Iterator[tuple[bytes, str]]]]] = {
    "DYNAMODB_JSON": lambda file: ((line.strip(), "") for line in exports.lines(file)),
    "ION": _ion_contents,
}
"""The records of a file as JSON, or what is wrong with them."""


def input_files(database: Database, source: dict[str, Any]) -> list[Path]:
    """The objects whose keys begin with the prefix, which is a text and not a directory."""
    root = bucket(database, source["S3Bucket"], None)
    prefix = source.get("S3KeyPrefix", "")
    found = [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else []
    return sorted(
        path
        for path in found
        if path.relative_to(root).as_posix().startswith(prefix)
        and not path.name.startswith("manifest-")
        and not (FOLDER in path.parts and path.name == "table.json")
    )


def _step(database: Database, arn: str, records: list[InputRecord], session: Session) -> bool:
    state = find(session, arn)
    if state is None or state["Description"]["BulkOperationStatus"] != "IN_PROGRESS":
        return state is not None
    table = database.catalog.find(session, state["Table"])
    if table is None:
        _finish(database, session, state, "FAILED", "TableNotFound", "The table was deleted.")
        return False
    told, usage = state["Description"], state["Usage"]
    reports: list[dict[str, Any]] = []
    for record in records:
        problem = record.problem
        if not (record.content or problem):
            continue
        told["ProcessedItemCount"] += 1
        try:
            if not problem:
                _count(usage, table, _put(database, session, table, record.content))
        except ConditionFailed as failure:
            reports.append(
                {"Type": "CONDITION_CHECK_FAILURE", **_failure_record(record.content, failure)}
            )
        except OperationError as error:
            problem = error.message or str(error)
        except (ValueError, TypeError, KeyError, AttributeError):
            problem = "not a record of an item"
        if problem:
            told["FailedItemCount"] += 1
            reports.append(
                {
                    "Type": "ERROR",
                    "Object": record.object,
                    "Line": record.number,
                    "Reason": problem,
                    "Record": record.content.decode("utf-8", "replace"),
                }
            )
    told["ProcessedInputBytes"] = records[-1].bytes_read
    state["File"], state["Line"] = records[-1].behind
    if reports:
        state["Reports"] += 1
        session.keep_document(_REPORT, f"{arn}/{state['Reports']:012d}", reports)
    keep(session, state)
    return True


def _failure_record(line: bytes, failure: ConditionFailed) -> dict[str, Any]:
    return {"Item": orjson.loads(line)["Item"], "ExistingItem": failure.item}


def _put(database: Database, session: Session, table: TableDefinition, line: bytes) -> Prepared:
    record = orjson.loads(line)
    new = NewItem.put(check_item(record["Item"]))
    test = parameters.read({name: record[name] for name in _CONDITION if name in record}).test()
    place = place_of_item(table, new.item)
    wish = ItemWrite(table, place, new.as_change, condition=test, returns_item=True)
    return write.execute(database, session, wish)


def _count(usage: dict[str, Any], table: TableDefinition, prepared: Prepared) -> None:
    """The operation's billed bytes, for the table and each index."""
    assert prepared.new is not None, "a put has an item"
    usage["Table"] = usage.get("Table", 0) + prepared.new.size
    for index in table.indexes:
        if index.schema.holds(prepared.new.item):
            kind = "Local" if index.is_local else "Global"
            sizes = usage.setdefault(f"{kind}SecondaryIndexes", {})
            sizes[index.name] = sizes.get(index.name, 0) + prepared.new.size
    for further in table.further_indexes:
        if (entry_size := further.entry_size(prepared.new.item)) is not None:
            sizes = usage.setdefault(further.member, {})
            sizes[further.name] = sizes.get(further.name, 0) + entry_size


def _end(database: Database, arn: str, session: Session) -> None:
    state = find(session, arn)
    if state is None:
        return
    told = state["Description"]
    if told["BulkOperationStatus"] == "CANCELLING":
        _finish(database, session, state, "CANCELLED", "Cancelled", "Cancelled by the caller.")
    elif told["FailedItemCount"]:
        _finish(database, session, state, "COMPLETED_WITH_ERRORS")
    else:
        _finish(database, session, state, "COMPLETED")


def _finish(
    database: Database, session: Session, state: State, status: str, code: str = "", text: str = ""
) -> None:
    told = state["Description"]
    told.update(BulkOperationStatus=status, EndTime=database.clock.now())
    if code:
        told.update(FailureCode=code, FailureMessage=text)
    _write_reports(database, session, state)
    keep(session, state)


def _write_reports(database: Database, session: Session, state: State) -> None:
    """The requested reports and a summary, laid out like exports."""
    told = state["Description"]
    output, arn = told["OutputS3Configuration"], told["BulkOperationArn"]
    name = output.get("S3Bucket") or told["InputS3Configuration"]["S3Bucket"]
    place = bucket(database, name, output.get("S3KeyPrefix")) / FOLDER / arn.rpartition("/")[2]
    (place / "data").mkdir(parents=True, exist_ok=True)
    files = {kind: f"{kind.lower().replace('_', '-')}.json" for kind in output["OutputType"]}
    for kind, file in files.items():
        with (place / "data" / file).open("wb") as out:
            for number in range(1, state["Reports"] + 1):
                for report in session.document(_REPORT, f"{arn}/{number:012d}") or ():
                    if report.pop("Type") == kind:
                        out.write(orjson.dumps(report) + b"\n")
    summary = {name: told[name] for name in told if name.endswith(("Count", "Bytes", "Status"))}
    (place / "manifest-summary.json").write_bytes(orjson.dumps({**summary, "files": files}))
    for number in range(1, state["Reports"] + 1):
        session.drop_document(_REPORT, f"{arn}/{number:012d}")


def _without_paths(error: Exception) -> str:
    """The error in the input, without paths of this machine."""
    return getattr(error, "strerror", None) or type(error).__name__
