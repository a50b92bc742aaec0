"""Requests about bulk operations."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
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
from keyfold_engine.engine.shapes.words import LONG_ARN, TABLE
from keyfold_engine.features.transfer.shapes import BUCKET

_OWNER = text(pattern(r"[0-9]{12}"))
_PREFIX = text(at_most(1024))
_ARN = required(LONG_ARN)

REQUESTS: dict[str, Structure] = {
    "StartBulkPutItems": structure(
        "StartBulkPutItemsInput",
        ClientToken=text(pattern(r"^[^\$]+$")),
        InputS3Configuration=required(
            structure(
                "InputS3Configuration",
                S3BucketOwner=_OWNER,
                S3Bucket=required(BUCKET),
                S3KeyPrefix=_PREFIX,
                InputFormat=required(text(one_of("DYNAMODB_JSON", "ION"))),
                InputCompressionType=text(one_of("GZIP", "ZSTD", "NONE")),
            )
        ),
        OutputS3Configuration=required(
            structure(
                "OutputS3Configuration",
                S3BucketOwner=_OWNER,
                S3Bucket=BUCKET,
                S3KeyPrefix=_PREFIX,
                S3SseAlgorithm=text(one_of("AES256", "KMS")),
                S3SseKmsKeyId=text(at_least(1), at_most(2048)),
                OutputType=required(list_of(text(one_of("ERROR", "CONDITION_CHECK_FAILURE")))),
            )
        ),
        TableName=TABLE,
        MaxWriteRequestUnits=long(not_below(1024)),
        PerformanceTier=text(one_of("STANDARD", "ACCELERATED")),
    ),
    "DescribeBulkOperation": structure("DescribeBulkOperationInput", BulkOperationArn=_ARN),
    "CancelBulkOperation": structure("CancelBulkOperationInput", BulkOperationArn=_ARN),
    "ListBulkOperations": structure(
        "ListBulkOperationsInput",
        MaxResults=integer(not_below(1), not_above(25)),
        NextToken=text(at_least(1), at_most(1024), pattern(r"([0-9a-f]{16})+")),
    ),
}
