"""StartBulkPutItems, DescribeBulkOperation, ListBulkOperations and CancelBulkOperation."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any
from uuid import uuid4

import orjson

from keyfold_engine.engine import describe
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import (
    IdempotentParameterMismatch,
    TableNotFound,
    in_use,
    parameter_invalid,
)
from keyfold_engine.features.replicas.replicated_table import replicas_of
from keyfold_engine.features.transfer import bulk, exports
from keyfold_engine.features.transfer.data_files import check_formats

_TOKENS = "bulk token"
_TOKEN_SECONDS = 8 * 3600
_LISTED_SECONDS = 90 * 24 * 3600
_PER_PAGE = 10


def start_bulk_put_items(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    source, output = request["InputS3Configuration"], request["OutputS3Configuration"]
    check_formats(source)
    if output.get("S3SseKmsKeyId") and output.get("S3SseAlgorithm") != "KMS":
        raise parameter_invalid("S3SseKmsKeyId requires the S3SseAlgorithm KMS")
    files = bulk.input_files(database, source)
    total = sum(path.stat().st_size for path in files)
    token = request.get("ClientToken") or str(uuid4())
    asked = {name: value for name, value in request.items() if name != "ClientToken"}
    digest = blake2b(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def work(session: Session) -> tuple[dict[str, Any], bool]:
        kept = session.document(_TOKENS, token)
        now = database.clock.now()
        if kept is not None and kept["At"] > now - _TOKEN_SECONDS:
            if kept["Digest"] != digest:
                raise IdempotentParameterMismatch(
                    "The ClientToken was used with other parameters within the last 8 hours"
                )
            found = bulk.find(session, kept["Arn"])
            if found is not None:
                return found, False
        state = _started(database, session, request, token, total)
        if not files:
            state["Description"].update(
                BulkOperationStatus="FAILED",
                EndTime=now,
                FailureCode="InvalidSource",
                FailureMessage=(
                    f"There are no objects in the bucket {source['S3Bucket']} whose keys begin "
                    f"with '{source.get('S3KeyPrefix', '')}'"
                ),
            )
        bulk.keep(session, state)
        arn = state["Description"]["BulkOperationArn"]
        kept = {"Digest": digest, "Arn": arn, "At": now}
        session.keep_document(_TOKENS, token, kept)
        return state, bool(files)

    state, is_new = database.write(work)
    if is_new:
        bulk.start(database, state["Description"]["BulkOperationArn"])
    return {"BulkOperationDescription": _described(state)}


def _started(
    database: Database, session: Session, request: dict[str, Any], token: str, total: int
) -> bulk.State:
    table = database.catalog.named(session, request["TableName"])
    if replicas_of(table):
        raise parameter_invalid(f"Bulk put items does not support global tables: {table.name}")
    making = any(index.status != "ACTIVE" for index in table.global_indexes)
    if making or table.restored_from is not None or describe.making(database, table) is not None:
        raise in_use(f"Table is being updated: {table.name}")
    now = database.clock.now()
    description = {
        "BulkOperationArn": f"{table.arn}/bulk/{exports.export_id(now, uuid4().hex[:8])}",
        "BulkOperationStatus": "IN_PROGRESS",
        "TableDetails": [
            {"TableName": table.name, "TableId": table.definition["TableId"]},
        ],
        "ClientToken": token,
        "InputS3Configuration": {"InputCompressionType": "NONE", **request["InputS3Configuration"]},
        "OutputS3Configuration": request["OutputS3Configuration"],
        "StartTime": now,
        "ProcessedItemCount": 0,
        "ProcessedInputBytes": 0,
        "TotalInputBytes": total,
        "FailedItemCount": 0,
        "PerformanceTier": request.get("PerformanceTier", "STANDARD"),
    }
    if "MaxWriteRequestUnits" in request:
        description["MaxWriteRequestUnits"] = request["MaxWriteRequestUnits"]
    return {
        "Description": description,
        "Table": table.name,
        "Started": now,
        "File": 0,
        "Line": 0,
        "Reports": 0,
        "Usage": {},
    }


def describe_bulk_operation(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        state = bulk.find(session, request["BulkOperationArn"])
    if state is None:
        raise _missing(request)
    return {"BulkOperationDescription": _described(state)}


def cancel_bulk_operation(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    def work(session: Session) -> dict[str, Any]:
        state = bulk.find(session, request["BulkOperationArn"])
        if state is None:
            raise _missing(request)
        told = state["Description"]
        if told["BulkOperationStatus"] == "IN_PROGRESS":
            told["BulkOperationStatus"] = "CANCELLING"
            bulk.keep(session, state)
        return {name: told[name] for name in ("BulkOperationArn", "BulkOperationStatus")}

    return database.write(work)


def list_bulk_operations(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("MaxResults", _PER_PAGE)
    skipped = int(request.get("NextToken", "0")[:16], 16)
    since = database.clock.now() - _LISTED_SECONDS
    with database.read() as session:
        found = [state["Description"] for state in bulk.every(session)]
    listed = sorted(
        (told for told in found if told["StartTime"] >= since),
        key=lambda told: (told["StartTime"], told["BulkOperationArn"]),
        reverse=True,
    )
    members = ("BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime")
    answer: dict[str, Any] = {
        "BulkOperationsSummaryList": [
            {name: told[name] for name in members if name in told}
            for told in listed[skipped : skipped + limit]
        ]
    }
    if len(listed) > skipped + limit:
        answer["NextToken"] = f"{skipped + limit:016x}"
    return answer


def _missing(request: dict[str, Any]) -> TableNotFound:
    return TableNotFound(
        f"Requested resource not found: Bulk operation: {request['BulkOperationArn']} not found"
    )


def _described(state: bulk.State) -> dict[str, Any]:
    usage = state["Usage"]
    told: dict[str, Any] = {
        "TableName": state["Table"],
        "BulkPutBytes": usage.get("Table", 0),
        "Table": {"BulkPutBytes": usage.get("Table", 0)},
    }
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if member in usage:
            told[member] = {name: {"BulkPutBytes": size} for name, size in usage[member].items()}
            told["BulkPutBytes"] += sum(usage[member].values())
    if "VectorIndexes" in usage:
        told["VectorIndexes"] = {
            name: {"BulkPutVectorBytes": size} for name, size in usage["VectorIndexes"].items()
        }
    return {**state["Description"], "BulkOperationUsage": [told]}
