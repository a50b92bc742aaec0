"""Requests about backups and point-in-time recovery."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Member,
    Number,
    Shape,
    Structure,
    integer,
    not_above,
    not_below,
    one_of,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.tables import (
    BILLING_MODE,
    ENCRYPTION,
    GLOBAL_INDEXES,
    LOCAL_INDEXES,
    ON_DEMAND,
    THROUGHPUT,
    VECTOR_INDEXES,
)
from keyfold_engine.engine.shapes.words import (
    ARN,
    FLAG,
    LONG_ARN,
    NAME,
    NAMED_TABLE,
    TABLE,
)

_MOMENT = Number("Double")
_OVERRIDES: dict[str, Member | Shape] = {
    "BillingModeOverride": BILLING_MODE,
    "GlobalSecondaryIndexOverride": GLOBAL_INDEXES,
    "LocalSecondaryIndexOverride": LOCAL_INDEXES,
    "ProvisionedThroughputOverride": THROUGHPUT,
    "OnDemandThroughputOverride": ON_DEMAND,
    "SSESpecificationOverride": ENCRYPTION,
    "VectorIndexOverride": VECTOR_INDEXES,
}

REQUESTS: dict[str, Structure] = {
    "CreateBackup": structure("CreateBackupInput", TableName=TABLE, BackupName=required(NAME)),
    "DeleteBackup": structure("DeleteBackupInput", BackupArn=required(LONG_ARN)),
    "DescribeBackup": structure("DescribeBackupInput", BackupArn=required(LONG_ARN)),
    "ListBackups": structure(
        "ListBackupsInput",
        TableName=text(*TABLE.shape.constraints),
        Limit=integer(not_below(1), not_above(100)),
        TimeRangeLowerBound=_MOMENT,
        TimeRangeUpperBound=_MOMENT,
        ExclusiveStartBackupArn=LONG_ARN,
        BackupType=text(one_of("USER", "SYSTEM", "AWS_BACKUP", "ALL")),
    ),
    "RestoreTableFromBackup": structure(
        "RestoreTableFromBackupInput",
        TargetTableName=NAMED_TABLE,
        BackupArn=required(LONG_ARN),
        **_OVERRIDES,
    ),
    "RestoreTableToPointInTime": structure(
        "RestoreTableToPointInTimeInput",
        SourceTableArn=ARN,
        SourceTableName=NAME,
        TargetTableName=NAMED_TABLE,
        UseLatestRestorableTime=FLAG,
        RestoreDateTime=_MOMENT,
        **_OVERRIDES,
    ),
    "UpdateContinuousBackups": structure(
        "UpdateContinuousBackupsInput",
        TableName=TABLE,
        PointInTimeRecoverySpecification=required(
            structure(
                "PointInTimeRecoverySpecification",
                PointInTimeRecoveryEnabled=required(FLAG),
                RecoveryPeriodInDays=integer(not_below(1), not_above(35)),
            )
        ),
    ),
    "DescribeContinuousBackups": structure("DescribeContinuousBackupsInput", TableName=TABLE),
}
