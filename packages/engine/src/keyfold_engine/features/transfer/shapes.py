"""Requests about exports and imports."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Number,
    Structure,
    at_least,
    at_most,
    integer,
    list_of,
    not_above,
    not_below,
    one_of,
    pattern,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.tables import (
    ATTRIBUTE_DEFINITIONS,
    BILLING_MODE,
    ENCRYPTION,
    GLOBAL_INDEXES,
    KEY_SCHEMA,
    ON_DEMAND,
    THROUGHPUT,
    VECTOR_INDEXES,
)
from keyfold_engine.engine.shapes.words import ARN, ATTRIBUTES, EXPRESSION, LONG_ARN, NAME, NAMES

_MOMENT = Number("Double")
BUCKET = text(
    at_most(255),
    pattern(r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$", linear=r"[a-z0-9A-Z][\.\-\w]*[a-z0-9A-Z]"),
)
_BUCKET = required(BUCKET)
_OWNER = text(pattern(r"[0-9]{12}"))
_PREFIX = text(at_most(1024))
_CLIENT_TOKEN = text(pattern(r"^[^\$]+$"))
_PAGE = integer(not_below(1), not_above(25))

REQUESTS: dict[str, Structure] = {
    "ExportTableToPointInTime": structure(
        "ExportTableToPointInTimeInput",
        TableArn=required(ARN),
        ExportTime=_MOMENT,
        ClientToken=_CLIENT_TOKEN,
        S3Bucket=_BUCKET,
        S3BucketOwner=_OWNER,
        S3Prefix=_PREFIX,
        S3SseAlgorithm=text(one_of("AES256", "KMS")),
        S3SseKmsKeyId=text(at_least(1), at_most(2048)),
        ExportFormat=text(one_of("DYNAMODB_JSON", "ION")),
        ExportType=text(one_of("FULL_EXPORT", "INCREMENTAL_EXPORT")),
        FilterSpecification=structure(
            "FilterSpecification",
            FilterExpression=EXPRESSION,
            ProjectionExpression=EXPRESSION,
            KeyConditionExpression=EXPRESSION,
            ExpressionAttributeNames=NAMES,
            ExpressionAttributeValues=ATTRIBUTES,
        ),
        IncrementalExportSpecification=structure(
            "IncrementalExportSpecification",
            ExportFromTime=_MOMENT,
            ExportToTime=_MOMENT,
            ExportViewType=text(one_of("NEW_IMAGE", "NEW_AND_OLD_IMAGES")),
        ),
    ),
    "DescribeExport": structure("DescribeExportInput", ExportArn=required(LONG_ARN)),
    "ListExports": structure("ListExportsInput", TableArn=ARN, MaxResults=_PAGE, NextToken=text()),
    "ImportTable": structure(
        "ImportTableInput",
        ClientToken=_CLIENT_TOKEN,
        S3BucketSource=required(
            structure("S3BucketSource", S3BucketOwner=_OWNER, S3Bucket=_BUCKET, S3KeyPrefix=_PREFIX)
        ),
        InputFormat=required(text(one_of("DYNAMODB_JSON", "ION", "CSV"))),
        InputFormatOptions=structure(
            "InputFormatOptions",
            Csv=structure(
                "CsvOptions",
                Delimiter=text(at_least(1), at_most(1), pattern(r"[,;:|\t ]")),
                HeaderList=list_of(
                    text(
                        at_least(1),
                        at_most(65536),
                        pattern(r"[\x20-\x21\x23-\x2B\x2D-\x7E]*"),
                    ),
                    at_least(1),
                    at_most(255),
                ),
            ),
        ),
        InputCompressionType=text(one_of("GZIP", "ZSTD", "NONE")),
        TableCreationParameters=required(
            structure(
                "TableCreationParameters",
                TableName=required(NAME),
                AttributeDefinitions=required(ATTRIBUTE_DEFINITIONS),
                KeySchema=required(KEY_SCHEMA),
                BillingMode=BILLING_MODE,
                ProvisionedThroughput=THROUGHPUT,
                OnDemandThroughput=ON_DEMAND,
                SSESpecification=ENCRYPTION,
                GlobalSecondaryIndexes=GLOBAL_INDEXES,
                VectorIndexes=VECTOR_INDEXES,
            )
        ),
    ),
    "DescribeImport": structure("DescribeImportInput", ImportArn=required(LONG_ARN)),
    "ListImports": structure(
        "ListImportsInput",
        TableArn=ARN,
        PageSize=_PAGE,
        NextToken=text(at_least(112), at_most(1024), pattern(r"([0-9a-f]{16})+")),
    ),
}
