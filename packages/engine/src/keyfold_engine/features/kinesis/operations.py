"""The four operations on Kinesis destinations."""

from __future__ import annotations

import re
from typing import Any

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import ValidationError
from keyfold_engine.features.kinesis.destinations import Deliveries, destinations_of

_STATE = "Table is not in a valid state to {} Kinesis Streaming Destination: "
_ARN = re.compile(r"arn:aws[^:]*:kinesis:(?P<region>[^:]+):\d{12}:stream/[a-zA-Z0-9_.-]+").fullmatch
_NO_TARGET = (
    "keyfold has nowhere to deliver to: open the engine with kinesis=, a directory or a server of "
    "this machine (keyfold serve --kinesis)"
)
_PHASES = {
    "ACTIVE": ("ENABLING", "enabling destination"),
    "DISABLED": ("DISABLING", "disabling destination"),
    "ENABLE_FAILED": ("ENABLING", "enabling destination"),
}


def enable_kinesis_streaming_destination(
    database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    configuration = request.get("EnableKinesisStreamingConfiguration", {})

    def work(session: Session) -> dict[str, Any]:
        table = database.catalog.changeable(session, request["TableName"])
        for entry in destinations_of(table):
            if status(database, entry) not in ("DISABLED", "ENABLE_FAILED"):
                raise ValidationError(
                    f"{_STATE.format('enable')}EnableKinesisStreamingDestination must be DISABLED "
                    "or ENABLE_FAILED to perform ENABLE operation."
                )
        entry = {
            "StreamArn": request["StreamArn"],
            "Since": database.clock.now(),
            **_outcome(database, request["StreamArn"]),
        }
        if configuration:
            entry["Precision"] = configuration["ApproximateCreationDateTimePrecision"]
        _store(database, session, table, entry)
        return _answer(table, request, "ENABLING", "Enable", configuration)

    return database.write(work)


def disable_kinesis_streaming_destination(
    database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    if request.get("EnableKinesisStreamingConfiguration") is not None:
        raise ValidationError(
            "Streaming destination cannot be updated with given parameters: Stream cannot be "
            "disabled using EnableKinesisStreamingConfiguration parameters"
        )

    def work(session: Session) -> dict[str, Any]:
        table = database.catalog.changeable(session, request["TableName"])
        entry = _destination(table, request["StreamArn"])
        if entry is None or status(database, entry) != "ACTIVE":
            raise ValidationError(
                f"{_STATE.format('disable')}KinesisStreamingDestination must be ACTIVE to perform "
                "DISABLE operation."
            )
        changed = {**entry, "Status": "DISABLED", "Since": database.clock.now()}
        _store(database, session, table, changed)
        return _answer(table, request, "DISABLING", "Enable", {})

    return database.write(work)


def update_kinesis_streaming_destination(
    database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    configuration = request.get("UpdateKinesisStreamingConfiguration") or {}
    if not configuration:
        raise ValidationError(
            "Streaming destination cannot be updated with given parameters: "
            "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
        )
    precision = configuration["ApproximateCreationDateTimePrecision"]
    arn = request["StreamArn"]

    def work(session: Session) -> dict[str, Any]:
        table = database.catalog.changeable(session, request["TableName"])
        entry = _destination(table, arn)
        if entry is None or status(database, entry) != "ACTIVE":
            raise ValidationError(
                f"{_STATE.format('update')}Kinesis streaming is not in ACTIVE state. Updates are "
                f"only allowed in ACTIVE state. TableName: {table.name}, kdsArn: {arn}"
            )
        if entry.get("Precision", "MILLISECOND") == precision:
            raise ValidationError(
                f"Invalid Request: Precision is already set to the desired value of {precision} "
                f"for tableId: {table.definition['TableId']}, kdsArn: {arn}"
            )
        changed = {**entry, "Precision": precision, "Updated": database.clock.now()}
        _store(database, session, table, changed)
        return _answer(table, request, "UPDATING", "Update", configuration)

    return database.write(work)


def describe_kinesis_streaming_destination(
    database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    table = database.named(request["TableName"])
    shown = []
    for entry in destinations_of(table):
        told = {"StreamArn": entry["StreamArn"], "DestinationStatus": status(database, entry)}
        if told["DestinationStatus"] == "ENABLE_FAILED":
            told["DestinationStatusDescription"] = entry["Reason"]
        if "Precision" in entry:
            told["ApproximateCreationDateTimePrecision"] = entry["Precision"]
        shown.append(told)
    return {"TableName": table.name, "KinesisDataStreamDestinations": shown}


def status(database: Database, entry: dict[str, Any]) -> str:
    """The current status of a destination."""
    reached: str = entry["Status"]
    waiting, kind = _PHASES[reached]
    if database.delays.phase(kind, entry["Since"]) is not None:
        return waiting
    if reached == "ACTIVE" and database.delays.phase("updating destination", entry.get("Updated")):
        return "UPDATING"
    return reached


def _outcome(database: Database, arn: str) -> dict[str, str]:
    """The final status of a destination; an unusable stream is reported later."""
    found = _ARN(arn)
    if found is None:
        reason = "User does not have a permission to use kinesis stream"
    elif found["region"] != database.region:
        reason = (
            "The kinesis Arn used to enable kinesis replication belongs to a stream which is not "
            "in the current region"
        )
    elif Deliveries not in database.parts:
        reason = _NO_TARGET
    else:
        return {"Status": "ACTIVE"}
    return {"Status": "ENABLE_FAILED", "Reason": reason}


def _destination(table: TableDefinition, arn: str) -> dict[str, Any] | None:
    return next((entry for entry in destinations_of(table) if entry["StreamArn"] == arn), None)


def _store(
    database: Database, session: Session, table: TableDefinition, entry: dict[str, Any]
) -> None:
    others = [each for each in destinations_of(table) if each["StreamArn"] != entry["StreamArn"]]
    database.catalog.store(session, table, Destinations=[*others, entry])


def _answer(
    table: TableDefinition,
    request: dict[str, Any],
    told: str,
    verb: str,
    configuration: dict[str, Any],
) -> dict[str, Any]:
    return {
        "TableName": table.name,
        "StreamArn": request["StreamArn"],
        "DestinationStatus": told,
        f"{verb}KinesisStreamingConfiguration": configuration,
    }
