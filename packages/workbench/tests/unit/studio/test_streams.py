"""Drift, its repair, dead letters and the map, as pages."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from keyfold import Db
from keyfold.design.file import loads
from keyfold.streams import Consumer, letters
from keyfold_workbench.studio import Gate, StudioSystem, change_log, create_studio
from keyfold_workbench.studio.palette import Palette

from .conftest import TOKEN, CityClub, Club, design
from .test_data import words
from .test_edit import form, post


def write_past_the_design(db: Db) -> None:
    """What a program without the design could do to a copy."""
    db.client.call(
        "UpdateItem",
        {
            "TableName": "Clubs",
            "Key": {"PK": {"S": "CITY#rome"}, "SK": {"S": "CLUB#c2"}},
            "UpdateExpression": "SET #n = :n",
            "ExpressionAttributeNames": {"#n": "name"},
            "ExpressionAttributeValues": {":n": {"S": "Rowing (drifted)"}},
        },
    )


def test_a_drift_is_found_shown_and_repaired(browser: TestClient, db: Db) -> None:
    write_past_the_design(db)
    copy = browser.get("/s/clubs/data?table=Clubs&pk=CITY%23rome&isk=CLUB%23c2").text
    assert "stale: name" in words(copy)
    page = browser.get("/s/clubs/streams").text
    found = post(browser, "/s/clubs/verify", form(page, "/s/clubs/verify")).text
    assert "Last verify 1 difference" in words(found)
    assert "(drifted) →" in words(found)
    assert "overwrite it with the expected values" in words(found)
    assert "Wire request" in words(found)
    again = browser.get("/").text
    assert "1 difference in" in words(again)
    fields = form(found, "/s/clubs/repair")
    done = post(browser, "/s/clubs/repair", fields).text
    assert "1 repaired, 0 left; verified again." in words(done)
    assert "Consistent" in words(done)
    assert db.get(CityClub.key(city_id="rome", club_id="c2")).name == "Rowing"


def test_only_what_is_chosen_and_still_the_same_is_repaired(browser: TestClient, db: Db) -> None:
    write_past_the_design(db)
    page = browser.get("/s/clubs/streams").text
    found = post(browser, "/s/clubs/verify", form(page, "/s/clubs/verify")).text
    fields = form(found, "/s/clubs/repair") | {"drift": "0:another"}
    assert "0 repaired, 0 left" in words(post(browser, "/s/clubs/repair", fields).text)


def test_a_read_only_system_is_verified_and_not_repaired(
    browser: TestClient, system: StudioSystem
) -> None:
    system.writable = False
    page = browser.get("/s/clubs/streams").text
    token = form(page, "/s/clubs/verify")
    assert "Consistent" in words(post(browser, "/s/clubs/verify", token).text)
    assert post(browser, "/s/clubs/repair", token).status_code == 403


def test_dead_letters_are_looked_into_replayed_and_dropped(browser: TestClient, db: Db) -> None:
    state = {"broken": True}

    @design.on(Club, "modify", name="failing")
    def failing(old: Club | None, new: Club | None, delivery: object) -> None:
        if state["broken"]:
            raise ValueError("cannot <b>yet</b>")

    try:
        db.update(Club.key(club_id="c2"), name="Sculling")
        Consumer(db).drain()
        assert len(db.run(letters(db.context))) == 2
        page = browser.get("/s/clubs/streams").text
        assert "ValueError: cannot <b>yet</b>" in words(page)
        assert "CLUB# c2 › CLUB" in words(page), "the item that the record is about"
        assert "name Rowing → Sculling" in words(page), "what the record changed"
        fields = form(page, "/s/clubs/letters")
        refused = post(browser, "/s/clubs/letters", fields | {"act": "replay"})
        assert "The replay failed: ValueError" in words(refused.text)
        assert "Drop…" in words(refused.text), "the letters are still there to decide about"
        state["broken"] = False
        told = post(browser, "/s/clubs/letters", fields | {"act": "replay"}).text
        assert "Replayed 1 dead letter." in words(told)
        assert len(db.run(letters(db.context))) == 1
        other = form(told, "/s/clubs/letters") | {"act": "drop"}
        assert "Dropped 1 dead letter." in words(post(browser, "/s/clubs/letters", other).text)
        assert db.run(letters(db.context)) == []
    finally:
        design.processors.clear()


def test_the_map_says_in_words_what_lies_together_and_what_follows(browser: TestClient) -> None:
    page = browser.get("/s/clubs/map").text
    told = words(page)
    assert "CITY# {city_id} 1 entity CC CityClub 3 CLUB# {club_id}" in told
    assert "copy of Club for each of city_ids" in told
    assert "members counts Member" in told
    assert re.findall(r'data-edge="(\w+)"', page).count("copy") == 1


def test_sixty_entities_have_a_map(db: Db) -> None:
    lines = [f"  E{n}:\n    key: {{PK: 'P{n % 9}#{{id}}', SK: 'E{n}'}}" for n in range(60)]
    schema = loads("design: many\ntables:\n  Clubs: {}\nentities:\n" + "\n".join(lines))
    many = StudioSystem("many", "Many", schema, db.client, "x.db", writable=False)
    client = TestClient(create_studio([many], Gate(token=TOKEN)), base_url="http://localhost")
    client.get(f"/?token={TOKEN}")
    page = client.get("/s/many/map").text
    assert page.count('class="node ') == 60
    assert 'class="map compact quiet"' in page


def test_colours_go_to_what_others_name_and_then_to_what_is_declared_first() -> None:
    names = [f"Kind{letter}" for letter in "ABCDEFGHIJ"]
    lines = [
        f"  {n}:\n    key: {{PK: '{n}#{{kind_{n[-1].lower()}_id}}', SK: '{n}'}}" for n in names
    ]
    lines.append("  Under:\n    key: {PK: 'KindJ#{kind_j_id}', SK: 'U#{under_id}'}")
    schema = loads("design: many\ntables:\n  T: {}\nentities:\n" + "\n".join(lines))
    palette = Palette(schema)
    coloured = [name for name in (*names, "Under") if palette.colour(name) != "e0"]
    assert coloured == [*names[:7], "KindJ"]


def test_changes_are_listed_as_they_happen_with_what_follows(
    browser: TestClient, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_log, "EVERY_SECONDS", 0.0)
    assert "Nothing yet" in words(browser.get("/s/clubs/streams").text)
    db.update(Club.key(club_id="c2"), name="Sculling")
    part = words(browser.get("/s/clubs/streams", headers={"X-Part": "changes"}).text)
    assert re.search(r"\d\d:\d\d:\d\d Cl Club changed CLUB# c2 › CLUB", part)
    assert "name Rowing → Sculling" in part
    assert "Followed by pointer CityClub" in part
    assert "CityClub changed" in part, "a copy is a change of its own"
