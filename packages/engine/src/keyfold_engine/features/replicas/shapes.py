"""Requests about global tables: the six of 2017, and the auto scaling of replicas."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Member,
    Number,
    Shape,
    Structure,
    at_least,
    at_most,
    integer,
    list_of,
    one_of,
    pattern,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.words import FLAG, NAME, NAMED_TABLE, POSITIVE, POSITIVE_LONG

_REGION = required(text())
_NAME = required(NAME)
_REPLICA = structure("Replica", RegionName=text())
_SCALING = structure(
    "AutoScalingSettingsUpdate",
    MinimumUnits=POSITIVE_LONG,
    MaximumUnits=POSITIVE_LONG,
    AutoScalingDisabled=FLAG,
    AutoScalingRoleArn=text(at_least(1), at_most(1600)),
    ScalingPolicyUpdate=structure(
        "AutoScalingPolicyUpdate",
        PolicyName=text(at_least(1), at_most(256), pattern(r"[ -~]+")),
        TargetTrackingScalingPolicyConfiguration=required(
            structure(
                "AutoScalingTargetTrackingScalingPolicyConfigurationUpdate",
                DisableScaleIn=FLAG,
                ScaleInCooldown=integer(),
                ScaleOutCooldown=integer(),
                TargetValue=required(Number("Double")),
            )
        ),
    ),
)
_OF_NAME: dict[str, Member | Shape] = {"GlobalTableName": _NAME}

REQUESTS: dict[str, Structure] = {
    "CreateGlobalTable": structure(
        "CreateGlobalTableInput", ReplicationGroup=required(list_of(_REPLICA)), **_OF_NAME
    ),
    "DescribeGlobalTable": structure("DescribeGlobalTableInput", **_OF_NAME),
    "UpdateGlobalTable": structure(
        "UpdateGlobalTableInput",
        ReplicaUpdates=required(
            list_of(
                structure(
                    "ReplicaUpdate",
                    Create=structure("CreateReplicaAction", RegionName=_REGION),
                    Delete=structure("DeleteReplicaAction", RegionName=_REGION),
                )
            )
        ),
        **_OF_NAME,
    ),
    "ListGlobalTables": structure(
        "ListGlobalTablesInput",
        ExclusiveStartGlobalTableName=NAME,
        Limit=POSITIVE,
        RegionName=text(),
    ),
    "DescribeGlobalTableSettings": structure("DescribeGlobalTableSettingsInput", **_OF_NAME),
    "UpdateGlobalTableSettings": structure(
        "UpdateGlobalTableSettingsInput",
        GlobalTableBillingMode=text(one_of("PROVISIONED", "PAY_PER_REQUEST")),
        GlobalTableProvisionedWriteCapacityUnits=POSITIVE_LONG,
        GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate=_SCALING,
        GlobalTableGlobalSecondaryIndexSettingsUpdate=list_of(
            structure(
                "GlobalTableGlobalSecondaryIndexSettingsUpdate",
                IndexName=_NAME,
                ProvisionedWriteCapacityUnits=POSITIVE_LONG,
                ProvisionedWriteCapacityAutoScalingSettingsUpdate=_SCALING,
            ),
            at_least(1),
            at_most(20),
        ),
        ReplicaSettingsUpdate=list_of(
            structure(
                "ReplicaSettingsUpdate",
                RegionName=_REGION,
                ReplicaProvisionedReadCapacityUnits=POSITIVE_LONG,
                ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate=_SCALING,
                ReplicaGlobalSecondaryIndexSettingsUpdate=list_of(
                    structure(
                        "ReplicaGlobalSecondaryIndexSettingsUpdate",
                        IndexName=_NAME,
                        ProvisionedReadCapacityUnits=POSITIVE_LONG,
                        ProvisionedReadCapacityAutoScalingSettingsUpdate=_SCALING,
                    ),
                    at_least(1),
                    at_most(20),
                ),
                ReplicaTableClass=text(one_of("STANDARD", "STANDARD_INFREQUENT_ACCESS")),
            ),
            at_least(1),
            at_most(50),
        ),
        **_OF_NAME,
    ),
    "DescribeTableReplicaAutoScaling": structure(
        "DescribeTableReplicaAutoScalingInput", TableName=NAMED_TABLE
    ),
    "UpdateTableReplicaAutoScaling": structure(
        "UpdateTableReplicaAutoScalingInput",
        TableName=NAMED_TABLE,
        ProvisionedWriteCapacityAutoScalingUpdate=_SCALING,
        GlobalSecondaryIndexUpdates=list_of(
            structure(
                "GlobalSecondaryIndexAutoScalingUpdate",
                IndexName=NAME,
                ProvisionedWriteCapacityAutoScalingUpdate=_SCALING,
            ),
            at_least(1),
        ),
        ReplicaUpdates=list_of(
            structure(
                "ReplicaAutoScalingUpdate",
                RegionName=_REGION,
                ReplicaGlobalSecondaryIndexUpdates=list_of(
                    structure(
                        "ReplicaGlobalSecondaryIndexAutoScalingUpdate",
                        IndexName=NAME,
                        ProvisionedReadCapacityAutoScalingUpdate=_SCALING,
                    )
                ),
                ReplicaProvisionedReadCapacityAutoScalingUpdate=_SCALING,
            ),
            at_least(1),
        ),
    ),
}
