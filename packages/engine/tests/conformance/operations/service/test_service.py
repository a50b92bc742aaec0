"""DescribeLimits and DescribeEndpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold_engine.features.replicas import Regions

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def test_limits_are_those_of_a_new_account(call: Call) -> None:
    assert call("DescribeLimits", {}) == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_the_endpoint_is_on_this_machine_and_not_at_amazon(call: Call) -> None:
    (endpoint,) = call("DescribeEndpoints", {})["Endpoints"]
    assert endpoint["CachePeriodInMinutes"] == 1440
    host, _, port = endpoint["Address"].partition(":")
    assert host in ("localhost", "127.0.0.1")
    assert port.isdecimal()


def test_every_region_of_a_server_gives_the_address_of_the_server() -> None:
    with Regions() as regions:
        regions.engine("us-east-1").endpoint = "127.0.0.1:4321"
        answer = regions.engine("eu-west-1").call("DescribeEndpoints", {})
    assert answer["Endpoints"][0]["Address"] == "127.0.0.1:4321"
