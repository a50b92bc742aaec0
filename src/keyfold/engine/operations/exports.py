"""ExportTableToPointInTime, DescribeExport and ListExports, into a directory for a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import orjson

from keyfold.engine import backups, exports
from keyfold.engine.buckets import bucket
from keyfold.engine.database import Database
from keyfold.engine.storage import Session
from keyfold.engine.tables import END, START
from keyfold.errors import (
    ExportNotFound,
    NamedTableNotFound,
    RecoveryUnavailable,
    ValidationError,
)

_KIND = "export"
EXPORTS_PER_PAGE = 25


def export_table_to_point_in_time(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    if request.get("ExportFormat", "DYNAMODB_JSON") != "DYNAMODB_JSON":
        raise ValidationError("keyfold exports DYNAMODB_JSON only")
    if request.get("ExportType", "FULL_EXPORT") != "FULL_EXPORT":
        raise ValidationError("keyfold makes full exports only")
    directory = bucket(database, request["S3Bucket"], request.get("S3Prefix"))
    started = database.clock.now()
    moment = request.get("ExportTime") or started
    export = exports.export_id(started, uuid4().hex[:8])
    with database.snapshot() as session:
        table = database.catalog.load(session, request["TableArn"])
        if table is None:
            raise NamedTableNotFound(f"Table not found: {request['TableArn']}")
        if not table.keeps_history:
            raise RecoveryUnavailable(
                f"Point in time recovery is not enabled for table '{table.name}'"
            )
        backups.check_moment(database, table, moment)
        arn = f"{table.arn}/export/{export}"
        description = {
            "exportArn": arn,
            "startTime": exports.timestamp(started),
            "endTime": exports.timestamp(started),
            "tableArn": table.arn,
            "tableId": table.definition["TableId"],
            "exportTime": exports.timestamp(moment),
            "s3Bucket": request["S3Bucket"],
            "s3Prefix": request.get("S3Prefix"),
            "s3SseAlgorithm": "AES256",
            "s3SseKmsKeyId": None,
            "exportType": "FULL_EXPORT",
        }
        bodies = _bodies_at(session, table.id, moment)
        written = exports.write(directory, export, bodies, description)
    document = {
        "ExportArn": arn,
        "ExportStatus": "COMPLETED",
        "StartTime": started,
        "EndTime": database.clock.now(),
        "ExportManifest": written.manifest,
        "TableArn": table.arn,
        "TableId": table.definition["TableId"],
        "ExportTime": moment,
        "S3Bucket": request["S3Bucket"],
        "S3SseAlgorithm": "AES256",
        "ExportFormat": "DYNAMODB_JSON",
        "ExportType": "FULL_EXPORT",
        "BilledSizeBytes": written.size,
        "ItemCount": written.count,
    }
    if request.get("S3Prefix"):
        document["S3Prefix"] = request["S3Prefix"]
    database.write(lambda session: session.keep_document(_KIND, arn, orjson.dumps(document)))
    return {"ExportDescription": document}


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
    """The items as they were: the current ones, and in place of changed ones what was there."""
    past = session.past_bodies(table, moment)
    for place, _size, body, _whole in session.items(table, START, END):
        if place not in past:
            yield body
    for before in past.values():
        if before is not None:
            yield before
