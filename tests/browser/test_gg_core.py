"""gg_core's own page: a feed, rooms, goals and quests, as two people use it at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold.api import Identity
from keyfold.api.app import ApiSettings, create_app
from keyfold.api.consumers import following
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.payloads import (
    NewActivity,
    NewGoal,
    NewGroup,
    NewRoom,
    NewTask,
    NewUser,
)
from keyfold_systems.gg_core.service import GgCore

from .conftest import served

ADA, BEN = Identity.of("ada", name="Ada Lang"), Identity.of("ben", name="Ben Okafor")
NEW = Identity.of("cem", name="Cem Kaya")


@asynccontextmanager
async def town() -> AsyncIterator[Starlette]:
    """Ada and Ben have profiles and a group; a goal, a room and a post are there to look at."""
    async with await design.open_async(":memory:") as db, following([db]):
        service = GgCore(db)
        for one, name in ((ADA, "Ada Lang"), (BEN, "Ben Okafor")):
            profile = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=name)
            await service.create_user(profile, caller=one)
        group = await service.create_group(NewGroup(name="Early birds"), caller=BEN)
        await service.join_group(group.group_id, caller=ADA)
        told = NewActivity(preview_text="Saturday at eight.", actor_id=group.group_id)
        await service.post_activity(told, caller=BEN)
        hall = NewRoom(scope="group", group_id=group.group_id)
        await service.create_room(hall, caller=BEN)
        goal = await service.create_goal(NewGoal(title="Bake bread"), caller=ADA)
        await service.create_task(goal.goal_id, NewTask(title="Buy flour"), caller=ADA)
        people = {service.name: [ADA, BEN, NEW]}
        yield create_app([service], ApiSettings(development=True, people=people))


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(town) as address:
        yield address


def visit(page: Page, site: str, who: str, place: str = "feed") -> None:
    page.goto(f"{site}/gg-core/app/#/{place}")
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who")).not_to_have_text("Sign in")


def go(page: Page, place: str) -> None:
    page.click(f".tabbar a[href='#/{place}']")


def test_two_people_follow_post_comment_talk_and_win_a_quest(
    page: Page, browser: Browser, site: str
) -> None:
    ben = browser.new_page(viewport={"width": 390, "height": 800})
    ben.set_default_timeout(10_000)
    visit(page, site, "ada", "people")
    visit(ben, site, "ben")

    page.fill("#nickname", "ben")
    page.click("#find button")
    page.click("#found >> text=Follow")
    expect(page.locator("#following")).to_contain_text("Ben Okafor")
    expect(ben.locator("#unread")).to_have_text("1")

    go(page, "feed")
    expect(page.locator("#entries")).to_contain_text("Saturday at eight.")
    ben.fill("#said", "First tomato of the year!")
    ben.click("#post button")
    post = page.locator("#entries article", has_text="First tomato")
    post.get_by_text("Comment").click()
    page.fill("#comment", "It is green.")
    page.click("#comments >> text=Send")
    expect(page.locator("#comments")).to_be_hidden()
    expect(post).to_contain_text("1 comment")
    go(ben, "news")
    expect(ben.locator("#news")).to_contain_text("said about your post: It is green.")
    ben.click("text=Mark all as read")
    expect(ben.locator("#unread")).to_be_hidden()

    go(ben, "rooms")
    ben.click("text=Write to somebody")
    ben.fill("#whom", "ada")
    ben.click("text=Open the room")
    ben.fill("#text", "Shall I bring one?")
    ben.keyboard.press("Enter")
    expect(page.locator("#unread-rooms")).to_have_text("1")
    go(page, "rooms")
    page.click("#all-rooms >> text=Ben Okafor")
    expect(page.locator("#talk")).to_contain_text("Shall I bring one?")
    page.fill("#text", "Two, please.")
    page.click("#write button")
    expect(ben.locator("#talk")).to_contain_text("Two, please.")

    go(page, "goals")
    page.keyboard.press("q")
    page.fill("#quest-title", "One thing today")
    page.fill("#steps", "1")
    page.click("#new-quest >> text=Take it on")
    expect(page.locator("#new-quest .err")).to_contain_text("3 steps or more")
    page.select_option("#difficulty", "easy")
    page.click("#new-quest >> text=Take it on")
    page.locator("#all-goals").get_by_text("Buy flour").click()
    expect(page.locator("#all-quests .tag.ok")).to_have_text("completed")
    expect(page.locator("#points")).to_have_text("10 XP")
    ben.close()


def test_who_is_new_makes_a_profile_first(page: Page, site: str) -> None:
    visit(page, site, "cem")
    expect(page.locator("#full-name")).to_have_value("Cem Kaya")
    page.fill("#email", "cem@x.org")
    page.click("#profile >> text=Begin")
    expect(page.locator("#entries .empty")).to_be_visible()


@pytest.mark.parametrize(("width", "theme"), [(360, "light"), (1200, "dark")])
def test_everybody_can_read_every_place_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{site}/gg-core/app/?theme={theme}#/feed")
    visit(page, site, "ada")
    for place, shown in (
        ("feed", "#entries article"),
        ("rooms", "#all-rooms a"),
        ("goals", "#all-goals article"),
        ("people", "#groups .what"),
        ("news", "#news .rows > *"),
    ):
        go(page, place)
        expect(page.locator(shown).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        violations = found.response["violations"]
        problems = [(one["id"], [at["html"] for at in one["nodes"]]) for one in violations]
        assert problems == [], place
