from __future__ import annotations

from typing import Any


def test_time_to_live_is_off_until_it_is_switched_on(call: Any, table: str) -> None:
    off = call("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
    assert off == {"TimeToLiveStatus": "DISABLED"}
    specification = {"Enabled": True, "AttributeName": "expires"}
    request = {"TableName": table, "TimeToLiveSpecification": specification}
    assert call("UpdateTimeToLive", request) == {"TimeToLiveSpecification": specification}
    on = call("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
    assert on == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
