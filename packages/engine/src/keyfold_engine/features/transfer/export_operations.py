"""ExportTableToPointInTime, DescribeExport and ListExports, to a directory in place of a bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import orjson

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.read import key_range
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import (
    ExportNotFound,
    InvalidExportTime,
    NamedTableNotFound,
    RequestInvalid,
    ValidationError,
)
from keyfold_engine.expressions import evaluate, keys, parameters
from keyfold_engine.expressions.ast import roots
from keyfold_engine.expressions.projection import compile_projection
from keyfold_engine.features.backups import copies as backups
from keyfold_engine.features.backups import snapshot
from keyfold_engine.features.backups.snapshot import TableSnapshot
from keyfold_engine.features.transfer import exports
from keyfold_engine.features.transfer.buckets import bucket
from keyfold_engine.values import Item

_KIND = "export"
EXPORTS_PER_PAGE = 25
_ECHOED = ("ClientToken", "S3BucketOwner", "S3Prefix", "S3SseAlgorithm", "S3SseKmsKeyId")
_SHORTEST_WINDOW = 15 * 60
_LONGEST_WINDOW = 24 * 3600


def export_table_to_point_in_time(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    kind = request.get("ExportType", "FULL_EXPORT")
    form = _form(kind, request.get("ExportFormat", "DYNAMODB_JSON"))
    directory = bucket(database, request["S3Bucket"], request.get("S3Prefix"))
    started = database.clock.now()
    export = exports.export_id(started, uuid4().hex[:8])

    def find(session: Session) -> TableDefinition:
        table = database.catalog.load(session, request["TableArn"])
        if table is None:
            raise NamedTableNotFound(f"Table not found: {request['TableArn']}")
        backups.check_history(table)
        return table

    with snapshot.take(database, find) as taken:
        table = taken.table
        content = _window if kind == "INCREMENTAL_EXPORT" else _moment
        bodies, spelled, shown = content(database, taken, request, started)
        arn = f"{table.arn}/export/{export}"
        description = {
            "exportArn": arn,
            "startTime": exports.timestamp(started),
            "endTime": exports.timestamp(started),
            "tableArn": table.arn,
            "tableId": table.definition["TableId"],
            **spelled,
            "s3Bucket": request["S3Bucket"],
            "s3Prefix": request.get("S3Prefix"),
            "s3SseAlgorithm": request.get("S3SseAlgorithm", "AES256"),
            "s3SseKmsKeyId": request.get("S3SseKmsKeyId"),
            "exportType": kind,
        }
        written = exports.write(directory, export, bodies, description, form)
    document = {
        "ExportArn": arn,
        "ExportStatus": "COMPLETED",
        "StartTime": started,
        "EndTime": database.clock.now(),
        "ExportManifest": written.manifest,
        "TableArn": table.arn,
        "TableId": table.definition["TableId"],
        **shown,
        **{name: request[name] for name in ("FilterSpecification",) if request.get(name)},
        "S3Bucket": request["S3Bucket"],
        "S3SseAlgorithm": "AES256",
        **{name: request[name] for name in _ECHOED if name in request},
        "ExportFormat": form.format,
        "ExportType": kind,
        "BilledSizeBytes": written.size,
        "ItemCount": written.count,
    }
    database.write(lambda session: session.keep_document(_KIND, arn, document))
    return {"ExportDescription": document}


def _form(kind: str, output: str) -> exports.Form:
    if kind == "INCREMENTAL_EXPORT":
        if output != "DYNAMODB_JSON":
            raise ValidationError("keyfold writes incremental exports as DYNAMODB_JSON only")
        return exports.CHANGES
    return exports.ION_ITEMS if output == "ION" else exports.ITEMS


# The lines of an export, and their time: as spelled in the manifest, and in the answer.
Content = tuple[Iterator[bytes], dict[str, Any], dict[str, Any]]


def _moment(
    database: Database,
    taken: TableSnapshot,
    request: dict[str, Any],
    now: float,
) -> Content:
    """A full export: the items at a moment."""
    moment = request.get("ExportTime") or now
    _check(database, taken.table, moment, now)
    bodies = _chosen_bodies(taken.bodies_at(moment), _filter(request, taken.table))
    return bodies, {"exportTime": exports.timestamp(moment)}, {"ExportTime": moment}


def _window(
    database: Database,
    taken: TableSnapshot,
    request: dict[str, Any],
    now: float,
) -> Content:
    """An incremental export: the changes from one moment until before another."""
    wish = request.get("IncrementalExportSpecification") or {}
    start, end = wish.get("ExportFromTime"), wish.get("ExportToTime") or now
    view = wish.get("ExportViewType", "NEW_AND_OLD_IMAGES")
    if start is None:
        raise ValidationError("ExportFromTime is required for an incremental export")
    _check(database, taken.table, start, now)
    _check(database, taken.table, end, now)
    if not _SHORTEST_WINDOW <= end - start <= _LONGEST_WINDOW:
        raise InvalidExportTime(
            "The time from ExportFromTime to ExportToTime must be at least 15 minutes and at most "
            "24 hours"
        )
    spelled = {
        "exportFromTime": exports.timestamp(start),
        "exportToTime": exports.timestamp(end),
        "outputView": view,
    }
    shown = {"ExportFromTime": start, "ExportToTime": end, "ExportViewType": view}
    changes = _changes(
        taken,
        start,
        end,
        with_old=view == "NEW_AND_OLD_IMAGES",
        chosen=_filter(request, taken.table),
    )
    return changes, spelled, {"IncrementalExportSpecification": shown}


def _check(database: Database, table: TableDefinition, moment: float, now: float) -> None:
    if not backups.earliest_moment(database, table) <= moment <= now:
        raise InvalidExportTime(
            "The specified time is outside of the time that the table can be recovered to"
        )


def describe_export(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        found = session.document(_KIND, request["ExportArn"])
    if found is None:
        raise ExportNotFound(f"Export not found: {request['ExportArn']}")
    return {"ExportDescription": found}


def list_exports(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("MaxResults") or EXPORTS_PER_PAGE
    after = request.get("NextToken") or ""
    with database.read() as session:
        found = [each for arn, each in session.documents(_KIND) if arn > after]
    wanted = [each for each in found if request.get("TableArn") in (None, each["TableArn"])]
    shown = ("ExportArn", "ExportStatus", "ExportType")
    answer: dict[str, Any] = {
        "ExportSummaries": [{name: each[name] for name in shown} for each in wanted[:limit]]
    }
    if len(wanted) > limit:
        answer["NextToken"] = wanted[limit - 1]["ExportArn"]
    return answer


class ExportFilter:
    """The FilterSpecification of an export, ready to be asked."""

    def __init__(self, specification: dict[str, Any], table: TableDefinition) -> None:
        self._schema = table.schema
        try:
            read = parameters.read(specification)
        except RequestInvalid as error:
            raise ValidationError(f"Invalid Request: {error.message}") from None
        self._range: tuple[bytes, bytes] | None = None
        if read.key_terms is not None:
            schema = table.schema
            chosen = keys.select(read.key_terms, schema.partition, schema.sort, schema.types)
            values = dict(zip(schema.partition, chosen.partition, strict=True))
            self._range = key_range(chosen, schema.partition_place(values))
            mentioned = set(roots(read.filter)) if read.filter is not None else set()
            for name in schema.attributes:
                if name in mentioned:
                    raise ValidationError(
                        "Invalid Request: Filter Expression can only contain non-primary key "
                        f"attributes: Primary key attribute: {name}"
                    )
        self._test = (
            None if read.filter is None else evaluate.compile_condition(read.filter, read.values)
        )
        self._shape: Callable[[Item], Item] | None = None
        if read.projection is not None:
            self._shape = compile_projection(read.projection)

    def takes(self, item: Item) -> bool:
        if self._range is not None:
            first, end = self._range
            if not first <= self._schema.place(item) < end:
                return False
        return self._test is None or self._test(item)

    def project(self, item: Item) -> Item:
        return item if self._shape is None else self._shape(item)


def _filter(request: dict[str, Any], table: TableDefinition) -> ExportFilter | None:
    specification = request.get("FilterSpecification")
    return ExportFilter(specification, table) if specification else None


def _chosen_bodies(bodies: Iterator[bytes], chosen: ExportFilter | None) -> Iterator[bytes]:
    for body in bodies:
        if chosen is None:
            yield body
        elif chosen.takes(item := orjson.loads(body)):
            yield orjson.dumps(chosen.project(item))


def _changes(
    taken: TableSnapshot, start: float, end: float, *, with_old: bool, chosen: ExportFilter | None
) -> Iterator[bytes]:
    """Each changed item with its last change; items that came and went are left out."""
    for change in taken.changes(start, end):
        old, new = change.old, change.new
        known = new if new is not None else old
        if known is None:
            continue
        if chosen is not None:
            # The newest image decides; for a deleted item, its last one.
            if not chosen.takes(orjson.loads(known)):
                continue
            new, old = (
                None if image is None else orjson.dumps(chosen.project(orjson.loads(image)))
                for image in (new, old)
            )
        line: dict[str, Any] = {
            "Metadata": {"WriteTimestampMicros": {"N": str(round(change.at * 1_000_000))}},
            "Keys": taken.table.schema.key_of(orjson.loads(known)),
        }
        if new is not None:
            line["NewImage"] = orjson.Fragment(new)
        if old is not None and with_old:
            line["OldImage"] = orjson.Fragment(old)
        yield orjson.dumps(line)
