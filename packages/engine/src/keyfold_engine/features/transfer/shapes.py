"""Requests about exports, imports and bulk operations."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Number,
    Structure,
    at_least,
    at_most,
    integer,
    list_of,
    long,
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
from keyfold_engine.engine.shapes.words import (
    ARN,
    ATTRIBUTES,
    EXPRESSION,
    LONG_ARN,
    NAME,
    NAMES,
    TABLE,
)

_MOMENT = Number("Double")
_ANY_BUCKET = text(
    at_most(255),
    pattern(r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$", linear=r"[a-z0-9A-Z][\.\-\w]*[a-z0-9A-Z]"),
)
_BUCKET = required(_ANY_BUCKET)
_OWNER = text(pattern(r"[0-9]{12}"))
_PREFIX = text(at_most(1024))
_CLIENT_TOKEN = text(pattern(r"^[^\$]+$"))
_ONE = required(LONG_ARN)
_ALGORITHM = text(one_of("AES256", "KMS"))
_KEY_ID = text(at_least(1), at_most(2048))
_COMPRESSION = text(one_of("GZIP", "ZSTD", "NONE"))
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
        S3SseAlgorithm=_ALGORITHM,
        S3SseKmsKeyId=_KEY_ID,
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
    "DescribeExport": structure("DescribeExportInput", ExportArn=_ONE),
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
        InputCompressionType=_COMPRESSION,
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
    "DescribeImport": structure("DescribeImportInput", ImportArn=_ONE),
    "ListImports": structure(
        "ListImportsInput",
        TableArn=ARN,
        PageSize=_PAGE,
        NextToken=text(at_least(112), at_most(1024), pattern(r"([0-9a-f]{16})+")),
    ),
    "StartBulkPutItems": structure(
        "StartBulkPutItemsInput",
        ClientToken=_CLIENT_TOKEN,
        InputS3Configuration=required(
            structure(
                "InputS3Configuration",
                S3BucketOwner=_OWNER,
                S3Bucket=_BUCKET,
                S3KeyPrefix=_PREFIX,
                InputFormat=required(text(one_of("DYNAMODB_JSON", "ION"))),
                InputCompressionType=_COMPRESSION,
            )
        ),
        OutputS3Configuration=required(
            structure(
                "OutputS3Configuration",
                S3BucketOwner=_OWNER,
                S3Bucket=_ANY_BUCKET,
                S3KeyPrefix=_PREFIX,
                S3SseAlgorithm=_ALGORITHM,
                S3SseKmsKeyId=_KEY_ID,
                OutputType=required(list_of(text(one_of("ERROR", "CONDITION_CHECK_FAILURE")))),
            )
        ),
        TableName=TABLE,
        MaxWriteRequestUnits=long(not_below(1024)),
        PerformanceTier=text(one_of("STANDARD", "ACCELERATED")),
    ),
    "DescribeBulkOperation": structure("DescribeBulkOperationInput", BulkOperationArn=_ONE),
    "CancelBulkOperation": structure("CancelBulkOperationInput", BulkOperationArn=_ONE),
    "ListBulkOperations": structure(
        "ListBulkOperationsInput",
        MaxResults=_PAGE,
        NextToken=text(at_least(1), at_most(1024), pattern(r"([0-9a-f]{16})+")),
    ),
}
