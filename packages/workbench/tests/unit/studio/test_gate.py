"""Who gets into the studio, and what may be done to it from elsewhere."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from keyfold_workbench.studio import Gate, StudioSystem, create_studio

from .conftest import TOKEN

ORIGIN = {"origin": "http://127.0.0.1:8090"}


def test_without_the_token_nothing_is_shown(stranger: TestClient) -> None:
    for path in ("/", "/s/clubs/data", "/s/clubs/data?table=Clubs&pk=CLUB%23c1"):
        answer = stranger.get(path)
        assert answer.status_code == 401
        assert "Chess" not in answer.text


def test_a_wrong_token_lets_nobody_in(stranger: TestClient) -> None:
    assert stranger.get("/?token=guess").status_code == 401
    assert stranger.get("/").status_code == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    answer = stranger.get(f"/s/clubs/data?entity=Club&token={TOKEN}", follow_redirects=False)
    assert answer.headers["location"] == "/s/clubs/data?entity=Club"
    cookie = answer.headers["set-cookie"].lower()
    assert TOKEN not in cookie
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "Rowing" in stranger.get(answer.headers["location"]).text


def test_two_studios_of_one_machine_do_not_take_each_others_cookie(system: StudioSystem) -> None:
    names: list[str] = []
    for port in (8090, 8091):
        app = create_studio([system], Gate(token=TOKEN))
        client = TestClient(app, base_url=f"http://127.0.0.1:{port}")
        assert client.get(f"/?token={TOKEN}").status_code == 200
        names += client.cookies.keys()
    assert names == ["keyfold_studio_8090", "keyfold_studio_8091"]


def test_the_address_of_a_form_says_where_to_go_when_it_is_opened_alone(
    browser: TestClient,
) -> None:
    answer = browser.get("/s/clubs/plan")
    assert answer.status_code == 404
    assert "No page has the address /s/clubs/plan." in answer.text
    assert answer.headers["content-security-policy"]


def test_another_host_name_is_refused(browser: TestClient) -> None:
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 421


def test_pages_allow_scripts_and_styles_of_their_own_only(browser: TestClient) -> None:
    answer = browser.get("/s/clubs/data?entity=Club")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert not re.search(r"<script(?! src=)| style=| on\w+=", answer.text)


def test_assets_need_no_cookie_and_nothing_else_is_served_from_there(stranger: TestClient) -> None:
    for name in ("colours.css", "studio.css", "studio.js"):
        assert stranger.get(f"/assets/{name}").status_code == 200
    for name in ("__init__.py", "../app.py", "..%2fapp.py"):
        assert "def " not in stranger.get(f"/assets/{name}").text


def test_with_a_password_people_sign_in_and_the_token_opens_nothing(system: StudioSystem) -> None:
    gate = Gate(token=TOKEN, password="correct horse battery")
    client = TestClient(create_studio([system], gate), base_url="http://studio.example")
    origin = {"origin": "http://studio.example"}
    assert client.get(f"/?token={TOKEN}").status_code == 401
    wrong = client.post("/sign-in", data={"password": "wrong"}, headers=origin)
    assert wrong.status_code == 401
    elsewhere = {"origin": "http://evil.example"}
    right = {"password": "correct horse battery"}
    assert client.post("/sign-in", data=right, headers=elsewhere).status_code == 403
    assert "1 system" in client.post("/sign-in", data=right, headers=origin).text


def test_guessing_a_password_is_stopped(system: StudioSystem) -> None:
    gate = Gate(password="correct horse battery")
    client = TestClient(create_studio([system], gate), base_url="http://studio.example")
    origin = {"origin": "http://studio.example"}
    for _ in range(10):
        client.post("/sign-in", data={"password": "guess"}, headers=origin)
    right = {"password": "correct horse battery"}
    assert client.post("/sign-in", data=right, headers=origin).status_code == 401


@pytest.mark.parametrize("kept", [200])
def test_old_sessions_are_forgotten(stranger: TestClient, gate: Gate, kept: int) -> None:
    for _ in range(kept + 5):
        stranger.get(f"/?token={TOKEN}", follow_redirects=False)
    assert len(gate._sessions) == kept


def test_the_token_can_be_typed_and_a_wrong_one_is_said_to_be_wrong(stranger: TestClient) -> None:
    page = stranger.get("/")
    assert page.status_code == 401
    assert 'name="token"' in page.text
    wrong = stranger.get("/?token=nonsense")
    assert "This is not the token of this studio." in wrong.text
    assert stranger.get(f"/?token={TOKEN}").status_code == 200
