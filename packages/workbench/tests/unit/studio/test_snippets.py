"""What is copied from a run is a program: each is run here, against a server."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import boto3
import pytest
from starlette.testclient import TestClient

from keyfold import Design, Entity, Id, Key, Merge, Query, each, merge
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clients.recorder import SentRequest
from keyfold_engine.engine import Engine
from keyfold_workbench.studio import Gate, StudioSystem, create_studio
from keyfold_workbench.studio.snippets import aws_command, boto3_code
from keyfold_engine.wire import BackgroundServer

rides = Design("rides")
table = rides.table("Rides")


class Weather(StrEnum):
    DRY = "dry"
    WET = "wet"


class Ride(Entity, table=table):
    """One ride."""

    rider_id: Id
    started: datetime
    weather: Weather = Weather.DRY
    fare: Decimal = Decimal(0)
    key = Key("RIDER#{rider_id}", "{started:iso}")


@rides.pattern(requests=1)
def dear_rides(rider_id: str, started: datetime, weather: Weather, least: Decimal) -> Query[Ride]:
    """The rides of somebody since a time, in some weather, that cost something."""
    found = Ride.key.query(rider_id=rider_id).since(started=started)
    return found.where(lambda ride: (ride.weather == weather) & (ride.fare >= least))


@rides.pattern()
def of_riders(rider_ids: list[str], limit: int = 5) -> Merge[Ride]:
    """The rides of several people."""
    return merge(Ride.key.query(rider_id=each(rider_ids))).limit(limit)


@pytest.fixture
def system() -> Iterator[StudioSystem]:
    with Engine.open(":memory:") as engine, BackgroundServer(engine) as server:
        db = rides.open(EmbeddedClient(engine), table_prefix="old-", create_tables=True)
        for rider in ("ada", 'it\'s "ben"'):
            db.put(Ride(rider_id=rider, started=datetime(2026, 5, 1, tzinfo=UTC), fare=Decimal(7)))
        yield StudioSystem(
            "rides",
            "Rides",
            rides.schema,
            db.client,
            "rides.db",
            writable=True,
            address=server.url,
            design=rides,
            table_prefix="old-",
        )


def copied(system: StudioSystem, pattern: str, **given: str) -> dict[str, str]:
    """The programs that the page of a run offers, by the names of their tabs."""
    gate = Gate(token="a-token")
    with TestClient(create_studio([system], gate), base_url="http://127.0.0.1:8090") as browser:
        browser.get("/?token=a-token")
        page = browser.get(f"/s/rides/patterns/{pattern}", params={**given, "run": "1"}).text
    names = re.findall(r'aria-controls="code-\d"[^>]*>([^<]*)<', page)
    code = re.findall(r'id="code-\d"[^>]*><pre[^>]*>(.*?)</pre>', page, re.DOTALL)
    texts = [html.unescape(re.sub(r"<[^>]+>", "", one)) for one in code]
    return dict(zip(names, texts, strict=True))


def ran(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(program, names)
    return names


ONE = {
    "rider_id": 'it\'s "ben"',
    "started": "2026-04-30T12:00:00Z",
    "weather": "dry",
    "least": "6.5",
}


def test_python_runs_with_times_choices_and_decimals(system: StudioSystem) -> None:
    names = ran(copied(system, "dear_rides", **ONE)["Python"])
    assert [ride.rider_id for ride in names["answer"].items] == ['it\'s "ben"']
    names["db"].close()


def test_boto3_reads_the_same(system: StudioSystem) -> None:
    answer = ran(copied(system, "dear_rides", **ONE)["boto3"])["answer"]
    assert [item["PK"]["S"] for item in answer["Items"]] == ['RIDER#it\'s "ben"']


def test_every_request_of_a_call_is_copied(system: StudioSystem) -> None:
    found = copied(system, "of_riders", rider_ids='ada, it\'s "ben"')
    answers = ran(found["boto3"])["answers"]
    assert [answer["Count"] for answer in answers] == [1, 1]
    assert found["aws"].count("aws dynamodb query") == 2


def test_the_shell_gets_the_request_and_the_server(system: StudioSystem) -> None:
    words = shlex.split(copied(system, "dear_rides", **ONE)["aws"].replace("\\\n", ""))
    assert words[:5] == [
        "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "aws", "dynamodb", "query",
    ]  # fmt: skip
    given = dict(zip(words[5::2], words[6::2], strict=True))
    client = boto3.client(
        "dynamodb",
        region_name=given["--region"],
        endpoint_url=given["--endpoint-url"],
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    assert client.query(**json.loads(given["--cli-input-json"]))["Count"] == 1


def test_a_file_is_served_first_and_amazon_has_its_own_credentials(system: StudioSystem) -> None:
    sent = [SentRequest("GetItem", {"TableName": "t", "Key": {"id": {"B": "AP8="}}})]
    system.address = "/data/my rides.db"
    served = "# Serve the file first: keyfold serve --data '/data/my rides.db'\n"
    assert boto3_code(system, sent).startswith(served)
    assert "endpoint_url='http://127.0.0.1:8000'" in boto3_code(system, sent)
    assert r"{'B': b'\x00\xff'}" in boto3_code(system, sent)
    assert aws_command(system, sent).startswith(served)
    system.address = "dynamodb://eu-west-1?profile=work"
    assert "boto3.Session(profile_name='work').client(" in boto3_code(system, sent)
    assert "aws_access_key_id" not in boto3_code(system, sent)
    assert aws_command(system, sent).startswith(
        "aws dynamodb get-item --region eu-west-1 --profile work"
    )
