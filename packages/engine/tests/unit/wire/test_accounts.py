"""Accounts as namespaces: one server, and the same table name in each account and region."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from keyfold_engine.clients.signer import Credentials
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine.principal import HOME_ACCOUNT
from keyfold_engine.engine.sweeper import Sweeper
from keyfold_engine.errors import LimitExceeded, TableNotFound
from keyfold_engine.features.replicas import Accounts, accounts
from keyfold_engine.wire import BackgroundServer, ServerSettings, settings

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
OTHER = "111122223333"


@pytest.fixture
def made() -> Iterator[Accounts]:
    with Accounts() as made:
        yield made


def _client(
    server: BackgroundServer, key: str, region: str = "us-east-1", secret: str = "s"
) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name=region,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
    )


def _server(made: Accounts, **more: Any) -> BackgroundServer:
    home = made.engine(HOME_ACCOUNT, "us-east-1")
    return BackgroundServer(home, ServerSettings(port=0, accounts=True, **more))


def test_a_name_is_another_table_in_each_account_and_region(made: Accounts) -> None:
    with _server(made) as server:
        callers = [
            _client(server, "anything"),
            _client(server, "anything", "eu-west-1"),
            _client(server, OTHER),
            _client(server, OTHER, "eu-west-1"),
        ]
        arns = []
        for number, client in enumerate(callers):
            arns.append(client.create_table(**TABLE)["TableDescription"]["TableArn"])
            client.put_item(TableName="Things", Item={"pk": {"S": str(number)}})
        assert arns == [
            f"arn:aws:dynamodb:{region}:{account}:table/Things"
            for account in (HOME_ACCOUNT, OTHER)
            for region in ("us-east-1", "eu-west-1")
        ]
        for number, client in enumerate(callers):
            assert client.scan(TableName="Things")["Items"] == [{"pk": {"S": str(number)}}]
        callers[2].delete_table(TableName="Things")
        assert callers[0].list_tables()["TableNames"] == ["Things"]
        assert callers[2].list_tables()["TableNames"] == []
        assert callers[2].describe_endpoints()["Endpoints"][0]["Address"] in server.url


def test_with_credentials_the_principal_says_the_account(made: Accounts) -> None:
    known = (
        Credentials("mia", "s", None, f"arn:aws:iam::{OTHER}:user/mia"),
        Credentials("noa", "s", None, f"arn:aws:iam::{HOME_ACCOUNT}:user/noa"),
    )
    with _server(made, credentials=known) as server:
        _client(server, "mia").create_table(**TABLE)
        assert _client(server, "noa").list_tables()["TableNames"] == []
        assert made.engine(OTHER, "us-east-1").call("ListTables", {})["TableNames"] == ["Things"]
        opened = len(made.opened())
        for client in (
            _client(server, "444455556666"),
            _client(server, "mia", secret="wrong"),
            _client(server, "mia", "eu-west-1", "wrong"),
        ):
            with pytest.raises(ClientError, match=r"UnrecognizedClient|InvalidSignature"):
                client.list_tables()
        # Nothing is opened for who could not say who he is.
        assert len(made.opened()) == opened


def test_accounts_are_files_beside_each_other_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    for _ in range(2):
        with Accounts(path) as made:
            for account in (HOME_ACCOUNT, OTHER):
                engine = made.engine(account, "us-east-1")
                names = engine.call("ListTables", {})["TableNames"]
                if not names:
                    engine.call("CreateTable", TABLE)
    assert names == ["Things"]
    files = {each.name for each in tmp_path.glob("*.db")}
    assert files == {"data.us-east-1.db", f"data.{OTHER}.us-east-1.db"}


def test_a_server_has_so_many_accounts_and_no_more(
    made: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "MOST_ACCOUNTS", 2)
    with _server(made) as server:
        assert _client(server, OTHER).list_tables()["TableNames"] == []
        with pytest.raises(ClientError, match="LimitExceeded"):
            _client(server, "999999999999").list_tables()
    with pytest.raises(LimitExceeded):
        made.engine("999999999999", "us-east-1")


def test_an_account_is_a_number(made: Accounts) -> None:
    with pytest.raises(ValueError, match="twelve digits"):
        made.engine("mia", "us-east-1")


def test_what_expires_goes_in_every_account_and_region() -> None:
    clock = ManualClock()
    with Accounts(clock=clock) as made:
        engines = [made.engine(OTHER, "eu-west-1"), made.engine(HOME_ACCOUNT, "us-east-1")]
        for engine in engines:
            engine.call("CreateTable", TABLE)
            ttl = {"Enabled": True, "AttributeName": "gone"}
            engine.call("UpdateTimeToLive", {"TableName": "Things", "TimeToLiveSpecification": ttl})
            item = {"pk": {"S": "a"}, "gone": {"N": str(int(clock.now()) + 1)}}
            engine.call("PutItem", {"TableName": "Things", "Item": item})
        clock.advance(10)
        swept = Sweeper(engines[1], 0.01)
        for engine in engines:
            while engine.call("Scan", {"TableName": "Things"})["Items"]:
                pass
        swept.stop()


def test_accounts_are_served_by_one_worker() -> None:
    with pytest.raises(settings.ServeError, match="--accounts needs --workers 1"):
        ServerSettings(accounts=True, workers=2).check()


def test_without_the_option_all_callers_share_the_tables(made: Accounts) -> None:
    home = made.engine(HOME_ACCOUNT, "us-east-1")
    home.call("CreateTable", TABLE)
    with BackgroundServer(home, ServerSettings(port=0)) as server:
        assert _client(server, OTHER).list_tables()["TableNames"] == ["Things"]
    with pytest.raises(TableNotFound):
        made.engine(OTHER, "us-east-1").call("DescribeTable", {"TableName": "Things"})
