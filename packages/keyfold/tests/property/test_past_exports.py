"""Exports of any moment of any history: exactly the items of then, and each change since."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.features.transfer import exports

TABLE: dict[str, Any] = {
    "TableName": "Things",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
TICK = 600
STEPS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.none() | st.integers(0, 3)), min_size=1, max_size=20
)


def _exported(engine: Engine, folder: Path, name: str, **wish: Any) -> list[dict[str, Any]]:
    arn = engine.call("DescribeTable", {"TableName": "Things"})["Table"]["TableArn"]
    request = {"TableArn": arn, "S3Bucket": "bucket", "S3Prefix": name, **wish}
    engine.call("ExportTableToPointInTime", request)
    lines: list[dict[str, Any]] = []
    for path in exports.data_files(folder / "bucket" / name):
        lines += map(orjson.loads, gzip.decompress(path.read_bytes()).splitlines())
    return lines


@given(STEPS, st.data())
def test_an_export_of_a_moment_is_what_the_table_was(
    steps: list[tuple[str, int | None]], data: st.DataObject
) -> None:
    clock, model = ManualClock(), dict[str, int]()
    moments: list[tuple[float, dict[str, int]]] = []
    with TemporaryDirectory() as place, Engine.open(clock=clock, buckets=place) as engine:
        Path(place, "bucket").mkdir()
        engine.call("CreateTable", TABLE)
        wish = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups",
            {"TableName": "Things", "PointInTimeRecoverySpecification": wish},
        )
        for key, value in steps:
            clock.advance(TICK)
            if value is None:
                model.pop(key, None)
                engine.call("DeleteItem", {"TableName": "Things", "Key": {"pk": {"S": key}}})
            else:
                model[key] = value
                item = {"pk": {"S": key}, "n": {"N": str(value)}}
                engine.call("PutItem", {"TableName": "Things", "Item": item})
            moments.append((clock.now(), dict(model)))
        clock.advance(3 * TICK)
        start = data.draw(st.integers(0, len(moments) - 1))
        moment, expected = moments[start]
        found = _exported(engine, Path(place), "past", ExportTime=moment)
        assert sorted((one["Item"]["pk"]["S"], int(one["Item"]["n"]["N"])) for one in found) == (
            sorted(expected.items())
        )
        window = {"ExportFromTime": moment + 1, "ExportToTime": clock.now()}
        changes = _exported(
            engine,
            Path(place),
            "changes",
            ExportType="INCREMENTAL_EXPORT",
            IncrementalExportSpecification=window,
        )
        before = dict(expected)
        for change in changes:
            key = change["Keys"]["pk"]["S"]
            old = change.get("OldImage")
            assert (None if old is None else int(old["n"]["N"])) == expected.get(key)
            if "NewImage" in change:
                before[key] = int(change["NewImage"]["n"]["N"])
            else:
                before.pop(key, None)
        assert before == model
        assert len(changes) == len({change["Keys"]["pk"]["S"] for change in changes})
