"""Requests about tables: their definition, time to live, tags, and the account's limits."""

from __future__ import annotations

from keyfold_engine import limits
from keyfold_engine.engine.shapes.kinds import (
    Member,
    Shape,
    Structure,
    at_least,
    at_most,
    integer,
    list_of,
    long,
    not_above,
    not_below,
    one_of,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.words import (
    DEFINED_TABLE,
    FLAG,
    NAME,
    NAMED_TABLE,
    POSITIVE_LONG,
    TABLE,
)

_ATTRIBUTE_NAME = required(text(at_least(1), at_most(255)))
ATTRIBUTE_DEFINITIONS = list_of(
    structure(
        "AttributeDefinition",
        AttributeName=_ATTRIBUTE_NAME,
        AttributeType=required(text(one_of("B", "N", "S"))),
    )
)
_KEY_ELEMENT = structure(
    "KeySchemaElement",
    AttributeName=_ATTRIBUTE_NAME,
    KeyType=required(text(one_of("HASH", "RANGE"))),
)
KEY_SCHEMA = list_of(_KEY_ELEMENT, at_least(1), at_most(2))
_INDEX_KEY_SCHEMA = list_of(_KEY_ELEMENT, at_least(1), at_most(2 * limits.INDEX_KEY_ATTRIBUTES))
THROUGHPUT = structure(
    "ProvisionedThroughput",
    WriteCapacityUnits=required(POSITIVE_LONG),
    ReadCapacityUnits=required(POSITIVE_LONG),
)
ON_DEMAND = structure("OnDemandThroughput", MaxReadRequestUnits=long(), MaxWriteRequestUnits=long())
_WARM = structure("WarmThroughput", ReadUnitsPerSecond=long(), WriteUnitsPerSecond=long())
_PROJECTION = structure(
    "Projection",
    ProjectionType=text(one_of("ALL", "INCLUDE", "KEYS_ONLY")),
    NonKeyAttributes=list_of(
        text(at_least(1), at_most(255)), at_least(1), at_most(limits.INDEX_PROJECTED_ATTRIBUTES)
    ),
)
LOCAL_INDEXES = list_of(
    structure(
        "LocalSecondaryIndex",
        IndexName=required(NAME),
        KeySchema=required(KEY_SCHEMA),
        Projection=required(_PROJECTION),
    )
)
_GLOBAL_INDEX: dict[str, Member | Shape] = {
    "IndexName": required(NAME),
    "KeySchema": required(_INDEX_KEY_SCHEMA),
    "Projection": required(_PROJECTION),
    "ProvisionedThroughput": THROUGHPUT,
    "OnDemandThroughput": ON_DEMAND,
    "WarmThroughput": _WARM,
}
GLOBAL_INDEXES = list_of(structure("GlobalSecondaryIndex", **_GLOBAL_INDEX))
_VECTOR_INDEX: dict[str, Member | Shape] = {
    "IndexName": required(NAME),
    "VectorAttribute": required(
        structure("VectorAttributeDefinition", AttributeName=_ATTRIBUTE_NAME)
    ),
    "SearchSchema": list_of(
        structure(
            "SearchSchemaElement",
            AttributeName=required(text(at_most(65535))),
            SearchSchemaElementType=required(text(one_of("HASH", "INLINE_FILTER"))),
        ),
        at_least(1),
    ),
    "Projection": required(_PROJECTION),
    "Dimensions": required(POSITIVE_LONG),
    "DistanceFunction": required(text(one_of("COSINE", "DOT_PRODUCT", "EUCLIDEAN"))),
}
VECTOR_INDEXES = list_of(structure("VectorIndex", **_VECTOR_INDEX))
BILLING_MODE = text(one_of("PROVISIONED", "PAY_PER_REQUEST"))
_STREAM = structure(
    "StreamSpecification",
    StreamEnabled=required(FLAG),
    StreamViewType=text(one_of("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY")),
)
ENCRYPTION = structure(
    "SSESpecification",
    Enabled=FLAG,
    SSEType=text(one_of("AES256", "KMS")),
    KMSMasterKeyId=text(),
)
_TAG_KEY = text(at_least(1), at_most(128))
_TAGS = list_of(
    structure("Tag", Key=required(_TAG_KEY), Value=required(text(at_least(0), at_most(256))))
)
_RESOURCE = required(text(at_least(1), at_most(1283)))

_REGION = required(text())
_REPLICATION_MODE = text(one_of("ENABLED", "DISABLED", "ENABLED_WITH_OVERRIDES"))
_READ_OVERRIDE = structure("ProvisionedThroughputOverride", ReadCapacityUnits=POSITIVE_LONG)
_MOST_OVERRIDE = structure("OnDemandThroughputOverride", MaxReadRequestUnits=long())
_REPLICA: dict[str, Member | Shape] = {
    "RegionName": _REGION,
    "KMSMasterKeyId": text(),
    "ProvisionedThroughputOverride": _READ_OVERRIDE,
    "OnDemandThroughputOverride": _MOST_OVERRIDE,
    "GlobalSecondaryIndexes": list_of(
        structure(
            "ReplicaGlobalSecondaryIndex",
            IndexName=required(NAME),
            ProvisionedThroughputOverride=_READ_OVERRIDE,
            OnDemandThroughputOverride=_MOST_OVERRIDE,
        ),
        at_least(1),
    ),
    "TableClassOverride": text(one_of("STANDARD", "STANDARD_INFREQUENT_ACCESS")),
}

REQUESTS: dict[str, Structure] = {
    "CreateTable": structure(
        "CreateTableInput",
        AttributeDefinitions=required(ATTRIBUTE_DEFINITIONS),
        TableName=DEFINED_TABLE,
        BillingMode=BILLING_MODE,
        ProvisionedThroughput=THROUGHPUT,
        KeySchema=required(KEY_SCHEMA),
        GlobalSecondaryIndexes=GLOBAL_INDEXES,
        LocalSecondaryIndexes=LOCAL_INDEXES,
        StreamSpecification=_STREAM,
        SSESpecification=ENCRYPTION,
        Tags=_TAGS,
        TableClass=text(),
        DeletionProtectionEnabled=FLAG,
        OnDemandThroughput=ON_DEMAND,
        WarmThroughput=_WARM,
        ResourcePolicy=text(),
        VectorIndexes=VECTOR_INDEXES,
        GlobalTableSourceArn=text(at_least(1), at_most(1024)),
        GlobalTableSettingsReplicationMode=_REPLICATION_MODE,
    ),
    "UpdateTable": structure(
        "UpdateTableInput",
        AttributeDefinitions=ATTRIBUTE_DEFINITIONS,
        TableName=DEFINED_TABLE,
        BillingMode=BILLING_MODE,
        ProvisionedThroughput=THROUGHPUT,
        GlobalSecondaryIndexUpdates=list_of(
            structure(
                "GlobalSecondaryIndexUpdate",
                Update=structure(
                    "UpdateGlobalSecondaryIndexAction",
                    IndexName=required(NAME),
                    ProvisionedThroughput=THROUGHPUT,
                    OnDemandThroughput=ON_DEMAND,
                    WarmThroughput=_WARM,
                ),
                Create=structure("CreateGlobalSecondaryIndexAction", **_GLOBAL_INDEX),
                Delete=structure("DeleteGlobalSecondaryIndexAction", IndexName=required(NAME)),
            )
        ),
        ReplicaUpdates=list_of(
            structure(
                "ReplicationGroupUpdate",
                Create=structure("CreateReplicationGroupMemberAction", **_REPLICA),
                Update=structure("UpdateReplicationGroupMemberAction", **_REPLICA),
                Delete=structure("DeleteReplicationGroupMemberAction", RegionName=_REGION),
                Disassociate=structure(
                    "DisassociateReplicationGroupMemberAction",
                    RegionName=_REGION,
                    DisassociationMode=required(text(one_of("WAIT_FOR_REPLICATION"))),
                ),
            ),
            at_least(1),
        ),
        MultiRegionConsistency=text(one_of("EVENTUAL", "STRONG")),
        GlobalTableWitnessUpdates=list_of(
            structure(
                "GlobalTableWitnessGroupUpdate",
                Create=structure("CreateGlobalTableWitnessGroupMemberAction", RegionName=_REGION),
                Delete=structure("DeleteGlobalTableWitnessGroupMemberAction", RegionName=_REGION),
            ),
            at_least(1),
            at_most(1),
        ),
        GlobalTableSettingsReplicationMode=_REPLICATION_MODE,
        DisassociationProtectionEnabled=FLAG,
        VectorIndexUpdates=list_of(
            structure(
                "VectorIndexUpdate",
                Create=structure("CreateVectorIndexAction", **_VECTOR_INDEX),
                Delete=structure("DeleteVectorIndexAction", IndexName=required(NAME)),
            )
        ),
        StreamSpecification=_STREAM,
        SSESpecification=ENCRYPTION,
        TableClass=text(),
        DeletionProtectionEnabled=FLAG,
        OnDemandThroughput=ON_DEMAND,
        WarmThroughput=_WARM,
    ),
    "DeleteTable": structure("DeleteTableInput", TableName=DEFINED_TABLE),
    "DescribeTable": structure("DescribeTableInput", TableName=DEFINED_TABLE),
    "ListTables": structure(
        "ListTablesInput",
        Limit=integer(not_below(1), not_above(100)),
        ExclusiveStartTableName=NAME,
    ),
    "UpdateTimeToLive": structure(
        "UpdateTimeToLiveInput",
        TableName=TABLE,
        TimeToLiveSpecification=required(
            structure(
                "TimeToLiveSpecification",
                Enabled=required(FLAG),
                AttributeName=_ATTRIBUTE_NAME,
            )
        ),
    ),
    "DescribeTimeToLive": structure("DescribeTimeToLiveInput", TableName=NAMED_TABLE),
    "TagResource": structure("TagResourceInput", ResourceArn=_RESOURCE, Tags=required(_TAGS)),
    "UntagResource": structure(
        "UntagResourceInput", ResourceArn=_RESOURCE, TagKeys=required(list_of(_TAG_KEY))
    ),
    "ListTagsOfResource": structure(
        "ListTagsOfResourceInput", ResourceArn=_RESOURCE, NextToken=text()
    ),
    "DescribeLimits": structure("DescribeLimitsInput"),
    "DescribeEndpoints": structure("DescribeEndpointsRequest"),
}
