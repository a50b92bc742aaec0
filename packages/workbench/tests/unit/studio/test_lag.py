"""How far behind consumers are: measured while somebody looks, drawn as it was."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import pytest
from starlette.testclient import TestClient

from keyfold import Db
from keyfold.errors import Unavailable
from keyfold.streams import Consumer
from keyfold_workbench.studio import lag
from keyfold_workbench.studio.lag import LagSample, LagSamples, lag_panel

from .conftest import Club
from .test_data import words


def lines(samples: Sequence[LagSample]) -> list[str]:
    return re.findall(r'd="([^"]*)" class="line"', lag_panel("Behind", samples))


def test_each_look_measures_and_sees_what_was_measured_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lag, "EVERY", 0.01)
    given = iter([1.0, 2.0, 3.0])
    samples = LagSamples(lambda: next(given, 0.0))
    assert [one.seconds for one in samples.look()] == [1.0]
    deadline = time.monotonic() + 30
    while len(seen := samples.look()) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [one.seconds for one in seen[:4]] == [1.0, 2.0, 3.0, 0.0]


def test_a_backend_that_does_not_answer_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure() -> float:
        raise Unavailable("away")

    assert LagSamples(measure).look() == []
    assert "Nothing to measure yet" in words(lag_panel("Behind", []))
    now = time.time()
    known = [LagSample(now - 60 + at, 1.0) for at in (0, 1, 30, 31)]
    assert len(lines(known)) == 2


def test_the_scale_holds_the_longest_lag() -> None:
    now = time.time()
    page = lag_panel("Behind", [LagSample(now - 2, 0.4), LagSample(now - 1, 7.0)])
    assert re.findall(r'<text x="30"[^>]*>([^<]*)<', page) == ["0", "5", "10"]
    assert "at most 7.0 s" in words(page)
    (line,) = lines([LagSample(now, 10.0)])
    assert line == "M426.0 8.0"


def test_the_streams_page_draws_the_lag_and_gives_its_live_parts_alone(
    browser: TestClient, db: Db
) -> None:
    db.update(Club.key(club_id="c2"), name="Sculling")
    Consumer(db).run_once()
    page = browser.get("/s/clubs/streams").text
    assert 'class="chart"' in page
    lasting = re.findall(r'id="(\w+)" data-live class="stack"', page)
    assert sorted(lasting) == ["changes", "figures", "keepers"]
    part = browser.get("/s/clubs/streams", headers={"X-Part": "figures keepers"}).text
    assert re.findall(r'id="(\w+)" data-live class="stack"', part) == ["figures", "keepers"]
    assert "<html" not in part


def test_the_rate_is_what_consumers_settled_lately(browser: TestClient, db: Db) -> None:
    assert "Rate – records/s" in words(browser.get("/s/clubs/streams").text)
    for number in range(40):
        db.update(Club.key(club_id="c2"), name=f"Rowing {number}")
    Consumer(db).drain()
    page = words(browser.get("/s/clubs/streams").text)
    found = re.search(r"Rate ([\d,]+) records/s", page)
    assert found is not None
    assert int(found[1].replace(",", "")) > 0
