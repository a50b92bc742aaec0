"""Inviter's page as friends use it: a hangout planned, answered and changed while others look."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold import new_ulid
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import Hangout
from keyfold_systems.inviter.payloads import NewHangout
from keyfold_systems.inviter.service import Inviter

from .conftest import served

PEOPLE = [
    Identity.of("ada", name="Ada Lang"),
    Identity.of("ben", name="Ben Okafor"),
    Identity.of("cleo", name="Cleo Martin"),
]
NAMES = {one.id: one.name for one in PEOPLE}


async def fill(service: Inviter) -> None:
    """What only Ada sees: a long weekend that has begun, and a group that plans much."""
    now = service.db.context.now()
    begun = Hangout(
        hangout_id=new_ulid(),
        host_id="ada",
        host_name="Ada Lang",
        title="Long weekend",
        place="The hut",
        starts_at=now - timedelta(hours=3),
        ends_at=now + timedelta(hours=45),
        user_ids={"ada"},
    )
    await service.db.create(begun)
    club = await service.create_group("Book circle", PEOPLE[0])
    past = Hangout(
        hangout_id=new_ulid(),
        host_id="ada",
        host_name="Ada Lang",
        title="Book 99",
        starts_at=now - timedelta(hours=5),
        ends_at=now - timedelta(hours=3),
        group_ids={club.group_id},
        user_ids={"ada"},
    )
    await service.db.create(past)
    for week in range(32):
        starts = now + timedelta(weeks=week + 1)
        evening = NewHangout(
            title=f"Book {week}",
            starts_at=starts,
            ends_at=starts + timedelta(hours=2),
            group_ids={club.group_id},
        )
        await service.create_hangout(evening, PEOPLE[0])


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db, following([db]):
            service = Inviter(db)
            for one in PEOPLE:
                await service.save_user(one.id, one.name)
            group = await service.create_group("Lake swimmers", PEOPLE[0])
            await service.join_group(group.group_id, PEOPLE[1])
            await fill(service)
            yield create_app([service], ApiSettings(development=True, people={"inviter": PEOPLE}))

    with served(opened) as address:
        yield address


def visit(page: Page, site: str, who: str, place: str = "", theme: str = "light") -> Page:
    page.goto(f"{site}/inviter/app/?theme={theme}#/{place}")
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who .clip")).to_have_text(NAMES[who])
    return page


def plan(page: Page, title: str, *, group: str = "", person: str = "") -> None:
    page.get_by_role("button", name="Plan a hangout").click()
    page.fill("#title", title)
    page.fill("#place", "The boathouse")
    if group:
        page.get_by_label(group).check()
    if person:
        page.fill("#plan-people-name", person)
        page.locator("#plan-people .matches button").first.click()
    page.get_by_role("button", name="Invite them").click()
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator(".head")).to_contain_text("Tomorrow")


def test_friends_plan_answer_and_see_each_other_live(
    page: Page, browser: Browser, site: str
) -> None:
    ada = visit(page, site, "ada")
    ben = visit(browser.new_page(viewport={"width": 375, "height": 760}), site, "ben")
    cleo = visit(browser.new_page(), site, "cleo")
    expect(cleo.locator(".empty")).to_contain_text("Nothing planned yet")

    plan(ada, "Swim before work", group="Lake swimmers", person="cle")

    # Both hear of it without touching anything: Ben through the group, Cleo by name.
    for one in (ben, cleo):
        expect(one.locator("article.hangout h3")).to_have_text("Swim before work")
        expect(one.locator("#unread")).to_be_visible()
    ben.get_by_role("button", name="Going", exact=True).click()
    cleo.get_by_role("button", name="Maybe").click()
    expect(cleo.get_by_role("button", name="Maybe")).to_have_attribute("aria-pressed", "true")
    expect(ada.locator("#tally")).to_have_text("1going1maybe0can’t")

    # Cleo changes her mind, and the counts that everybody sees follow.
    cleo.get_by_role("button", name="Going", exact=True).click()
    expect(ada.locator("#tally")).to_have_text("2going0maybe0can’t")
    expect(ben.locator("article.hangout")).to_contain_text("2 going")

    # What she plans for nobody else is not there for Ben.
    swim = ada.url
    ada.goto(f"{site}/inviter/app/#/")
    plan(ada, "Alone")
    ben.goto(ada.url)
    expect(ben.locator("#lost p")).to_have_text("It was deleted, or it is not shared with you.")
    ben.goto(f"{site}/inviter/app/#/")
    ada.goto(swim)

    ada.get_by_role("button", name="Cancel it").click()
    expect(ben.locator("article.hangout .tag")).to_have_text("Cancelled")
    cleo.click("text=News")
    expect(cleo.locator("a.news").first).to_contain_text("Swim before work is cancelled")
    cleo.get_by_role("button", name="Mark all as read").click()
    expect(cleo.locator("#unread")).to_be_hidden()

    # Whoever is invited can tell a moderator; who hosts it cannot.
    expect(ada.get_by_role("button", name="Report")).to_have_count(0)
    ben.goto(ada.url)
    ben.get_by_role("button", name="Report").click()
    ben.get_by_label("What is wrong?").fill("Nobody swims in November")
    ben.get_by_role("button", name="Report it").click()
    expect(ben.locator("dialog[open]")).to_have_count(0)
    expect(ben.locator(".toast").last).to_contain_text("A moderator will look at it")
    for one in (ben, cleo):
        one.close()


def test_a_private_group_is_founded_and_a_friend_asked_in(
    page: Page, browser: Browser, site: str
) -> None:
    ada = visit(page, site, "ada", "groups")
    cleo = visit(browser.new_page(), site, "cleo", "groups")
    ada.get_by_role("button", name="New group").click()
    ada.fill("#group-name", "Secret chess")
    ada.get_by_label("Private").check()
    ada.get_by_role("button", name="Create it").click()
    expect(ada.locator("h1")).to_have_text("Secret chess")
    ada.get_by_role("button", name="Ask in").click()
    ada.fill("#ask-people-name", "CLE")
    ada.locator("#ask-people .matches button").first.click()
    ada.get_by_role("button", name="Invite", exact=True).click()

    expect(cleo.locator("#view")).to_contain_text("Ada Lang asks you")
    cleo.get_by_role("button", name="Join").click()
    expect(cleo.locator("h1")).to_have_text("Secret chess")
    expect(ada.locator("#view")).to_contain_text("2 members · private")
    cleo.close()


def test_a_past_time_is_refused_at_its_field(page: Page, site: str) -> None:
    ada = visit(page, site, "ada")
    ada.get_by_role("button", name="Plan a hangout").click()
    ada.fill("#title", "Yesterday")
    ada.fill("#starts", "2020-01-01T10:00")
    ada.fill("#ends", "2020-01-01T11:00")
    ada.get_by_role("button", name="Invite them").click()
    refused = ada.locator(".field:has(#starts) .err")
    expect(refused).to_contain_text("planned before it starts")
    assert ada.input_value("#title") == "Yesterday"


def test_a_host_changes_the_place_of_what_has_begun(page: Page, site: str) -> None:
    ada = visit(page, site, "ada")
    ends = ada.evaluate(
        "new Date(Date.now() + 45 * 36e5).toLocaleDateString('en', {day: 'numeric'})"
    )
    long = ada.locator(".hangout", has_text="Long weekend")
    expect(long.locator(".meta").first).to_contain_text(f" {ends}, ")
    long.get_by_role("link").click()
    ada.get_by_role("button", name="Change it").click()
    ada.fill("#place", "The old mill")
    ada.get_by_role("button", name="Save").click()
    expect(ada.locator(".head")).to_contain_text("The old mill")


def test_a_feed_shows_more_than_its_first_page(page: Page, site: str) -> None:
    ada = visit(page, site, "ada", "groups")
    ada.get_by_role("link", name="Book circle").click()
    expect(ada.locator(".hangout")).to_have_count(30)
    ada.get_by_role("button", name="Show more").click()
    expect(ada.locator(".hangout")).to_have_count(33)
    expect(ada.get_by_role("button", name="Show more")).to_be_hidden()


def test_who_has_the_link_sees_the_group_before_joining(page: Page, site: str) -> None:
    ada = visit(page, site, "ada", "groups")
    links = []
    for name in ("Book circle", "Hidden chess"):
        if name == "Hidden chess":
            ada.get_by_role("button", name="New group").click()
            ada.fill("#group-name", name)
            ada.get_by_label("Private").check()
            ada.get_by_role("button", name="Create it").click()
        else:
            ada.get_by_role("link", name=name).click()
        expect(ada.locator("h1")).to_have_text(name)
        links.append(ada.url.rpartition("/")[2])
        ada.goto(f"{site}/inviter/app/#/groups")
    cleo = visit(ada, site, "cleo")
    cleo.goto(f"{site}/inviter/app/#/join/{links[0]}")
    expect(cleo.locator("h1")).to_have_text("Book circle")
    expect(cleo.locator(".empty")).to_contain_text("1 member")
    cleo.goto(f"{site}/inviter/app/#/join/{links[1]}")
    expect(cleo.locator("#lost")).to_contain_text("ask a member to invite you")
    cleo.goto(f"{site}/inviter/app/#/join/none")
    expect(cleo.locator("#lost h1")).to_have_text("This group is not here")


@pytest.mark.parametrize(("width", "theme"), [(360, "light"), (1200, "dark")])
def test_everybody_can_read_it_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    visit(page, site, "ben", theme=theme)
    plan(page, f"Long evening with a long name {width}", group="Lake swimmers")
    # First the hangout itself.
    for place in (None, "#/", "#/groups", "#/news"):
        if place is not None:
            page.goto(f"{site}/inviter/app/?theme={theme}{place}")
            expect(page.locator("#view h1")).to_be_visible()
            expect(page.locator("#view .hangout, #view .rows > *").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        wrong = [
            (one["id"], [node["html"] for node in one["nodes"]])
            for one in found.response["violations"]
        ]
        assert wrong == [], place


def test_a_friend_joins_by_the_link_of_a_group_and_sees_its_new_name(
    page: Page, browser: Browser, site: str
) -> None:
    ada = visit(page, site, "ada", "groups")
    ada.get_by_role("button", name="New group").click()
    ada.fill("#group-name", "Night owls")
    ada.get_by_role("button", name="Create it").click()
    expect(ada.locator("h1")).to_have_text("Night owls")
    group = ada.url.rpartition("/")[2]
    phone = browser.new_page(viewport={"width": 390, "height": 800})
    cleo = visit(phone, site, "cleo", f"join/{group}")
    cleo.get_by_role("button", name="Join the group").click()
    expect(cleo.locator("h1")).to_have_text("Night owls")
    expect(ada.locator("#view")).to_contain_text("Cleo Martin")

    ada.get_by_role("button", name="Rename").click()
    ada.fill("#group-name", "Early birds")
    ada.get_by_role("button", name="Rename it").click()
    expect(cleo.locator("h1")).to_have_text("Early birds")

    # A hangout without them; the whole group is invited later, and taken out again.
    ada.goto(f"{site}/inviter/app/#/")
    plan(ada, "Sunrise walk", person="Ben")
    ada.get_by_role("button", name="Invite", exact=True).click()
    ada.locator("#ask-groups").get_by_label("Early birds").check()
    ada.locator("#ask .btn.main").click()
    cleo.goto(f"{site}/inviter/app/#/")
    expect(cleo.locator(".hangout", has_text="Sunrise walk")).to_be_visible()
    ada.once("dialog", lambda asked: asked.accept())
    ada.get_by_role("button", name="Take the invitation of Early birds back").click()
    expect(cleo.locator(".hangout", has_text="Sunrise walk")).to_have_count(0)
    phone.close()


def test_enter_in_the_search_for_people_chooses_the_first_and_plans_nothing(
    page: Page, site: str
) -> None:
    ada = visit(page, site, "ada")
    ada.get_by_role("button", name="Plan a hangout").click()
    ada.fill("#title", "Tea with Cleo")
    name = ada.locator("#plan-people-name")
    name.press("Enter")
    name.fill("cle")
    expect(ada.locator("#plan-people .matches button")).to_have_count(1)
    name.press("Enter")
    expect(ada.get_by_role("button", name="Leave Cleo Martin out")).to_be_visible()
    expect(name).to_be_focused()
    expect(ada.locator("#plan")).to_be_visible()
    name.fill("nobody is called so")
    expect(ada.locator("#plan-people .matches")).to_have_text("Nobody found.")
    name.fill("")
    ada.get_by_role("button", name="Invite them").click()
    expect(ada.locator("h1")).to_have_text("Tea with Cleo")
    expect(ada.locator("#view")).to_contain_text("Cleo Martin")


def test_who_is_in_the_group_already_keeps_nobody_else_from_being_asked(
    page: Page, site: str
) -> None:
    ada = visit(page, site, "ada", "groups")
    ada.get_by_role("link", name="Lake swimmers").click()
    ada.get_by_role("button", name="Ask in").click()
    name = ada.locator("#ask-people-name")
    expect(name).to_be_focused()
    for who in ("ben", "cle"):
        name.fill(who)
        ada.locator("#ask-people .matches button").first.click()
    ada.get_by_role("button", name="Invite", exact=True).click()
    expect(ada.locator("#ask")).to_be_hidden()
    expect(ada.locator(".toast").last).to_have_text("1 invitation sent")
    expect(ada.locator(".members", has_text="Asked")).to_contain_text("Cleo Martin")


def test_who_closes_the_question_for_their_name_is_asked_again(page: Page, site: str) -> None:
    page.goto(f"{site}/inviter/app/?theme=light#/")
    page.click("#who")
    page.fill("#people-id", "dora")
    page.press("#people-id", "Enter")
    expect(page.locator("#hello")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Plan a hangout").click()
    expect(page.locator("#hello")).to_be_visible()
    page.fill("#my-name", "Dora Lind")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#who")).to_contain_text("Dora Lind")


def test_a_long_title_leaves_the_calendar_its_room(page: Page, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    ben = visit(page, site, "ben")
    plan(ben, "Eineinhalbstundenspaziergang" * 5)
    expect(ben.locator(".leaf.large")).to_be_visible()
    leaf = ben.locator(".leaf.large").bounding_box()
    assert leaf is not None
    assert leaf["width"] == 84
    assert ben.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_is_over_is_not_cancelled(page: Page, site: str) -> None:
    ada = visit(page, site, "ada", "groups")
    ada.get_by_role("link", name="Book circle").click()
    ada.get_by_role("button", name="Show more").click()
    ada.get_by_role("link", name="Book 99").click()
    expect(ada.locator(".head")).to_contain_text("It is over")
    expect(ada.get_by_role("button", name="Delete")).to_be_visible()
    expect(ada.get_by_role("button", name="Cancel it")).to_have_count(0)
