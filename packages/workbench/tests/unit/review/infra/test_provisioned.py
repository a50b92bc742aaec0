"""A table with provisioned capacity comes out of every export with units that it can start with."""

from __future__ import annotations

from io import StringIO
from typing import Any

import cfnlint
import hcl2
import pytest

from keyfold.design.file import loads
from keyfold.design.yaml_text import DesignFileError
from keyfold.runtime.tables import create_request
from keyfold_engine.engine import Engine
from keyfold_workbench.adopt.inspection import observe
from keyfold_workbench.infra import FORMATS, cloudformation

ORDERS = """
design: orders
tables:
  Orders:
    key: [PK, SK]
    billing: PROVISIONED
    indexes:
      by-city: {key: [city]}
      by-day: {key: [PK, day], local: true}
entities:
  Order:
    key: {PK: ORDER#<orderId>, SK: ORDER}
    attributes: {orderId: id, city: string, day: string}
patterns:
  order: {get: Order, where: "PK = ORDER#<orderId>, SK = ORDER"}
"""
FIVE = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


def test_the_request_can_be_carried_out() -> None:
    [table] = loads(ORDERS).tables
    with Engine.open(":memory:") as engine:
        engine.call("CreateTable", create_request(table, "Orders"))
        made = engine.call("DescribeTable", {"TableName": "Orders"})["Table"]
        assert _units(made) == FIVE
        assert _units(made["GlobalSecondaryIndexes"][0]) == FIVE
        # What was made is drafted as what it was made from.
        assert observe(engine, "Orders", sample=10).tables[0].billing == "PROVISIONED"


def _units(described: dict[str, Any]) -> dict[str, int]:
    return {name: described["ProvisionedThroughput"][name] for name in FIVE}


def test_cloudformation_passes_its_linter() -> None:
    text = cloudformation.render(loads(ORDERS))
    found = cfnlint.lint(text, config=cfnlint.ManualArgs(regions=["us-east-1"]))
    assert [str(match) for match in found] == []
    assert text.count("ReadCapacityUnits: 5") == 2


def test_terraform_says_the_units_of_the_table_and_its_global_index() -> None:
    read = hcl2.load(StringIO(FORMATS["terraform"](loads(ORDERS))))
    [table] = [each for each in read["resource"] if '"aws_dynamodb_table"' in each]
    [body] = table['"aws_dynamodb_table"'].values()
    [index] = body["global_secondary_index"]
    assert [(each["read_capacity"], each["write_capacity"]) for each in (body, index)] == [
        (5, 5),
        (5, 5),
    ]
    assert "read_capacity" not in body["local_secondary_index"][0]


@pytest.mark.parametrize("name", ["terraform", "cdk", "cloudformation"])
def test_a_table_on_demand_has_no_units(name: str) -> None:
    text = FORMATS[name](loads(ORDERS.replace("PROVISIONED", "PAY_PER_REQUEST"))).lower()
    assert "read_capacity" not in text
    assert "readcapacity" not in text


def test_another_billing_is_refused_with_the_two_there_are() -> None:
    with pytest.raises(DesignFileError, match=r":6:14: .*'provisioned'.*PROVISIONED"):
        loads(ORDERS.replace("PROVISIONED", "provisioned"))
