"""Global tables of 2019: replicas with lag and conflicts, and the strongly consistent mode.

Words as measured on Amazon, October 2026 (`ack-api-quirks`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from keyfold_engine.clients.signer import Credentials
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.faults import Faults
from keyfold_engine.errors import (
    ReplicatedWriteConflict,
    TableInUse,
    TableNotFound,
    ValidationError,
)
from keyfold_engine.features.replicas import Regions
from keyfold_engine.wire import ServerSettings
from keyfold_engine.wire.background import BackgroundServer

_HOME, _AWAY, _THIRD = "us-east-1", "eu-west-1", "us-west-2"
_TABLE: dict[str, Any] = {
    "TableName": "Orders",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def regions(clock: ManualClock) -> Iterator[Regions]:
    """A table in one region, whose changes are held until they are released."""
    with Regions(clock=clock, lag="held") as regions:
        regions.engine(_HOME).call("CreateTable", _TABLE)
        yield regions


def _update(engine: Engine, *updates: dict[str, Any], **more: Any) -> dict[str, Any]:
    request: dict[str, Any] = {"TableName": "Orders", **more}
    if updates:
        request["ReplicaUpdates"] = list(updates)
    described: dict[str, Any] = engine.call("UpdateTable", request)["TableDescription"]
    return described


def _create(region: str, **overrides: Any) -> dict[str, Any]:
    return {"Create": {"RegionName": region, **overrides}}


def _delete(region: str) -> dict[str, Any]:
    return {"Delete": {"RegionName": region}}


def _put(engine: Engine, key: str, value: str) -> None:
    item = {"pk": {"S": key}, "v": {"S": value}}
    engine.call("PutItem", {"TableName": "Orders", "Item": item})


def _get(engine: Engine, key: str) -> str | None:
    request = {"TableName": "Orders", "Key": {"pk": {"S": key}}, "ConsistentRead": True}
    item = engine.call("GetItem", request).get("Item")
    return None if item is None else item["v"]["S"]


def _told(engine: Engine) -> dict[str, Any]:
    table: dict[str, Any] = engine.call("DescribeTable", {"TableName": "Orders"})["Table"]
    return table


@pytest.fixture
def home(regions: Regions) -> Engine:
    return regions.engine(_HOME)


@pytest.fixture
def away(regions: Regions, home: Engine) -> Engine:
    """The replica of the table."""
    _update(home, _create(_AWAY))
    return regions.engine(_AWAY)


def test_a_replica_has_the_items_that_were_there(regions: Regions, home: Engine) -> None:
    _put(home, "a", "before")
    _update(home, _create(_AWAY))
    assert _get(regions.engine(_AWAY), "a") == "before"


def test_each_region_tells_of_the_others(home: Engine, away: Engine) -> None:
    here, there = _told(home), _told(away)
    assert here["GlobalTableVersion"] == there["GlobalTableVersion"] == "2019.11.21"
    assert [each["RegionName"] for each in here["Replicas"]] == [_AWAY]
    assert [each["RegionName"] for each in there["Replicas"]] == [_HOME]
    assert here["Replicas"][0]["ReplicaStatus"] == "ACTIVE"
    assert "MultiRegionConsistency" not in here
    assert here["TableId"] != there["TableId"]
    assert f":{_AWAY}:" in there["TableArn"]
    assert here["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_changes_arrive_when_they_are_released(
    regions: Regions, home: Engine, away: Engine
) -> None:
    _put(home, "a", "1")
    assert _get(away, "a") is None
    assert regions.settle() == 0
    regions.release()
    assert _get(away, "a") == "1"
    away.call("DeleteItem", {"TableName": "Orders", "Key": {"pk": {"S": "a"}}})
    regions.release()
    assert _get(home, "a") is None


def test_the_last_writer_wins_in_all_regions(
    regions: Regions, clock: ManualClock, home: Engine, away: Engine
) -> None:
    _put(away, "a", "away, first")
    clock.advance(1)
    _put(home, "a", "home, later")
    regions.release()
    assert (_get(home, "a"), _get(away, "a")) == ("home, later", "home, later")
    _put(home, "b", "home, first")
    clock.advance(1)
    away.call("PutItem", {"TableName": "Orders", "Item": {"pk": {"S": "b"}, "v": {"S": "x"}}})
    away.call("DeleteItem", {"TableName": "Orders", "Key": {"pk": {"S": "b"}}})
    regions.release()
    assert (_get(home, "b"), _get(away, "b")) == (None, None)


def test_regions_agree_about_writes_of_the_same_moment(
    regions: Regions, home: Engine, away: Engine
) -> None:
    _put(home, "a", "home")
    _put(away, "a", "away")
    regions.release()
    assert _get(home, "a") == _get(away, "a")


def test_a_condition_looks_at_its_own_region(
    regions: Regions, clock: ManualClock, home: Engine, away: Engine
) -> None:
    """Two regions create what is unique in each: replication keeps one, without a word."""
    for engine, name in ((home, "home"), (away, "away")):
        item = {"pk": {"S": "email"}, "v": {"S": name}}
        guarded = {"Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
        engine.call("PutItem", {"TableName": "Orders", **guarded})
        clock.advance(1)
    regions.release()
    assert (_get(home, "email"), _get(away, "email")) == ("away", "away")


def test_a_region_that_is_cut_off_catches_up(regions: Regions, home: Engine, away: Engine) -> None:
    regions.isolate(_AWAY)
    _put(home, "a", "1")
    regions.release()
    assert _get(away, "a") is None
    regions.rejoin(_AWAY)
    regions.release()
    assert _get(away, "a") == "1"


def test_changes_take_their_time_by_the_clock(clock: ManualClock) -> None:
    with Regions(clock=clock, lag=5.0) as regions:
        home = regions.engine(_HOME)
        home.call("CreateTable", _TABLE)
        _update(home, _create(_AWAY))
        _put(home, "a", "1")
        regions.settle()
        assert _get(regions.engine(_AWAY), "a") is None
        clock.advance(6)
        regions.settle()
        assert _get(regions.engine(_AWAY), "a") == "1"


def test_replicated_writes_are_in_the_stream_of_the_other_region(
    regions: Regions, home: Engine, away: Engine
) -> None:
    _put(home, "a", "1")
    regions.release()
    arn = _told(away)["LatestStreamArn"]
    stream = away.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    iterator = away.call(
        "GetShardIterator",
        {
            "StreamArn": arn,
            "ShardId": stream["Shards"][0]["ShardId"],
            "ShardIteratorType": "TRIM_HORIZON",
        },
    )["ShardIterator"]
    [record] = away.call("GetRecords", {"ShardIterator": iterator})["Records"]
    assert record["dynamodb"]["NewImage"]["v"] == {"S": "1"}


def test_an_index_and_time_to_live_are_made_everywhere(home: Engine, away: Engine) -> None:
    index = {
        "IndexName": "by_v",
        "KeySchema": [{"AttributeName": "v", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    defined = [{"AttributeName": "v", "AttributeType": "S"}]
    away.call(
        "UpdateTable",
        {
            "TableName": "Orders",
            "AttributeDefinitions": defined,
            "GlobalSecondaryIndexUpdates": [{"Create": index}],
        },
    )
    assert _told(home)["GlobalSecondaryIndexes"][0]["IndexName"] == "by_v"
    ttl = {"Enabled": True, "AttributeName": "ends"}
    home.call("UpdateTimeToLive", {"TableName": "Orders", "TimeToLiveSpecification": ttl})
    told = away.call("DescribeTimeToLive", {"TableName": "Orders"})["TimeToLiveDescription"]
    assert told["TimeToLiveStatus"] == "ENABLED"


def test_a_deleted_replica_is_gone_and_everything_about_it(home: Engine, away: Engine) -> None:
    _update(home, _delete(_AWAY))
    assert "Replicas" not in _told(home)
    assert "GlobalTableVersion" not in _told(home)
    with pytest.raises(TableNotFound):
        _told(away)


def test_deleting_one_regions_table_leaves_the_others(
    regions: Regions, home: Engine, away: Engine
) -> None:
    _update(home, _create(_THIRD))
    away.call("DeleteTable", {"TableName": "Orders"})
    assert [each["RegionName"] for each in _told(home)["Replicas"]] == [_THIRD]
    assert [each["RegionName"] for each in _told(regions.engine(_THIRD))["Replicas"]] == [_HOME]


def test_a_region_leaves_the_group_with_its_data(
    regions: Regions, home: Engine, away: Engine
) -> None:
    _put(home, "a", "1")
    leave = {"Disassociate": {"RegionName": _AWAY, "DisassociationMode": "WAIT_FOR_REPLICATION"}}
    with pytest.raises(ValidationError, match="protected against disassociation"):
        _update(away, leave)
    _update(away, DisassociationProtectionEnabled=False)
    _update(away, leave)
    assert _get(away, "a") == "1"
    assert "Replicas" not in _told(home)
    _put(home, "a", "2")
    regions.release()
    assert _get(away, "a") == "1"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            {"ReplicaUpdates": [_create(_AWAY)], "TableClass": "STANDARD"},
            "One or more parameter values were invalid: Replica modification must be the only "
            "operation in the request",
        ),
        (
            {"ReplicaUpdates": [_create(_AWAY), _create(_THIRD)]},
            "Update table operation with more than one create or delete replica actions not "
            "allowed",
        ),
        (
            {"ReplicaUpdates": [{**_create(_AWAY), **_delete(_AWAY)}]},
            "Update table operation with more than one type of replica actions not allowed.",
        ),
        (
            {"ReplicaUpdates": [{"Update": {"RegionName": _AWAY}}]},
            "There are no actions specified in the Replica Update Action of the request.",
        ),
        (
            {"ReplicaUpdates": [_create(_HOME)]},
            "Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, "
            "DeleteTable, or UpdateTable as required.",
        ),
        (
            {"ReplicaUpdates": [_delete(_AWAY)]},
            "Update global table operation failed because one or more replicas were not part of "
            "the global table. Please retry the request without these replicas: [eu-west-1].",
        ),
        (
            {"ReplicaUpdates": [_create(_AWAY)], "MultiRegionConsistency": "STRONG"},
            "Unsupported replica count for global tables with MultiRegionConsistency set to "
            "STRONG.",
        ),
        (
            {
                "ReplicaUpdates": [_create(_AWAY)],
                "GlobalTableWitnessUpdates": [_create(_THIRD)],
            },
            "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter "
            "is present.",
        ),
        (
            {
                "ReplicaUpdates": [_create("us-west-1"), _create(_THIRD)],
                "MultiRegionConsistency": "STRONG",
            },
            "Unsupported Region(s) specified for global tables with MultiRegionConsistency set to "
            "STRONG: [us-west-1].",
        ),
        (
            {"GlobalTableWitnessUpdates": [{}], "MultiRegionConsistency": "STRONG"},
            "Unsupported replica count for global tables with MultiRegionConsistency set to "
            "STRONG.",
        ),
        (
            {"GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES"},
            "Value 'ENABLED_WITH_OVERRIDES' at 'GlobalTableSettingsReplicationMode' failed to "
            "satisfy constraint: Only ENABLED and DISABLED settings replication are supported for "
            "a Regional Table.",
        ),
    ],
)
def test_a_wrong_update_is_refused_and_makes_no_replica(
    home: Engine, regions: Regions, request_: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        home.call("UpdateTable", {"TableName": "Orders", **request_})
    assert refused.value.message == message
    assert "Replicas" not in _told(home)
    with pytest.raises(TableNotFound):
        _told(regions.engine(_AWAY))


def test_a_foreign_table_is_no_replica(home: Engine, regions: Regions) -> None:
    regions.engine(_AWAY).call("CreateTable", _TABLE)
    with pytest.raises(ValidationError, match="because one or more replicas already existed"):
        _update(home, _create(_AWAY))


def test_an_unknown_region_is_refused(home: Engine) -> None:
    with pytest.raises(ValidationError, match="Region mars-1 is not supported"):
        _update(home, _create("mars-1"))


def test_fixed_units_cannot_take_the_writes_of_all_regions(regions: Regions) -> None:
    home = regions.engine(_HOME)
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    billing = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    home.call("CreateTable", {**_TABLE, **billing, "TableName": "Fixed"})
    with pytest.raises(ValidationError) as refused:
        home.call("UpdateTable", {"TableName": "Fixed", "ReplicaUpdates": [_create(_AWAY)]})
    assert refused.value.message == (
        "Table write capacity should either be Pay-Per-Request or AutoScaled."
    )


def test_the_stream_of_a_replica_stays(home: Engine, away: Engine) -> None:
    with pytest.raises(ValidationError, match="Disabling Stream is not allowed"):
        home.call(
            "UpdateTable",
            {"TableName": "Orders", "StreamSpecification": {"StreamEnabled": False}},
        )


def test_a_replica_that_is_being_made_keeps_others_out(clock: ManualClock) -> None:
    with Regions(clock=clock, delays="amazon") as regions:
        home = regions.engine(_HOME)
        home.call("CreateTable", _TABLE)
        _update(home, _create(_AWAY))
        assert _told(home)["Replicas"][0]["ReplicaStatus"] == "CREATING"
        with pytest.raises(TableInUse):
            _update(home, _create(_THIRD))
        clock.advance(31)
        assert _told(home)["Replicas"][0]["ReplicaStatus"] == "ACTIVE"
        with pytest.raises(ValidationError, match="acted as a source region"):
            _update(regions.engine(_AWAY), _delete(_HOME))


def test_one_region_alone_says_what_is_missing() -> None:
    with Engine.open() as engine:
        engine.call("CreateTable", _TABLE)
        with pytest.raises(ValidationError, match="needs several regions for a global table"):
            _update(engine, _create(_AWAY))
        arn = "arn:aws:dynamodb:eu-west-1:999999999999:table/Orders"
        with pytest.raises(ValidationError, match="no replicas in other accounts"):
            engine.call("CreateTable", {**_TABLE, "TableName": "T00", "GlobalTableSourceArn": arn})


def _strong(home: Engine, *, witness: bool = False) -> None:
    more: dict[str, Any] = {"MultiRegionConsistency": "STRONG"}
    if witness:
        _update(home, _create(_AWAY), GlobalTableWitnessUpdates=[_create(_THIRD)], **more)
    else:
        _update(home, _create(_AWAY), _create(_THIRD), **more)


def test_a_strong_group_is_in_step_at_any_moment(home: Engine, regions: Regions) -> None:
    _strong(home)
    away, third = regions.engine(_AWAY), regions.engine(_THIRD)
    assert _told(away)["MultiRegionConsistency"] == "STRONG"
    _put(home, "a", "1")
    assert (_get(away, "a"), _get(third, "a")) == ("1", "1")
    with pytest.raises(Exception, match="conditional request failed"):
        third.call(
            "PutItem",
            {
                "TableName": "Orders",
                "Item": {"pk": {"S": "a"}},
                "ConditionExpression": "attribute_not_exists(pk)",
            },
        )


def test_a_witness_has_no_table(home: Engine, regions: Regions) -> None:
    _strong(home, witness=True)
    assert _told(home)["GlobalTableWitnesses"] == [
        {"RegionName": _THIRD, "WitnessStatus": "ACTIVE"}
    ]
    with pytest.raises(TableNotFound):
        _told(regions.engine(_THIRD))
    with pytest.raises(ValidationError, match="does not include all witnesses"):
        _update(home, _delete(_AWAY))
    _update(home, _delete(_AWAY), GlobalTableWitnessUpdates=[_delete(_THIRD)])
    assert "MultiRegionConsistency" not in _told(home)


def test_a_strong_group_is_not_changed(home: Engine) -> None:
    _strong(home)
    with pytest.raises(ValidationError, match="Cannot add replicas to a global table with strong"):
        _update(home, _create("eu-west-2"))
    with pytest.raises(ValidationError, match="Deletion of only one table replica"):
        _update(home, _delete(_AWAY))
    with pytest.raises(ValidationError, match="Deletion of only one table replica"):
        home.call("DeleteTable", {"TableName": "Orders"})
    item = {"Put": {"TableName": "Orders", "Item": {"pk": {"S": "a"}}}}
    with pytest.raises(ValidationError, match="Transactions and time to live are not supported"):
        home.call("TransactWriteItems", {"TransactItems": [item]})


def test_a_replica_of_a_strong_group_has_settings_of_its_own(home: Engine) -> None:
    _strong(home)
    wish = {"RegionName": _AWAY, "TableClassOverride": "STANDARD_INFREQUENT_ACCESS"}
    _update(home, {"Update": wish})
    told = {replica["RegionName"]: replica for replica in _told(home)["Replicas"]}
    assert "ReplicaTableClassSummary" in told[_AWAY]
    assert "ReplicaTableClassSummary" not in told[_THIRD]


def test_only_an_empty_table_becomes_strong(home: Engine) -> None:
    _put(home, "a", "1")
    with pytest.raises(ValidationError, match="only while it is empty"):
        _strong(home)


def test_regions_are_files_and_go_on_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "data.db"
    with Regions(path, clock=clock, lag="held") as regions:
        home = regions.engine(_HOME)
        home.call("CreateTable", _TABLE)
        _update(home, _create(_AWAY))
        _put(home, "a", "1")
    assert sorted(each.name for each in tmp_path.glob("*.db")) == [
        "data.eu-west-1.db",
        "data.us-east-1.db",
    ]
    with Regions(path, clock=clock, lag="held") as regions:
        away = regions.engine(_AWAY)
        regions.engine(_HOME)
        assert _get(away, "a") is None
        regions.release()
        assert _get(away, "a") == "1"


def test_boto3_writes_in_one_region_and_reads_in_another() -> None:
    def client(url: str, region: str) -> Any:
        return boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name=region,
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )

    with (
        Regions() as regions,
        BackgroundServer(regions.engine(_HOME)) as here,
        BackgroundServer(regions.engine(_AWAY)) as there,
    ):
        home, away = client(here.url, _HOME), client(there.url, _AWAY)
        home.create_table(**_TABLE)
        home.update_table(TableName="Orders", ReplicaUpdates=[_create(_AWAY)])
        away.get_waiter("table_exists").wait(TableName="Orders")
        home.put_item(TableName="Orders", Item={"pk": {"S": "a"}})
        regions.settle()
        assert away.get_item(TableName="Orders", Key={"pk": {"S": "a"}})["Item"]
        with pytest.raises(ClientError, match="Cannot add or delete the local region"):
            away.update_table(TableName="Orders", ReplicaUpdates=[_create(_AWAY)])


@pytest.mark.parametrize("checks", [False, True])
def test_one_server_has_the_region_that_a_caller_signs_for(checks: bool) -> None:
    known = (Credentials("a", "b", None, "arn:aws:iam::123456789012:user/mia"),)
    settings = ServerSettings(port=0, credentials=known if checks else ())
    with (
        Regions() as regions,
        BackgroundServer(regions.engine(_HOME), settings) as server,
    ):

        def client(region: str) -> Any:
            return boto3.client(
                "dynamodb",
                endpoint_url=server.url,
                region_name=region,
                aws_access_key_id="a",
                aws_secret_access_key="b",
            )

        home, away = client(_HOME), client(_AWAY)
        home.create_table(**_TABLE)
        assert away.list_tables()["TableNames"] == []
        away.create_table(**{**_TABLE, "TableName": "Other"})
        assert home.list_tables()["TableNames"] == ["Orders"]
        home.update_table(TableName="Orders", ReplicaUpdates=[_create(_AWAY)])
        away.put_item(TableName="Orders", Item={"pk": {"S": "a"}})
        regions.settle()
        assert home.get_item(TableName="Orders", Key={"pk": {"S": "a"}})["Item"]


def test_a_write_that_meets_one_of_another_region_is_refused_on_request() -> None:
    with Regions(faults=Faults(replica_conflict=1.0)) as regions:
        home = regions.engine(_HOME)
        home.call("CreateTable", _TABLE)
        with pytest.raises(ReplicatedWriteConflict, match="by a request in another Region"):
            _put(home, "a", "1")
        assert _get(home, "a") is None
