"""UpdateContributorInsights, DescribeContributorInsights and ListContributorInsights.

Words and states as measured on Amazon, October 2026 (the public catalogue `ack-api-quirks`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import TableNotFound, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
_BOTH = "ACCESSED_AND_THROTTLED_KEYS"


def _update(call: Call, table: str, action: str, **more: Any) -> dict[str, Any]:
    request = {"TableName": table, "ContributorInsightsAction": action, **more}
    return call("UpdateContributorInsights", request)


def test_a_table_that_was_never_watched(call: Call, table: str) -> None:
    assert call("DescribeContributorInsights", {"TableName": table}) == {
        "TableName": table,
        "ContributorInsightsStatus": "DISABLED",
    }
    assert _update(call, table, "DISABLE")["ContributorInsightsStatus"] == "DISABLED"


def test_enabling_is_told_with_rules_for_each_key(call: Call, table: str) -> None:
    assert _update(call, table, "ENABLE") == {
        "TableName": table,
        "ContributorInsightsStatus": "ENABLING",
        "ContributorInsightsMode": _BOTH,
    }
    told = call("DescribeContributorInsights", {"TableName": table})
    assert told["ContributorInsightsStatus"] == "ENABLED"
    rules = told["ContributorInsightsRuleList"]
    assert [rule.split("-")[1] for rule in rules] == ["PKC", "PKT", "SKC", "SKT"]
    assert all(f"-{table}-" in rule for rule in rules)
    _update(call, table, "ENABLE", ContributorInsightsMode="THROTTLED_KEYS")
    rules = call("DescribeContributorInsights", {"TableName": table})["ContributorInsightsRuleList"]
    assert [rule.split("-")[1] for rule in rules] == ["PKT", "SKT"]


def test_an_index_has_its_own(call: Call, table: str) -> None:
    _update(call, table, "ENABLE", IndexName="some")
    told = call("DescribeContributorInsights", {"TableName": table, "IndexName": "some"})
    assert (told["IndexName"], told["ContributorInsightsStatus"]) == ("some", "ENABLED")
    assert len(told["ContributorInsightsRuleList"]) == 2
    assert call("DescribeContributorInsights", {"TableName": table})[
        "ContributorInsightsStatus"
    ] == ("DISABLED")


def test_the_list_has_what_is_not_disabled(call: Call, table: str) -> None:
    _update(call, table, "ENABLE")
    _update(call, table, "ENABLE", IndexName="some")
    _update(call, table, "ENABLE", IndexName="everything")
    _update(call, table, "DISABLE", IndexName="some")
    first = call("ListContributorInsights", {"TableName": table, "MaxResults": 1})
    assert [each.get("IndexName") for each in first["ContributorInsightsSummaries"]] == [None]
    rest = call("ListContributorInsights", {"TableName": table, "NextToken": first["NextToken"]})
    names = [each["IndexName"] for each in rest["ContributorInsightsSummaries"]]
    assert names == ["everything"]
    with pytest.raises(ValidationError, match="MaxResults must be at least 1"):
        call("ListContributorInsights", {"TableName": table, "MaxResults": -1})


def test_what_is_not_there(call: Call, table: str, name: str) -> None:
    with pytest.raises(TableNotFound) as refused:
        _update(call, f"{name}x", "ENABLE")
    assert refused.value.message == f"Requested resource not found: Table: {name}x not found"
    for index in ("nowhere", "local"):
        with pytest.raises(TableNotFound) as refused:
            _update(call, table, "ENABLE", IndexName=index)
        assert refused.value.message == (
            f"Requested resource not found: Index: {index} not found for table: {table}"
        )


_TABLE: dict[str, Any] = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
}


def test_states_take_their_time_by_the_clock() -> None:
    clock = ManualClock()
    with Engine.open(clock=clock, delays="amazon") as engine:
        engine.call("CreateTable", _TABLE)
        _update(engine.call, "Orders", "ENABLE")

        def status() -> str:
            told = engine.call("DescribeContributorInsights", {"TableName": "Orders"})
            return str(told["ContributorInsightsStatus"])

        assert status() == "ENABLING"
        clock.advance(10)
        assert status() == "ENABLED"
        _update(engine.call, "Orders", "DISABLE")
        assert status() == "DISABLING"
        clock.advance(3)
        assert status() == "DISABLED"
