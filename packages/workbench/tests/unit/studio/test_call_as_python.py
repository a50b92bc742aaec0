"""The call that is copied from a run is a program: it is run here, against a server."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from starlette.testclient import TestClient

from keyfold import Design, Entity, Id, Key, Query
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

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
