"""The figures of large tables are estimates, made at the cost of a small one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from keyfold_engine.engine import Engine, statistics


def test_a_large_table_is_estimated_from_a_sample(
    engine: Engine, create_table: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "COUNTED_UP_TO", 100)
    monkeypatch.setattr(statistics, "WINDOWS", 20)
    create_table(engine, "Large", indexes={"by_even": ("even:S",)})
    for number in range(2000):
        item = {"pk": {"S": f"{number:05d}"}, "data": {"S": "d" * 89}}
        if number % 2 == 0:
            item["even"] = {"S": "y"}
        engine.call("PutItem", {"TableName": "Large", "Item": item})
    for number in range(0, 2000, 4):
        key = {"pk": {"S": f"{number:05d}"}}
        engine.call("DeleteItem", {"TableName": "Large", "Key": key})
    table = engine.call("DescribeTable", {"TableName": "Large"})["Table"]
    (index,) = table["GlobalSecondaryIndexes"]
    assert table["ItemCount"] == pytest.approx(1500, rel=0.05)
    assert table["TableSizeBytes"] == pytest.approx(1500 * 102, rel=0.05)
    assert index["ItemCount"] == pytest.approx(500, rel=0.1)
