"""Inviter's page as friends use it: a hangout planned, answered and changed while others look."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.service import Inviter
from keyfold_systems.inviter.views import NewHangout
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following

from .conftest import served

PEOPLE = [
    Identity.of("ada", name="Ada Lang"),
    Identity.of("ben", name="Ben Okafor"),
    Identity.of("cleo", name="Cleo Martin"),
]
NAMES = {one.id: one.name for one in PEOPLE}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db, following([db]):
            service = Inviter(db)
            for one in PEOPLE:
                await service.save_user(one.id, one.name)
            swimmers = await service.create_group("Lake swimmers", PEOPLE[0])
            await service.join_group(swimmers.group_id, PEOPLE[1])
            climbers = await service.create_group("Climbers", PEOPLE[0])
            await service.join_group(climbers.group_id, PEOPLE[2])
            far = NewHangout(
                title="Next summer",
                start_timestamp=db.context.now() + timedelta(days=200),
                associated_groups=[climbers.group_id],
            )
            await service.create_hangout(far, PEOPLE[0])
            people = {service.name: PEOPLE}
            yield create_app([service], ApiSettings(development=True, people=people))

    with served(opened) as address:
        yield address


def visit(page: Page, site: str, who: str, place: str = "", theme: str = "light") -> Page:
    page.goto(f"{site}/inviter/app/?theme={theme}")
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    # Older tests of other towns know these people by other names.
    expect(page.locator("#who .clip")).not_to_have_text("Sign in")
    page.goto(f"{site}/inviter/app/?theme={theme}#/{place}")
    return page


def plan(page: Page, title: str, group: str = "", person: str = "") -> None:
    page.get_by_role("button", name="Plan a hangout").click()
    page.fill("#title", title)
    page.fill("#location", "North pier")
    for one in (group, person):
        if one:
            page.locator("#plan").get_by_label(one).check()
    page.get_by_role("button", name="Invite them").click()
    expect(page.locator("h1")).to_have_text(title)


def test_friends_plan_answer_and_see_each_other_live(
    page: Page, browser: Browser, site: str
) -> None:
    ben = visit(browser.new_page(viewport={"width": 390, "height": 800}), site, "ben")
    cleo = visit(browser.new_page(), site, "cleo")
    ada = visit(page, site, "ada")
    plan(ada, "Swim before work", "Lake swimmers", "Cleo Martin")
    for one in (ben, cleo):
        one.locator("a.event", has_text="Swim before work").click()
        expect(one.locator("h1")).to_have_text("Swim before work")
    ben.get_by_role("button", name="Going", exact=True).click()
    cleo.get_by_role("button", name="Maybe").click()
    expect(ada.locator("#tally")).to_have_text("1going1maybe0can’t")
    expect(ada.locator(".single")).to_contain_text("Cleo Martin")

    ada.get_by_role("button", name="Change it or invite").click()
    ada.fill("#title", "Swim after work")
    ada.locator("#plan").get_by_label("Cleo Martin").uncheck()
    ada.get_by_role("button", name="Save").click()
    expect(ben.locator("h1")).to_have_text("Swim after work")
    expect(ada.locator("#tally")).to_have_text("1going0maybe0can’t")
    cleo.goto(f"{site}/inviter/app/#/")
    expect(cleo.locator("#calendar .month")).to_be_visible()
    expect(cleo.locator("a.event", has_text="Swim")).to_have_count(0)

    ada.once("dialog", lambda asked: asked.accept())
    ada.get_by_role("button", name="Delete the hangout").click()
    expect(ada.locator("h1")).to_have_text("Calendar")
    expect(ada.locator("a.event", has_text="Swim after work")).to_have_count(0)
    for one in (ben, cleo):
        one.close()


def test_what_is_far_away_stands_below_the_calendar(page: Page, site: str) -> None:
    visit(page, site, "cleo")
    expect(page.locator("#calendar .panel")).to_contain_text("Next summer")
    visit(page, site, "ben")
    expect(page.locator("#calendar .month")).to_be_visible()
    expect(page.locator("#calendar .panel")).to_have_count(0)
    stray = "one => [...one.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE).length"
    assert page.locator("#calendar").evaluate(stray) == 0


def test_a_group_is_created_and_a_friend_comes_by_its_link(
    page: Page, browser: Browser, site: str
) -> None:
    ada = visit(page, site, "ada", "groups")
    ada.get_by_role("button", name="New group").click()
    ada.fill("#group-name", "Night walkers")
    ada.get_by_role("button", name="Create it").click()
    expect(ada.locator("h1")).to_have_text("Night walkers")
    group = ada.url.rpartition("/")[2]
    ben = visit(browser.new_page(), site, "ben", f"join/{group}")
    ben.get_by_role("button", name="Join the group").click()
    expect(ada.locator("#view").get_by_text("Ben Okafor")).to_be_visible()
    ben.once("dialog", lambda asked: asked.accept())
    ben.get_by_role("button", name="Leave the group").click()
    expect(ada.locator("#view").get_by_text("Ben Okafor")).to_have_count(0)
    ben.close()


def test_who_has_no_name_is_asked_for_one(page: Page, site: str) -> None:
    page.goto(f"{site}/inviter/app/")
    page.click("#who")
    page.fill("#people-id", "dora")
    page.press("#people-id", "Enter")
    page.fill("#my-name", "Dora Lind")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#who")).to_contain_text("Dora Lind")


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1280, "dark")])
def test_everybody_can_read_it_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    visit(page, site, "ben", theme=theme)
    plan(page, f"Eineinhalbstundenspaziergang mit langem Namen {width}" * 3, "Lake swimmers")
    for place in (None, "#/", "#/groups"):
        if place is not None:
            page.goto(f"{site}/inviter/app/?theme={theme}{place}")
            expect(page.locator("#view .event, #view .rows > *").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        assert [one["id"] for one in found.response["violations"]] == []
