"""ExportTableToPointInTime, DescribeExport and ListExports, into a directory for a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nextafter
from typing import Any
from uuid import uuid4

import orjson

from keyfold.engine import backups, exports
from keyfold.engine.buckets import bucket
from keyfold.engine.database import Database
from keyfold.engine.export_filter import ExportFilter
from keyfold.engine.storage import Session
from keyfold.engine.tables import END, START, TableDefinition
from keyfold.errors import (
    ExportNotFound,
    InvalidExportTime,
    NamedTableNotFound,
    RecoveryUnavailable,
    ValidationError,
)

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
    with database.snapshot() as session:
        table = database.catalog.load(session, request["TableArn"])
        if table is None:
            raise NamedTableNotFound(f"Table not found: {request['TableArn']}")
        if not table.keeps_history:
            raise RecoveryUnavailable(
                f"Point in time recovery is not enabled for table '{table.name}'"
            )
        content = _window if kind == "INCREMENTAL_EXPORT" else _moment
        bodies, spelled, shown = content(database, session, table, request, started)
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
    database.write(lambda session: session.keep_document(_KIND, arn, orjson.dumps(document)))
    return {"ExportDescription": document}


def _form(kind: str, output: str) -> exports.Form:
    if kind == "INCREMENTAL_EXPORT":
        if output != "DYNAMODB_JSON":
            raise ValidationError("keyfold writes incremental exports as DYNAMODB_JSON only")
        return exports.CHANGES
    return exports.ION_ITEMS if output == "ION" else exports.ITEMS


# The lines of an export, and when they are of: as its manifest spells it, and the answer.
Content = tuple[Iterator[bytes], dict[str, Any], dict[str, Any]]


def _moment(
    database: Database,
    session: Session,
    table: TableDefinition,
    request: dict[str, Any],
    now: float,
) -> Content:
    """A full export: the items as they were at a moment."""
    moment = request.get("ExportTime") or now
    _check(database, table, moment, now)
    bodies = _filtered(_bodies_at(session, table.id, moment), _filter(request, table))
    return bodies, {"exportTime": exports.timestamp(moment)}, {"ExportTime": moment}


def _window(
    database: Database,
    session: Session,
    table: TableDefinition,
    request: dict[str, Any],
    now: float,
) -> Content:
    """An incremental export: what changed from a moment until before another."""
    wish = request.get("IncrementalExportSpecification") or {}
    start, end = wish.get("ExportFromTime"), wish.get("ExportToTime") or now
    view = wish.get("ExportViewType", "NEW_AND_OLD_IMAGES")
    if start is None:
        raise ValidationError("ExportFromTime is required for an incremental export")
    _check(database, table, start, now)
    _check(database, table, end, now)
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
        session,
        table,
        start,
        end,
        with_old=view == "NEW_AND_OLD_IMAGES",
        chosen=_filter(request, table),
    )
    return changes, spelled, {"IncrementalExportSpecification": shown}


def _check(database: Database, table: TableDefinition, moment: float, now: float) -> None:
    if not backups.earliest_moment(database, table) <= moment <= now:
        raise InvalidExportTime(
            "The specified time is outside of the time that the table can be recovered to"
        )


def describe_export(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        body = session.document(_KIND, request["ExportArn"])
    if body is None:
        raise ExportNotFound(f"Export not found: {request['ExportArn']}")
    return {"ExportDescription": orjson.Fragment(body)}


def list_exports(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("MaxResults") or EXPORTS_PER_PAGE
    after = request.get("NextToken") or ""
    with database.read() as session:
        found = [orjson.loads(body) for arn, body in session.documents(_KIND) if arn > after]
    wanted = [each for each in found if request.get("TableArn") in (None, each["TableArn"])]
    shown = ("ExportArn", "ExportStatus", "ExportType")
    answer: dict[str, Any] = {
        "ExportSummaries": [{name: each[name] for name in shown} for each in wanted[:limit]]
    }
    if len(wanted) > limit:
        answer["NextToken"] = wanted[limit - 1]["ExportArn"]
    return answer


def _bodies_at(session: Session, table: int, moment: float) -> Iterator[bytes]:
    """The items as they were: those that are there, each as it was, then those that have gone."""
    since = nextafter(moment, inf)
    has_changed = next(session.changed_between(table, since, inf), None) is not None
    for place, _size, body, _whole in session.items(table, START, END):
        past = session.past_item(table, moment, place) if has_changed else None
        before = body if past is None else past[1]
        if before is not None:
            yield before
    for place, _last, before in session.changed_between(table, since, inf):
        if before is not None and session.find(table, place) is None:
            yield before


def _filter(request: dict[str, Any], table: TableDefinition) -> ExportFilter | None:
    specification = request.get("FilterSpecification")
    return ExportFilter(specification, table) if specification else None


def _filtered(bodies: Iterator[bytes], chosen: ExportFilter | None) -> Iterator[bytes]:
    if chosen is None:
        return bodies
    return _chosen(bodies, chosen)


def _chosen(bodies: Iterator[bytes], chosen: ExportFilter) -> Iterator[bytes]:
    for body in bodies:
        item = orjson.loads(body)
        if chosen.takes(item):
            yield orjson.dumps(chosen.shown(item))


def _changes(
    session: Session,
    table: TableDefinition,
    start: float,
    end: float,
    *,
    with_old: bool,
    chosen: ExportFilter | None,
) -> Iterator[bytes]:
    """Each item that was changed, with its last change; what came and went is left out."""
    before_end = nextafter(end, 0.0)
    for place, at, old in session.changed_between(table.id, start, end):
        new: bytes | None
        past = session.past_item(table.id, before_end, place)
        if past is not None:
            new = past[1]
        else:
            stored = session.find(table.id, place)
            new = None if stored is None else stored.body
        known = new if new is not None else old
        if known is None:
            continue
        if chosen is not None:
            # The newest image decides; of an item that has gone, the last it had.
            if not chosen.takes(orjson.loads(known)):
                continue
            new, old = (
                None if image is None else orjson.dumps(chosen.shown(orjson.loads(image)))
                for image in (new, old)
            )
        change: dict[str, Any] = {
            "Metadata": {"WriteTimestampMicros": {"N": str(round(at * 1_000_000))}},
            "Keys": table.schema.key_of(orjson.loads(known)),
        }
        if new is not None:
            change["NewImage"] = orjson.Fragment(new)
        if old is not None and with_old:
            change["OldImage"] = orjson.Fragment(old)
        yield orjson.dumps(change)
