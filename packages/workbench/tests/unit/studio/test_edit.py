"""Changing items: the plan first, then just that."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from keyfold import Db
from keyfold_workbench.studio import StudioSystem

from .conftest import SCRIPT, CityClub, Club, Member
from .test_data import words
from .test_gate import ORIGIN

CLUB = "/s/clubs/edit?table=Clubs&pk=CLUB%23c2&sk=CLUB"


def form(page: str, action: str) -> dict[str, Any]:
    """What a browser sends of the first form that goes there; boxes of one name are a list."""
    found = re.search(rf'<form action="{re.escape(action)}(?:#plan)?".*?</form>', page, re.DOTALL)
    assert found is not None, f"no form goes to {action}"
    boxes = r"<input[^>]*>|<textarea[^>]*>.*?</textarea>|<select[^>]*>.*?</select>"
    fields: dict[str, list[str]] = {}
    for tag in re.findall(boxes, found[0], re.DOTALL):
        given = {k: html.unescape(v) for k, v in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        if tag.startswith("<textarea"):
            given["value"] = html.unescape(re.sub(r"</?textarea[^>]*>", "", tag))
        if tag.startswith("<select"):
            chosen = re.search(r'<option value="([^"]*)" selected', tag)
            given["value"] = chosen[1] if chosen else ""
        off = given.get("type") == "checkbox" and not re.search(r"\bchecked\b", tag)
        if "name" in given and not off:
            fields.setdefault(given["name"], []).append(given.get("value", ""))
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in fields.items()}


def post(browser: TestClient, path: str, fields: dict[str, Any]) -> Any:
    return browser.post(path, data=fields, headers=ORIGIN)


def planned(browser: TestClient, page: str = CLUB, verb: str = "update", **typed: str) -> str:
    fields = form(browser.get(page).text, "/s/clubs/plan") | {"verb": verb}
    fields |= {f"f-{name}": value for name, value in typed.items()}
    answer = post(browser, "/s/clubs/plan", fields)
    assert answer.status_code == 200
    return str(answer.text)


def send(browser: TestClient, page: str) -> str:
    return str(post(browser, "/s/clubs/send", form(page, "/s/clubs/send")).text)


def test_a_plan_shows_every_item_with_old_and_new_and_sends_nothing(
    browser: TestClient, db: Db
) -> None:
    page = words(planned(browser, name="Sculling"))
    assert "Transaction 2 of 100 items" in page
    assert "1 Update Cl Club CLUB# c2 › CLUB" in page
    assert "2 Update CC CityClub CITY# rome › CLUB# c2" in page
    assert page.count("Rowing → Sculling") == 2
    assert "version 1 → 2" in page
    assert "only if it exists, version = 1" in page
    assert "Write units 4 4 table, 0 indexes" in page
    assert db.get(Club.key(club_id="c2")).name == "Rowing"


def test_what_was_planned_is_sent_and_can_be_undone_by_a_plan(browser: TestClient, db: Db) -> None:
    done = send(browser, planned(browser, name="Sculling"))
    assert "Sent: 2 items in TransactWriteItems, 4 units." in words(done)
    assert db.get(CityClub.key(city_id="rome", club_id="c2")).name == "Sculling"
    back = post(browser, "/s/clubs/plan", form(done, "/s/clubs/plan")).text
    assert "Sculling → Rowing" in words(back)
    send(browser, back)
    assert db.get(CityClub.key(city_id="rome", club_id="c2")).name == "Rowing"


def test_somebody_who_was_faster_is_shown_as_a_difference(browser: TestClient, db: Db) -> None:
    plan = planned(browser, name="Sculling")
    db.update(Club.key(club_id="c2"), city_ids={"rome", "oslo"})
    page = send(browser, plan)
    assert "Your change was not written" in words(page)
    assert "name Rowing Rowing Sculling keeps yours" in words(page)
    assert "city_ids rome oslo, rome rome takes theirs" in words(page)
    again = re.findall(r'<form action="/s/clubs/plan".*?</form>', page, re.DOTALL)[-1]
    replanned = post(browser, "/s/clubs/plan", form(again, "/s/clubs/plan")).text
    send(browser, replanned)
    stored = db.get(Club.key(club_id="c2"))
    assert (stored.name, stored.city_ids) == ("Sculling", {"rome", "oslo"})


def test_without_a_version_the_changed_fields_must_be_as_read(browser: TestClient, db: Db) -> None:
    member = "/s/clubs/edit?table=Clubs&pk=CLUB%23c1&sk=MEMBER%23m1"
    plan = planned(browser, member, name="Grace")
    db.update(Member.key(club_id="c1", member_id="m1"), name="Alan")
    assert "Your change was not written" in words(send(browser, plan))
    assert db.get(Member.key(club_id="c1", member_id="m1")).name == "Alan"


def test_an_item_is_created_with_all_that_follows(browser: TestClient, db: Db) -> None:
    page = "/s/clubs/new?entity=Member"
    plan = planned(browser, page, verb="create", club_id="c2", member_id="m9", name=SCRIPT)
    assert SCRIPT not in plan
    assert "Put Me Member CLUB# c2 › MEMBER# m9" in words(plan)
    assert "members 0 → 1" in words(plan)
    send(browser, plan)
    assert db.get(Club.key(club_id="c2")).members == 1
    again = planned(browser, page, verb="create", club_id="c2", member_id="m9", name="x")
    assert "exists already. Your change was not written" in words(again)


def test_an_item_is_deleted_with_its_copies_and_comes_back(browser: TestClient, db: Db) -> None:
    plan = planned(browser, verb="delete")
    assert "Delete CC CityClub" in words(plan)
    done = send(browser, plan)
    assert db.find(Club.key(club_id="c2")) is None
    assert db.find(CityClub.key(city_id="rome", club_id="c2")) is None
    send(browser, post(browser, "/s/clubs/plan", form(done, "/s/clubs/plan")).text)
    assert db.get(CityClub.key(city_id="rome", club_id="c2")).name == "Rowing"


def test_a_value_that_cannot_be_is_refused_at_its_field(browser: TestClient) -> None:
    page = "/s/clubs/new?entity=Member"
    refused = planned(browser, page, verb="create", club_id="c2", member_id="a#b", name="x")
    assert "delimiter" in words(refused)
    assert "Send 1" not in words(refused)


def test_an_id_that_was_left_out_is_asked_for_at_its_field(browser: TestClient) -> None:
    page = words(planned(browser, "/s/clubs/new?entity=Club", "create", club_id="", name="x"))
    assert "club_id string Give club_id." in page


def test_nothing_to_change_is_no_plan(browser: TestClient) -> None:
    page = words(planned(browser))
    assert "No value would change" in page
    assert "Send" not in page


def test_a_plan_that_changed_is_shown_again_instead_of_sent(browser: TestClient, db: Db) -> None:
    fields = form(planned(browser, name="Sculling"), "/s/clubs/send") | {"digest": "other"}
    page = words(post(browser, "/s/clubs/send", fields).text)
    assert "The plan changed since you saw it" in page
    assert db.get(Club.key(club_id="c2")).name == "Rowing"


def test_a_copy_is_edited_by_its_canonical(browser: TestClient) -> None:
    answer = browser.get("/s/clubs/edit?table=Clubs&pk=CITY%23rome&sk=CLUB%23c2")
    assert "edit its canonical, the Club" in words(answer.text)


@pytest.mark.parametrize("path", ["/s/clubs/plan", "/s/clubs/send"])
def test_changes_come_from_this_page_and_this_browser_only(
    browser: TestClient, db: Db, path: str
) -> None:
    fields = form(planned(browser, name="Sculling"), "/s/clubs/send")
    assert browser.post(path, data=fields).status_code == 403
    elsewhere = {"origin": "http://127.0.0.1:9999"}
    assert browser.post(path, data=fields, headers=elsewhere).status_code == 403
    crossing = {**ORIGIN, "sec-fetch-site": "same-site"}
    assert browser.post(path, data=fields, headers=crossing).status_code == 403
    assert post(browser, path, fields | {"csrf": "0" * 64}).status_code == 403
    browser.cookies.clear()
    assert post(browser, path, fields).status_code == 401
    assert db.get(Club.key(club_id="c2")).name == "Rowing"


def test_a_read_only_system_shows_and_refuses(
    browser: TestClient, system: StudioSystem, db: Db
) -> None:
    plan = form(planned(browser, name="Sculling"), "/s/clubs/send")
    system.writable = False
    assert "disabled" in browser.get(CLUB).text
    for path in ("/s/clubs/plan", "/s/clubs/send"):
        assert post(browser, path, plan).status_code == 403
    assert db.get(Club.key(club_id="c2")).name == "Rowing"
