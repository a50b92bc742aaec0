"""DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling.

Settings are stored, validated and reported, and a minimum above the present capacity raises it.
Nothing scales by load here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import TableNotFound, ValidationError
from keyfold_engine.features.replicas.replicated_table import replicas_of

_OFF = {"AutoScalingDisabled": True, "ScalingPolicies": []}
_NEEDED = ("MaximumUnits", "ScalingPolicyUpdate", "MinimumUnits")
_ROLE = (
    "arn:aws:iam::{}:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)
_SERVICE = "(Service: AWSApplicationAutoScaling; Status Code: 400; Error Code: ValidationException)"
_LOWEST_TARGET, _HIGHEST_TARGET = 10.0, 90.0

# A scaled dimension: the region ("" for all), the index ("" for the table), Read or Write.
Dimension = tuple[str, str, str]


def describe_table_replica_auto_scaling(
    database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    with database.read() as session:
        table = _table(database, session, request["TableName"])
    return {"TableAutoScalingDescription": _described(database, table)}


def update_table_replica_auto_scaling(
    database: Database, request: dict[str, Any]
) -> dict[str, Any]:
    def work(session: Session) -> TableDefinition:
        table = _table(database, session, request["TableName"])
        wishes = list(_updates(database, table, request))
        kept = dict(table.definition.get("Scaling", {}))
        for dimension, wish in wishes:
            _check(database, table, dimension, wish)
            kept["/".join(dimension)] = _settings(database, table, dimension, wish)
        return database.catalog.store(session, _raised(table, kept).with_changes(Scaling=kept))

    return {"TableAutoScalingDescription": _described(database, database.write(work))}


def _table(database: Database, session: Session, name: str) -> TableDefinition:
    table = database.catalog.find(session, name)
    if table is None or not replicas_of(table):
        raise TableNotFound(f"Global table with name: '{name}' does not exist.")
    return table


def _updates(
    database: Database, table: TableDefinition, request: dict[str, Any]
) -> Iterator[tuple[Dimension, dict[str, Any]]]:
    if (wish := request.get("ProvisionedWriteCapacityAutoScalingUpdate")) is not None:
        yield ("", "", "Write"), wish
    for update in request.get("GlobalSecondaryIndexUpdates") or ():
        _check_index(table, update.get("IndexName"))
        if (wish := update.get("ProvisionedWriteCapacityAutoScalingUpdate")) is not None:
            yield ("", update["IndexName"], "Write"), wish
    updates = request.get("ReplicaUpdates") or ()
    regions = [update["RegionName"] for update in updates]
    if len(set(regions)) != len(regions):
        _refuse(
            table, f"because the regions: ‘[{', '.join(regions)}]’ were specified more than once."
        )
    for update in updates:
        region = update["RegionName"]
        if region not in (database.region, *replicas_of(table)):
            _refuse(table, f"because the regions: ‘[{region}]’ are not part of the global table.")
        if len(update) == 1:
            _refuse(
                table,
                f"because at least one update parameter must be specified for region: ‘{region}’.",
            )
        if (wish := update.get("ReplicaProvisionedReadCapacityAutoScalingUpdate")) is not None:
            yield (region, "", "Read"), wish
        for index in update.get("ReplicaGlobalSecondaryIndexUpdates") or ():
            _check_index(table, index.get("IndexName"))
            if (wish := index.get("ProvisionedReadCapacityAutoScalingUpdate")) is not None:
                yield (region, index["IndexName"], "Read"), wish


def _refuse(table: TableDefinition, reason: str) -> NoReturn:
    # In messages about parameters a comma would be a colon.
    raise ValidationError(
        f"Failed to update settings for global table with name: ‘{table.name}’ {reason}"
    )


def _check_index(table: TableDefinition, name: str | None) -> None:
    if all(index.name != name for index in table.global_indexes):
        raise TableNotFound(
            f"Failed to update settings for global table with name: ‘{table.name}’ because the "
            f"global secondary indexes with names: ‘[{name}]’ do not exist."
        )


def _check(
    database: Database, table: TableDefinition, dimension: Dimension, wish: dict[str, Any]
) -> None:
    told = f"Failed to update settings for global table with name: ‘{table.name}’: "
    if wish.get("AutoScalingDisabled"):
        given = [name for name in _NEEDED if name in wish]
        if given:
            names = ", ".join(f"'{name}'" for name in given)
            raise ValidationError(
                f"{told}Parameters {names} must be left blank when disabling auto scaling."
            )
        return
    if table.definition["BillingMode"] == "PAY_PER_REQUEST":
        regions = ", ".join(f"'{region}'" for region in (database.region, *replicas_of(table)))
        raise ValidationError(
            f"Failed to update global table with name ‘{table.name}‘. Replicas {regions} "
            "BillingMode is PayPerRequest. You must convert table's BillingMode to PROVISIONED to "
            f"set parameters: '{dimension[2]}CapacityAutoScalingUpdate'."
        )
    if any(name not in wish for name in _NEEDED):
        names = ", ".join(f"'{name}'" for name in _NEEDED)
        raise ValidationError(
            f"{told}Parameters {names} are required unless auto scaling is being disabled."
        )
    if wish["MinimumUnits"] > wish["MaximumUnits"]:
        raise ValidationError(f"Maximum capacity cannot be less than minimum capacity {_SERVICE}")
    target = wish["ScalingPolicyUpdate"]["TargetTrackingScalingPolicyConfiguration"]["TargetValue"]
    if not _LOWEST_TARGET <= target <= _HIGHEST_TARGET:
        raise ValidationError(
            f"For predefined metric type DynamoDB{dimension[2]}CapacityUtilization, target value "
            f"must be between '{_LOWEST_TARGET}' and '{_HIGHEST_TARGET}', but was '{target}'. "
            f"{_SERVICE}"
        )


def _settings(
    database: Database, table: TableDefinition, dimension: Dimension, wish: dict[str, Any]
) -> dict[str, Any]:
    if wish.get("AutoScalingDisabled"):
        return dict(_OFF)
    policy = wish["ScalingPolicyUpdate"]
    resource = f"table/{table.name}" + (f"/index/{dimension[1]}" if dimension[1] else "")
    name = policy.get("PolicyName", f"DynamoDB{dimension[2]}CapacityUtilization:{resource}")
    tracking = policy["TargetTrackingScalingPolicyConfiguration"]
    return {
        "MinimumUnits": wish["MinimumUnits"],
        "MaximumUnits": wish["MaximumUnits"],
        "AutoScalingRoleArn": _ROLE.format(database.account),
        "ScalingPolicies": [
            {"PolicyName": name, "TargetTrackingScalingPolicyConfiguration": tracking}
        ],
    }


def _raised(table: TableDefinition, kept: dict[str, Any]) -> TableDefinition:
    """The table with at least the minimum units of its scaling settings."""
    units = table.definition.get("ProvisionedThroughput")
    least = kept.get("//Write", {}).get("MinimumUnits", 0)
    if units is None or units["WriteCapacityUnits"] >= least:
        return table
    return table.with_changes(ProvisionedThroughput={**units, "WriteCapacityUnits": least})


def _described(database: Database, table: TableDefinition) -> dict[str, Any]:
    kept = table.definition.get("Scaling", {})

    def of(region: str, index: str, kind: str) -> dict[str, Any]:
        settings: dict[str, Any] = kept.get(f"{region}/{index}/{kind}", _OFF)
        return settings

    replicas = []
    for region in (database.region, *replicas_of(table)):
        since = replicas_of(table).get(region, {}).get("Since")
        creating = database.delays.phase("creating replica", since)
        told: dict[str, Any] = {
            "RegionName": region,
            "ReplicaStatus": "CREATING" if creating else "ACTIVE",
            "ReplicaProvisionedReadCapacityAutoScalingSettings": of(region, "", "Read"),
            "ReplicaProvisionedWriteCapacityAutoScalingSettings": of("", "", "Write"),
        }
        indexes = [index for index in table.global_indexes if index.status == "ACTIVE"]
        if indexes:
            told["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": index.name,
                    "IndexStatus": index.status,
                    "ProvisionedReadCapacityAutoScalingSettings": of(region, index.name, "Read"),
                    "ProvisionedWriteCapacityAutoScalingSettings": of("", index.name, "Write"),
                }
                for index in indexes
            ]
        replicas.append(told)
    return {"TableName": table.name, "TableStatus": "ACTIVE", "Replicas": replicas}
