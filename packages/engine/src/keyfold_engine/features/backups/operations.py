"""CreateBackup, DescribeBackup, DeleteBackup, ListBackups and the two restores."""

from __future__ import annotations

from functools import partial
from typing import Any

from keyfold_engine.engine import describe, leftovers, steps
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import (
    BackupInUse,
    NamedTableInUse,
    NamedTableNotFound,
    ValidationError,
)
from keyfold_engine.features.backups import copies as backups
from keyfold_engine.features.backups import restores, storage
from keyfold_engine.features.vectors import rules

BACKUPS_PER_PAGE = 100
_INDEX_MEMBERS = (
    "IndexName",
    "KeySchema",
    "Projection",
    "ProvisionedThroughput",
    "OnDemandThroughput",
)


def create_backup(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    def work(session: Session) -> dict[str, Any]:
        table = _table(database, session, request["TableName"])
        return backups.begin(database, session, table, request["BackupName"])

    arn = database.write(work)["Arn"]
    steps.finish(database, partial(backups.advance, database, arn))
    with database.read() as session:
        if not backups.exists(session, arn):
            raise NamedTableNotFound(f"Table not found: {request['TableName']}")
        return {"BackupDetails": _details(backups.find(session, arn))}


def describe_backup(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        return {"BackupDescription": _description(backups.find(session, request["BackupArn"]))}


def delete_backup(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    def work(session: Session) -> dict[str, Any]:
        document = _finished(session, request["BackupArn"])
        backups.delete(session, document)
        return document

    document = database.write(work)
    leftovers.clear(database)
    return {"BackupDescription": _description(document, status="DELETED")}


def list_backups(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("Limit") or BACKUPS_PER_PAGE
    name = request.get("TableName")
    since, until = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    with database.read() as session:
        documents = backups.every(session)
    if request.get("BackupType", "USER") not in ("USER", "ALL"):
        documents = []
    wanted = [
        document
        for document in documents
        if name in (None, document["Definition"]["TableName"])
        and document["Arn"] > (request.get("ExclusiveStartBackupArn") or "")
        and (since is None or document["Created"] >= since)
        and (until is None or document["Created"] < until)
    ]
    answer: dict[str, Any] = {"BackupSummaries": [_summary(each) for each in wanted[:limit]]}
    if len(wanted) > limit:
        answer["LastEvaluatedBackupArn"] = wanted[limit - 1]["Arn"]
    return answer


def restore_table_from_backup(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    def work(session: Session) -> dict[str, Any]:
        document = _finished(session, request["BackupArn"])
        source = document["Definition"]
        table = restores.begin(
            database,
            session,
            request,
            source,
            restores.from_backup(document["Arn"]),
            {
                "SourceBackupArn": document["Arn"],
                "SourceTableArn": source["TableArn"],
                "RestoreDateTime": document["Created"],
            },
        )
        return {"TableDescription": describe.table(database, session, table)}

    answer = database.write(work)
    restores.finish(database, request["TargetTableName"])
    return answer


def restore_table_to_point_in_time(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    name = request.get("SourceTableArn") or request.get("SourceTableName")
    if name is None:
        raise ValidationError("Either SourceTableName or SourceTableArn is required")

    def work(session: Session) -> dict[str, Any]:
        source = _table(database, session, name)
        backups.check_history(source)
        now = database.clock.now()
        moment = now if request.get("UseLatestRestorableTime") else request.get("RestoreDateTime")
        if moment is None:
            raise ValidationError(
                "Either RestoreDateTime or UseLatestRestorableTime must be specified"
            )
        backups.check_moment(database, source, moment)
        table = restores.begin(
            database,
            session,
            request,
            source.definition,
            restores.from_past(source, moment),
            {"SourceTableArn": source.arn, "RestoreDateTime": moment},
        )
        return {"TableDescription": describe.table(database, session, table)}

    answer = database.write(work)
    restores.finish(database, request["TargetTableName"])
    return answer


def update_continuous_backups(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    wish = request["PointInTimeRecoverySpecification"]
    if not wish["PointInTimeRecoveryEnabled"] and "RecoveryPeriodInDays" in wish:
        raise ValidationError(
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time "
            "recovery."
        )

    def work(session: Session) -> TableDefinition:
        table = _table(database, session, request["TableName"])
        days = wish.get("RecoveryPeriodInDays") or backups.RECOVERY_DAYS
        recovery = None
        if not wish["PointInTimeRecoveryEnabled"]:
            storage.forget_history(session, table.id)
        elif backups.keeps_history(table):
            recovery = {**table.definition["Recovery"], "Days": days}
        else:
            storage.keep_history(session, table.id)
            recovery = {"Since": database.clock.now(), "Days": days}
        return database.catalog.store(session, table, Recovery=recovery)

    changed = database.write(work)
    leftovers.clear(database)
    return _continuous(database, changed)


def describe_continuous_backups(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        table = _table(database, session, request["TableName"])
    return _continuous(database, table)


def _finished(session: Session, arn: str) -> dict[str, Any]:
    document = backups.find(session, arn)
    if backups.is_unfinished(document):
        raise BackupInUse(f"Backup is being created: {arn}")
    return document


def _table(database: Database, session: Session, name: str) -> TableDefinition:
    table = database.catalog.load(session, name)
    if table is None:
        raise NamedTableNotFound(f"Table not found: {name}")
    if table.restored_from is not None:
        raise NamedTableInUse(f"Table is being created: {name}")
    return table


def _continuous(database: Database, table: TableDefinition) -> dict[str, Any]:
    recovery: dict[str, Any] = {"PointInTimeRecoveryStatus": "DISABLED"}
    if backups.keeps_history(table):
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": table.definition["Recovery"]["Days"],
            "EarliestRestorableDateTime": backups.earliest_moment(database, table),
            "LatestRestorableDateTime": database.clock.now(),
        }
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": recovery,
        }
    }


def _details(document: dict[str, Any], status: str = "AVAILABLE") -> dict[str, Any]:
    if backups.is_unfinished(document):
        status = "CREATING"
    return {
        "BackupArn": document["Arn"],
        "BackupName": document["Name"],
        "BackupSizeBytes": document["Size"],
        "BackupStatus": status,
        "BackupType": "USER",
        "BackupCreationDateTime": document["Created"],
    }


def _summary(document: dict[str, Any]) -> dict[str, Any]:
    source = document["Definition"]
    return {
        **_details(document),
        "TableName": source["TableName"],
        "TableId": source["TableId"],
        "TableArn": source["TableArn"],
    }


def _description(document: dict[str, Any], status: str = "AVAILABLE") -> dict[str, Any]:
    source = document["Definition"]
    features: dict[str, Any] = {}
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if source.get(member):
            features[member] = [
                {name: index[name] for name in _INDEX_MEMBERS if name in index}
                for index in source[member]
            ]
    if source.get("VectorIndexes"):
        features["VectorIndexes"] = [rules.description(index) for index in source["VectorIndexes"]]
    if "Stream" in source:
        features["StreamDescription"] = {
            "StreamEnabled": True,
            "StreamViewType": source["Stream"]["View"],
        }
    if "TimeToLive" in source:
        features["TimeToLiveDescription"] = {
            "TimeToLiveStatus": "ENABLED",
            "AttributeName": source["TimeToLive"],
        }
    if "SSE" in source:
        features["SSEDescription"] = source["SSE"]
    limits = {name: source[name] for name in ("OnDemandThroughput",) if name in source}
    return {
        "BackupDetails": _details(document, status),
        "SourceTableDetails": {
            **limits,
            "TableName": source["TableName"],
            "TableId": source["TableId"],
            "TableArn": source["TableArn"],
            "TableSizeBytes": document["Size"],
            "ItemCount": document["Count"],
            "KeySchema": source["KeySchema"],
            "TableCreationDateTime": source["CreationDateTime"],
            "ProvisionedThroughput": source.get(
                "ProvisionedThroughput", {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
            ),
            "BillingMode": source["BillingMode"],
        },
        "SourceTableFeatureDetails": features,
    }
