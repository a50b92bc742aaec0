"""TagResource, UntagResource and ListTagsOfResource."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import AccessDenied, TableNotFound, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def test_tags_are_added_changed_and_removed(call: Call, table: str) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]

    def tags() -> dict[str, str]:
        listed = call("ListTagsOfResource", {"ResourceArn": arn})["Tags"]
        return {tag["Key"]: tag["Value"] for tag in listed}

    added = [{"Key": "team", "Value": "a"}, {"Key": "stage", "Value": "test"}]
    call("TagResource", {"ResourceArn": arn, "Tags": added})
    call("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "team", "Value": "b"}]})
    assert tags() == {"team": "b", "stage": "test"}
    call("UntagResource", {"ResourceArn": arn, "TagKeys": ["team"]})
    assert tags() == {"stage": "test"}


INVALID = "One or more parameter values were invalid: "
INVALID_ARN = "Invalid TableArn: Invalid ResourceArn provided as input "


def test_resources_that_are_not_there_or_not_ours_are_refused(call: Call, table: str) -> None:
    """After what ExtendDB's authors saw on Amazon in July 2026."""
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    with pytest.raises(TableNotFound) as missing:
        call("ListTagsOfResource", {"ResourceArn": f"{arn}x"})
    assert missing.value.message == f"Requested resource not found: ResourceArn: {arn}x not found"
    other = arn.replace("123456789012", "9" * 12)
    for foreign in (other, other.replace("us-east-1", "eu-west-1"), "arn:aws:s3:::bucket"):
        with pytest.raises(AccessDenied):
            call("ListTagsOfResource", {"ResourceArn": foreign})
    elsewhere, odd = arn.replace("us-east-1", "eu-west-1"), "arn:aws:dynamodb:us-east-1:1:other/a"
    for wrong, message in (
        (
            "no arn",
            "One or more parameter values were invalid: ARNs must start with 'arn:': no arn",
        ),
        (elsewhere, INVALID_ARN + elsewhere),
        (
            odd,
            f"{INVALID}Provided Arn is not a DynamoDB resource arn: {odd}",
        ),
    ):
        with pytest.raises(ValidationError) as refused:
            call("ListTagsOfResource", {"ResourceArn": wrong})
        assert refused.value.message == message


@pytest.mark.parametrize(("key", "value"), [("hi!", "dog"), ("dog", "d%g"), ("dog", '"x"')])
def test_tags_have_their_letters_and_signs(call: Call, table: str, key: str, value: str) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    call("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "é+-=._:/@ 1", "Value": ""}]})
    with pytest.raises(ValidationError, match="invalid"):
        call("TagResource", {"ResourceArn": arn, "Tags": [{"Key": key, "Value": value}]})


def test_a_table_with_too_many_tags_is_not_made(call: Call, name: str) -> None:
    request = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "Tags": [{"Key": str(number), "Value": ""} for number in range(51)],
    }
    with pytest.raises(ValidationError, match="Too many tags"):
        call("CreateTable", request)
    with pytest.raises(TableNotFound):
        call("DescribeTable", {"TableName": name})


def test_tags_and_resources_are_refused_in_dynamodbs_words(call: Call, table: str) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    tag = {"Key": "a", "Value": "b"}
    invalid = "One or more parameter values were invalid: "
    for resource, tags, message in (
        (
            arn,
            [tag, tag],
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found a",
        ),
        (
            arn,
            [{"Key": "aws:x", "Value": "b"}],
            "Tag Key cannot be prefixed with aws:, Key: aws:x",
        ),
        (table, [tag], f"{invalid}ARNs must start with 'arn:': {table}"),
        (
            f"{arn}/index/some",
            [tag],
            f"{invalid}Invalid resource arn provided, only table or stream is accepted. Provided "
            f"resource arn: {arn}/index/some",
        ),
    ):
        with pytest.raises(ValidationError) as caught:
            call("TagResource", {"ResourceArn": resource, "Tags": tags})
        assert caught.value.message == message
    assert call("ListTagsOfResource", {"ResourceArn": arn})["Tags"] == []
