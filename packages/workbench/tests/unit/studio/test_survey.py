"""The look at the tables: who waits for it, and when it is taken again."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from keyfold import Db
from keyfold_engine.clients.recorder import ReadLimits, RecordedClient
from keyfold_workbench.cost import loads
from keyfold_workbench.studio import StudioSystem, streams, survey
from keyfold_workbench.studio import system as systems

from .conftest import Club, design
from .test_review import WORKLOAD
from .test_slow_backend import Slow


def test_what_has_grown_old_is_shown_while_it_is_renewed(
    system: StudioSystem, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "FRESH_SECONDS", 0.0)
    system.client = slow = Slow(db.client)
    slow.answers.set()
    assert system.survey.tables(60.0)["Clubs"].count("Club") == 2
    db.create(Club(club_id="c3", name="Judo"))
    slow.answers.clear()
    assert system.survey.tables(60.0)["Clubs"].count("Club") == 2, "nobody waits for the backend"
    slow.answers.set()
    deadline = time.monotonic() + 30
    while system.survey.tables()["Clubs"].count("Club") == 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert system.survey.tables()["Clubs"].count("Club") == 3


def test_a_page_after_a_write_waits_for_what_was_written(system: StudioSystem, db: Db) -> None:
    assert system.survey.tables(60.0)["Clubs"].count("Club") == 2
    db.create(Club(club_id="c3", name="Judo"))
    system.survey.forget()
    assert system.survey.tables(60.0)["Clubs"].count("Club") == 3


def test_a_write_into_a_large_table_does_not_read_its_first_pages_again(
    system: StudioSystem, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "PAGES", 1)
    for number in range(3_000):
        held = {"PK": {"S": f"CLUB#x{number}"}, "SK": {"S": "CLUB"}, "name": {"S": "x" * 999}}
        db.client.call("PutItem", {"TableName": "Clubs", "Item": held})
    counted = RecordedClient(db.client, ReadLimits(requests=1_000, units=1e6, seconds=600))
    looked = replace(system, client=counted).survey
    assert not looked.tables(60.0)["Clubs"].complete
    db.create(Club(club_id="c3", name="Judo"))
    looked.forget()
    assert looked.tables(60.0)["Clubs"].items > 3_000
    assert [one.operation for one in counted.requests].count("Scan") == 1


def test_a_streams_page_that_is_left_open_reads_the_consumers_once_for_all(
    browser: TestClient, system: StudioSystem, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "SAMPLED", 3_600.0)
    counted = RecordedClient(db.client, ReadLimits(requests=10_000, units=1e6, seconds=600))
    system.client = counted
    monkeypatch.setattr(system.lag, "look", list)
    assert browser.get("/s/clubs/streams").status_code == 200
    before = len(counted.requests)
    for _ in range(5):
        part = browser.get("/s/clubs/streams", headers={"X-Part": "figures keepers"})
        assert "Dead letters" in part.text
    assert len(counted.requests) == before, "the samples of the chart are enough"


def test_the_bill_of_the_workload_as_it_is_is_reckoned_once(
    browser: TestClient, system: StudioSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    system.workload = loads(WORKLOAD, design.schema)
    first = browser.get("/s/clubs/review").text

    def reckoned(*_: object) -> None:
        raise AssertionError("it is known")

    monkeypatch.setattr(systems, "bill", reckoned)
    assert browser.get("/s/clubs/review").text == first
