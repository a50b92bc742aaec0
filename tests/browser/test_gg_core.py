"""gg_core's own page: a feed, rooms, goals and quests, as two people use it at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.payloads import (
    NewActivity,
    NewGoal,
    NewGroup,
    NewQuest,
    NewReport,
    NewRoom,
    NewTask,
    NewUser,
)
from keyfold_systems.gg_core.service import GgCore

from .conftest import served

ADA, BEN = Identity.of("ada", name="Ada Lang"), Identity.of("ben", name="Ben Okafor")
DORA = Identity.of("dora", name="Dora Weiss")
NEW = Identity.of("cem", name="Cem Kaya")
MO = Identity.of("mo", "moderator")
LONG = "Donaudampfschifffahrt" * 5


@asynccontextmanager
async def town() -> AsyncIterator[Starlette]:
    """Ada, Ben and Dora have profiles; a group, a goal, rooms and posts are there to look at."""
    async with await design.open_async(":memory:") as db, following([db]):
        service = GgCore(db)
        for one, name in ((ADA, "Ada Lang"), (BEN, "Ben Okafor"), (DORA, "Dora Weiss")):
            profile = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=name)
            await service.create_user(profile, caller=one)
        group = await service.create_group(NewGroup(name="Early birds"), caller=BEN)
        await service.join_group(group.group_id, caller=ADA)
        told = NewActivity(preview_text="Saturday at eight.", actor_id=group.group_id)
        await service.post_activity(told, caller=BEN)
        await service.post_activity(NewActivity(preview_text="Baked a cake."), caller=DORA)
        hall = NewRoom(scope="group", group_id=group.group_id)
        await service.create_room(hall, caller=BEN)
        three = NewRoom(scope="group", members={"ben", "dora"})
        room = await service.create_room(three, caller=ADA)
        for number in range(55):
            await service.send_message(room.room_id, f"number {number}", caller=ADA)
        goal = await service.create_goal(NewGoal(title="Bake bread"), caller=ADA)
        await service.create_task(goal.goal_id, NewTask(title="Buy flour"), caller=ADA)
        await service.create_group(NewGroup(name=LONG), caller=ADA)
        wordy = await service.create_goal(NewGoal(title=LONG), caller=ADA)
        soon = db.context.now() + timedelta(days=1)
        await service.create_task(wordy.goal_id, NewTask(title=LONG, due_at=soon), caller=ADA)
        quest = NewQuest(title=LONG, kind="quantitative", target_count=9)
        await service.create_quest(quest, caller=ADA)
        spam = await service.post_activity(NewActivity(preview_text="Buy cakes!"), caller=DORA)
        about: dict[str, Any] = {
            "place_id": "dora",
            "created_at": spam.created_at,
            "reason": "Spam",
        }
        post = NewReport(subject_type="activity", subject_id=spam.activity_id, **about)
        await service.report(post, caller=ADA)
        await service.handle_report("ada", "activity", spam.activity_id, "removed", caller=MO)
        person = NewReport(subject_type="user", subject_id="dora", reason="Spam")
        await service.report(person, caller=ADA)
        await service.handle_report("ada", "user", "dora", "dismissed", caller=MO)
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


def overflowing(page: Page) -> list[str]:
    """Texts that are wider than where they stand, unless they are cut off on purpose."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("[data-place] *")]
          .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1
            && getComputedStyle(one).display !== "inline"
            && getComputedStyle(one).textOverflow !== "ellipsis"
            && !one.matches("input, select, .hide"))
          .map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`)"""
    )
    return found


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
    page.click("#person >> role=button[name='Follow']")
    expect(page.locator("#person h1")).to_have_text("Ben Okafor")
    expect(page.locator("#person")).to_contain_text("1 follower")
    go(page, "people")
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


def test_a_project_posts_talks_and_ends(page: Page, browser: Browser, site: str) -> None:
    page.on("dialog", lambda asked: asked.accept())
    ben = browser.new_page(viewport={"width": 390, "height": 800})
    ben.on("dialog", lambda asked: asked.accept())
    ben.set_default_timeout(10_000)
    visit(page, site, "ada", "people")
    page.click("#found-group")
    page.fill("#group-name", "Paint the boat")
    page.select_option("#group-kind", "project")
    page.click("#new-group >> text=Found it")
    expect(page.locator("#group .head")).to_contain_text("Project · 1 member")
    place = page.url.partition("#/")[2]

    visit(ben, site, "ben", place)
    expect(ben.locator("#group")).to_contain_text("Join to see what the group does.")
    ben.click("#group >> text=Join")
    expect(ben.locator("#group")).to_contain_text("Nothing yet")
    page.click("#group >> text=Open a room")
    page.fill("#text", "Who has the paint?")
    page.keyboard.press("Enter")
    expect(page.locator("#talk")).to_contain_text("Who has the paint?")
    go(ben, "rooms")
    ben.click("#all-rooms >> text=Paint the boat")
    ben.fill("#text", "I hvae.")
    ben.keyboard.press("Enter")
    ben.locator(".said.mine").get_by_role("button").click()
    expect(page.locator("#talk .said")).to_have_count(1)

    go(page, "feed")
    page.fill("#said", "Blue it is.")
    page.select_option("#where", label="Paint the boat")
    page.click("#post button")
    ben.goto(f"{site}/gg-core/app/#/{place}")
    expect(ben.locator("#group article")).to_contain_text("Blue it is.")
    page.goto(f"{site}/gg-core/app/#/{place}")
    page.click("#group >> text=Delete")
    expect(page.locator("#groups")).not_to_contain_text("Paint the boat")
    ben.close()


def test_some_people_share_a_room_until_they_leave_it(page: Page, site: str) -> None:
    page.on("dialog", lambda asked: asked.accept())
    visit(page, site, "ada", "rooms")
    page.click("#all-rooms >> text=Ben Okafor, Dora Weiss")
    expect(page.locator("#talk .said")).to_have_count(50)
    expect(page.locator("#talk .said").last).to_contain_text("number 54")
    page.click("#earlier")
    expect(page.locator("#talk .said")).to_have_count(55)
    expect(page.locator("#earlier")).to_be_hidden()
    page.click("#leave-room")
    expect(page.locator("#no-room")).to_be_visible()
    expect(page.locator("#all-rooms")).not_to_contain_text("Dora Weiss")

    page.click("text=Write to somebody")
    page.fill("#whom", "@ben, nobody-here")
    page.click("text=Open the room")
    expect(page.locator("#toasts")).to_contain_text('"nobody-here" does not exist')
    page.fill("#whom", "@ben, dora")
    page.click("text=Open the room")
    expect(page.locator("#room-title")).to_have_text("Ben Okafor, Dora Weiss")
    expect(page.locator("#talk")).to_contain_text("Say the first word")


def test_a_step_has_a_day_and_a_person_a_place(page: Page, site: str) -> None:
    page.on("dialog", lambda asked: asked.accept())
    visit(page, site, "ada", "goals")
    goal = page.locator("#all-goals article", has_text="Bake bread")
    goal.get_by_placeholder("Another step").fill("Knead")
    goal.locator("[name=day]").fill("2100-01-03")
    goal.get_by_text("Add", exact=True).click()
    go(page, "feed")
    expect(page.locator("#due")).to_contain_text("Knead")

    go(page, "people")
    page.fill("#nickname", "@dora")
    page.click("#find button")
    expect(page.locator("#person article")).to_contain_text("Baked a cake.")
    page.get_by_role("button", name="Block").click()
    expect(page.locator("#person")).to_contain_text("One of you blocked the other.")
    expect(page.get_by_role("button", name="Write", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Unblock").click()
    expect(page.locator("#person article")).to_contain_text("Baked a cake.")


def test_who_is_new_makes_a_profile_first(page: Page, site: str) -> None:
    visit(page, site, "cem")
    expect(page.locator("#full-name")).to_have_value("Cem Kaya")
    page.fill("#email", "cem@x.org")
    page.click("#profile >> text=Begin")
    expect(page.locator("#entries .empty")).to_be_visible()


def test_ones_own_name_is_that_of_the_profile(page: Page, site: str) -> None:
    page.goto(f"{site}/gg-core/app/#/feed")
    page.click("#who")
    page.fill("#people-id", "dora")
    page.keyboard.press("Enter")
    expect(page.locator("#who")).to_contain_text("Dora Weiss")
    page.fill("#said", "Baked another one.")
    page.click("#post button")
    expect(page.locator("#entries article").first).to_contain_text("Dora Weiss")


def test_who_reported_something_reads_what_became_of_it(page: Page, site: str) -> None:
    visit(page, site, "ada", "news")
    expect(page.locator("#news")).to_contain_text("A moderator acted on your report")
    expect(page.locator("#news")).to_contain_text("Your report was dismissed")


@pytest.mark.parametrize("width", [390, 1280])
def test_long_words_and_fields_stay_where_they_belong(page: Page, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    visit(page, site, "ada", "goals")
    long = page.locator("#all-goals article", has_text=LONG)
    expect(long).to_be_visible()
    for place in ("goals", "feed", "people"):
        go(page, place)
        expect(page.locator(f"[data-place={place}]")).to_be_visible()
        expect(page.locator("#under-way")).to_contain_text(LONG)
        assert overflowing(page) == [], place
    page.click(f"#groups >> text={LONG}")
    expect(page.locator("#group h1")).to_have_text(LONG)
    assert overflowing(page) == []
    go(page, "goals")
    day, add = (long.locator(one).bounding_box() for one in ("[name=day]", "form .btn"))
    assert day
    assert add
    assert day["x"] + day["width"] <= add["x"]


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
