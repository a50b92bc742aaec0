"""The main story of every system, done by a person on its pages, starting with empty tables.

They sign in, try the first operation on the REST page as it is shown there, and go on with the
others on the GraphQL page, with the queries that it composes.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest
from graphql import build_client_schema, get_introspection_query, parse, validate
from playwright.sync_api import Page, expect
from starlette.applications import Starlette

from keyfold_demo.systems import find_systems
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following

from .conftest import served


@asynccontextmanager
async def every_system() -> AsyncIterator[Starlette]:
    systems = find_systems()
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(await system.design.open_async(":memory:"))
            for system in systems
        ]
        await stack.enter_async_context(following(opened))
        services = [system.serve(db) for system, db in zip(systems, opened, strict=True)]
        people = {
            service.name: system.users for system, service in zip(systems, services, strict=True)
        }
        yield create_app(services, ApiSettings(development=True, people=people))


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(every_system) as address:
        yield address


class Visitor:
    """Somebody at the pages of one system."""

    def __init__(self, page: Page, site: str, system: str) -> None:
        self._page, self._site, self._system = page, site, system

    def sign_in(self, who: str) -> None:
        """Choose a name in the bar of the start page."""
        self._page.goto(f"{self._site}/")
        with self._page.expect_navigation():
            self._page.select_option("#who", who)
        signed_in = "who => localStorage.getItem('keyfold-user') === who"
        self._page.wait_for_function(signed_in, arg=who)

    def open(self, kind: str) -> None:
        """Follow the system's link on the start page."""
        self._page.goto(f"{self._site}/")
        self._page.click(f"#{self._system} a[href$='/{kind}']")
        self._page.wait_for_url(re.compile(f"/{self._system}/{kind}"))

    def execute(self, operation: str, **path: str) -> Any:
        """Try an operation on the REST page, with the body that it suggests."""
        block = self._page.locator(f".opblock[id$='-{operation}']")
        block.locator(".opblock-summary-control").click()
        for name, value in path.items():
            given = block.locator(f"tr[data-param-name={name}] input")
            given.fill(value)
            given.blur()
        block.locator("button.execute").click()
        answer = block.locator(".live-responses-table tbody tr.response")
        expect(answer.locator(".response-col_status")).to_contain_text(re.compile("20[01]"))
        return json.loads(answer.locator(".highlight-code code").first.inner_text())

    def run(self, operation: str, **variables: Any) -> Any:
        """Choose an operation on the GraphQL page, fill in its variables, run it."""
        page = self._page
        page.fill("#filter", operation)
        page.locator("#schema button", has_text=re.compile(rf"^{operation}[(:]")).click()
        asked = json.loads(page.input_value("#variables"))
        assert asked.keys() == variables.keys()
        page.fill("#variables", json.dumps(asked | variables))
        page.click("#run")
        expect(page.locator("#answer")).to_contain_text(f'"{operation}"')
        answer = json.loads(page.locator("#answer").inner_text())
        assert "errors" not in answer, answer
        return answer["data"][operation]

    def use_token(self, token: str) -> None:
        self._page.locator("details", has=self._page.locator("#token")).evaluate(
            "one => { one.open = true; }"
        )
        self._page.fill("#token", token)


@pytest.fixture
def visit(page: Page, site: str) -> Callable[[str], Visitor]:
    return partial(Visitor, page, site)


def test_a_group_sees_the_hangout_that_it_is_invited_to(visit: Callable[[str], Visitor]) -> None:
    ada = visit("inviter")
    ada.sign_in("ada")
    ada.open("docs")
    assert ada.execute("saveUser", userId="ada")["name"] == "Ada"
    ada.open("graphql")
    group = ada.run("createGroup", name="Sunday runners")["groupId"]
    hangout = ada.run(
        "createHangout",
        input={
            "title": "Sunday run",
            "startTimestamp": "2100-01-03T10:00:00Z",
            "associatedGroups": [group],
        },
    )
    ada.run("respond", hangoutId=hangout["hangoutId"], answer="going")
    (card,) = ada.run("groupUpcoming", groupId=group)["nodes"]
    assert (card["title"], card["myAnswer"]) == ("Sunday run", "going")


def test_a_room_has_what_was_found_and_what_all_look_for(visit: Callable[[str], Visitor]) -> None:
    mia = visit("search-room")
    mia.sign_in("mia")
    mia.open("docs")
    room = mia.execute("createRoom")["roomId"]
    mia.open("graphql")
    found = {"sourceBrand": "homegate", "externalId": "4001", "title": "Bright flat"}
    mia.run("addListing", roomId=room, input=found)
    wishes = {"criteria": {"price": {"max": 2500}, "location": ["Bern"]}}
    mia.run("saveCriteria", roomId=room, input=wishes)
    mia.run("combineCriteria", roomId=room, combineMode="mixed")
    (listing,) = mia.run("listings", roomId=room)["nodes"]
    assert (listing["title"], listing["status"]) == ("Bright flat", "UNSEEN")
    wishes = mia.run("wishes", roomId=room)
    assert wishes["combined"]["criteria"]["location"] == ["Bern"]
    (member,) = mia.run("members", roomId=room)
    assert member["userId"] == "mia"


def test_a_post_is_liked_and_counted(visit: Callable[[str], Visitor]) -> None:
    ada = visit("tama-friends")
    ada.sign_in("ada")
    ada.open("docs")
    assert ada.execute("createProfile")["userId"] == "ada"
    ada.open("graphql")
    post = ada.run("createPost", input={"text": "Look what hatched today!"})["postId"]
    ada.run("like", postId=post)
    (shown,) = ada.run("posts", userId="ada")["nodes"]
    assert (shown["postId"], shown["text"]) == (post, "Look what hatched today!")
    (liked,) = ada.run("likedPosts", userId="ada")["nodes"]
    assert liked["author"]["userId"] == "ada"


def test_a_feed_has_what_the_followed_do(visit: Callable[[str], Visitor]) -> None:
    person = visit("gg-core")
    person.sign_in("ben")
    person.open("graphql")
    ben = {"nickname": "ben", "email": "ben@example.org", "fullName": "Ben Okafor"}
    person.run("createUser", input=ben)
    person.run("postActivity", input={"previewText": "Ran ten kilometres."})
    person.sign_in("ada")
    person.open("docs")
    assert person.execute("createUser")["userId"] == "ada"
    person.open("graphql")
    person.run("followUser", followeeId="ben")
    (entry,) = person.run("feed", userId="ada")["nodes"]
    assert entry["previewText"] == "Ran ten kilometres."
    assert entry["actorName"] == "Ben Okafor"


def test_a_season_is_sold_and_reported(visit: Callable[[str], Visitor]) -> None:
    mara = visit("sellers")
    mara.sign_in("u-mara")
    mara.open("docs")
    profile = mara.execute("createSellerProfile")["profileId"]
    mara.open("graphql")
    mint = {"productId": "mint", "productName": "Thin mint", "price": "5.50"}
    cookies = {"catalogName": "Cookies", "products": [mint]}
    catalog = mara.run("createCatalog", input=cookies)["catalogId"]
    spring = {"seasonName": "Spring", "startDate": "2030-03-01"}
    season = mara.run("createSeason", input={"profileId": profile, "catalogId": catalog, **spring})[
        "seasonId"
    ]
    line = {"productId": "mint", "quantity": 3}
    mara.run(
        "createOrder",
        input={
            "seasonId": season,
            "customerName": "Ms. Doe",
            "lineItems": [line],
            "paymentMethod": "CASH",
            "orderDate": "2030-03-02",
        },
    )
    report = mara.run("requestSeasonReport", seasonId=season)
    assert ",Thin mint,3,5.50,16.50,CASH," in b64decode(report["content"]).decode()


def test_every_query_that_the_pages_compose_can_be_asked(
    visit: Callable[[str], Visitor], page: Page, site: str
) -> None:
    page.goto(f"{site}/")
    systems = page.locator("section.card").evaluate_all("cards => cards.map(card => card.id)")
    assert len(systems) == 5
    for system in systems:
        visit(system).open("graphql")
        page.locator("#schema button").first.wait_for()
        queries = page.evaluate(
            """() => [...document.querySelectorAll('#schema button')].map(button => {
                button.click();
                return document.getElementById('query').value;
            })"""
        )
        described = page.evaluate(
            """async query => {
                const token = document.getElementById('token').value;
                const headers = { 'content-type': 'application/json' };
                if (token) headers.authorization = `Bearer ${token}`;
                const body = JSON.stringify({ query });
                const options = { method: 'POST', headers, body };
                return (await fetch(location.pathname, options)).json();
            }""",
            get_introspection_query(),
        )
        schema = build_client_schema(described["data"])
        wrong = [error.message for one in queries for error in validate(schema, parse(one))]
        assert wrong == [], system
