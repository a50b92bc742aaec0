"""Two people look for a home together, each on a page of their own, one of them on a phone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect
from starlette.applications import Starlette

from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.service import SearchRoom

from .conftest import served
from .town import call

MIA = Identity.of("mia", name="Mia Keller")
JONAS = Identity.of("jonas", name="Jonas Haas")
INES = Identity.of("ines", name="Ines Costa")
PEOPLE = {"search-room": [MIA, JONAS]}
PHONE: ViewportSize = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db, following([db]):
            settings = ApiSettings(development=True, people=PEOPLE)
            yield create_app([SearchRoom(db)], settings)

    with served(opened) as address:
        yield address


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport=PHONE)
    yield opened
    opened.close()


def sign_in(page: Page, site: str, who: str) -> None:
    page.goto(f"{site}/search-room/app/")
    page.click("#hello .btn.main")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#home")).to_be_visible()


def wish(page: Page, price: int, places: str, musts: str = "") -> None:
    page.click("#my-wishes")
    page.fill("#w-price", str(price))
    page.fill("#w-location", places)
    page.fill("#w-musts", musts)
    page.click("#wish .btn.main")
    expect(page.locator("#wish")).to_be_hidden()


def fits_the_phone(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def accessible(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_a_couple_finds_a_home(page: Page, phone: Page, site: str) -> None:
    sign_in(page, site, "mia")
    sign_in(phone, site, "jonas")

    # Mia opens a room and asks Jonas, who is there already and hears of it.
    page.click("text=New room")
    page.fill("#room-title", "Our first home")
    page.click("text=Open it")
    expect(page.locator("#room-name")).to_have_text("Our first home")
    page.click("#show-members")
    page.fill("#invite-id", "jonas")
    page.click("#invite .btn.main")
    expect(page.locator(".toast", has_text="Asked")).to_be_visible()
    page.keyboard.press("Escape")
    expect(phone.locator("#invitations")).to_contain_text("Mia Keller")
    fits_the_phone(phone)
    phone.click("#invitations >> text=Join")
    expect(phone.locator("#room-name")).to_have_text("Our first home")

    # She adds a home; it appears on his phone. He likes it, she sees that.
    page.click("text=Add a home")
    page.fill("#l-title", "Bright flat")
    page.fill("#l-location", "Bern")
    page.fill("#l-price", "2150")
    page.click("text=Save it")
    expect(phone.locator(".home .title")).to_have_text("Bright flat")
    phone.get_by_label("Like Bright flat", exact=True).click()
    expect(page.get_by_label("Like Bright flat", exact=True)).to_contain_text("1")

    # He opens it, which moves it, and plans a visit: one of the steps that there are.
    phone.click(".home .title")
    expect(phone.locator("#details")).to_be_visible()
    expect(phone.locator(".steps .btn")).to_have_text(["Plan a visit", "Apply", "Drop"])
    fits_the_phone(phone)
    phone.click("text=Plan a visit")
    expect(page.locator(".home .tag")).to_have_text("Visit planned")

    # Both say what matters, and see how it fits.
    wish(page, 2400, "Bern, Thun")
    phone.click("#parts >> text=Wishes")
    expect(phone.locator("#wishes")).to_contain_text("up to 2'400")
    wish(phone, 2000, "Bern", "balcony")
    fits_the_phone(phone)
    expect(page.locator("#wishes")).to_contain_text("balcony")
    page.select_option("#mode", "strict")
    page.click("#combine")
    expect(phone.locator("#wishes .ours")).to_have_text(["yes", "Bern", "up to 2'000"])
    expect(phone.locator("#fit")).to_contain_text("%")

    # They talk.
    phone.click("#parts >> text=Talk")
    phone.fill("#say input", "Saturday at ten?")
    phone.click("text=Send")
    expect(page.locator("#talk")).to_contain_text("Saturday at ten?")
    expect(page.locator("#talk")).to_contain_text("Bright flat → Visit planned")
    fits_the_phone(phone)
    accessible(page)
    accessible(phone)

    # She has news of what he did, and reads them.
    expect(page.locator("#unread")).to_be_visible()
    page.click("text=News")
    expect(page.locator("#news")).to_contain_text("Saturday at ten?")
    page.click("text=Mark all as read")
    expect(page.locator("#unread")).to_be_hidden()


def test_somebody_without_an_account_comes_by_a_link(page: Page, phone: Page, site: str) -> None:
    sign_in(page, site, "mia")
    page.click("text=New room")
    page.fill("#room-title", "By the lake")
    page.click("text=Open it")
    expect(page.locator("#room-name")).to_have_text("By the lake")
    page.click("#show-members")
    page.click("#make-link")
    expect(page.locator("#link")).to_contain_text("#/join/")
    link = page.locator("#link").inner_text()
    phone.goto(link)
    phone.click("#hello .btn.main")
    phone.fill("#people-id", "nora")
    phone.click("#people >> text=Sign in")
    expect(phone.locator("#link-by")).to_have_text("Mia Keller asks you to search together.")
    phone.click("text=Join the search")
    expect(phone.locator("#room-name")).to_have_text("By the lake")
    expect(page.locator("#member-rows > *")).to_have_count(2)


def test_an_owner_changes_the_room_a_home_and_what_they_wish(page: Page, site: str) -> None:
    sign_in(page, site, "mia")
    page.click("text=New room")
    page.fill("#room-title", "Near the river")
    page.click("text=Open it")
    expect(page.locator("#room-name")).to_have_text("Near the river")
    page.click("#settings")
    page.fill("#room-title", "Near the lake")
    page.select_option("#room-kind", "buy")
    page.fill("#room-description", "Two of us and a cat")
    page.check("[name=hasCopilot]")
    page.click("#new-room .btn.main")
    expect(page.locator("#room-name")).to_have_text("Near the lake")
    expect(page.locator("#room-context")).to_have_text("Two of us and a cat")
    page.click("#settings")
    expect(page.locator("[name=hasCopilot]")).to_be_checked()
    page.fill("#room-description", "")
    page.click("#new-room .btn.main")
    expect(page.locator("#room-context")).to_be_hidden()
    expect(page.locator("#room-about")).to_contain_text("to buy")

    page.click("text=Add a home")
    page.fill("#l-title", "Old mill")
    page.fill("#l-price", "900")
    page.click("text=Save it")
    page.click(".home .title")
    page.get_by_role("button", name="Edit").click()
    page.fill("#l-title", "The old mill")
    page.fill("#l-price", "")
    page.click("text=Save it")
    expect(page.locator(".home .title")).to_have_text("The old mill")
    expect(page.locator(".home .price")).to_have_count(0)

    # What was stated elsewhere, and has no field here, stays.
    room = page.url.rpartition("/")[2]
    stated = {"price": {"min": 500, "max": 900}, "garden": False, "heating": "wood", "floor": "top"}
    call(site, "search-room", MIA, f"/rooms/{room}/criteria", {"criteria": stated})
    expect(page.locator("#wishes")).to_contain_text("500–900")
    wish(page, 800, "Bern")
    expect(page.locator("#wishes")).to_contain_text("500–800")
    for kept in ("garden", "heating", "floor"):
        expect(page.locator("#wishes")).to_contain_text(kept)
    odd = {"price": 700, "rooms": {"max": 4}, "location": "Thun"}
    call(site, "search-room", MIA, f"/rooms/{room}/criteria", {"criteria": odd})
    expect(page.locator("#wishes")).to_contain_text("up to 4")
    page.click("#my-wishes")
    page.fill("#w-musts", "lift")
    page.click("#wish .btn.main")
    expect(page.locator("#wishes tbody")).to_have_text("liftyeslocationThunprice700roomsup to 4")

    page.click("#settings")
    page.once("dialog", lambda asked: asked.accept())
    page.click("text=Delete the room")
    expect(page.locator("#home")).to_be_visible()
    expect(page.locator("#rooms")).not_to_contain_text("Near the lake")


def open_room(site: str, name: str, *others: Identity) -> str:
    """A room of Mia's with others in it."""
    room = call(site, "search-room", MIA, "/rooms", {"name": name, "searchType": "rent"})["roomId"]
    for one in others:
        call(site, "search-room", one, f"/users/{one.id}", {"name": one.name}, "PUT")
        call(site, "search-room", MIA, f"/rooms/{room}/invitations", {"userId": one.id})
        call(site, "search-room", one, f"/rooms/{room}/members", {})
    return str(room)


def test_owners_manage_who_is_in_and_who_is_asked(page: Page, phone: Page, site: str) -> None:
    room = open_room(site, "For three", JONAS, INES)
    at = f"/rooms/{room}"
    sign_in(page, site, "mia")
    sign_in(phone, site, "jonas")
    for one in (page, phone):
        one.goto(f"{site}/search-room/app/#{at}")
        one.click("#show-members")
        expect(one.locator("#member-rows > *")).to_have_count(3)

    # Who becomes an owner can do at once what owners do.
    expect(phone.locator("#member-rows button")).to_have_count(0)
    page.locator("#member-rows > *", has_text="Jonas").get_by_text("Make an owner").click()
    expect(phone.get_by_label("Remove Ines Costa")).to_be_visible()
    phone.once("dialog", lambda asked: asked.accept())
    phone.get_by_label("Remove Ines Costa").click()
    expect(page.locator("#member-rows > *")).to_have_count(2)
    expect(page.locator("#talk")).to_contain_text("Jonas Haas took Ines Costa out")

    # Who declined is shown as such, and can be asked again.
    page.fill("#invite-id", "ines")
    page.click("#invite .btn.main")
    expect(phone.locator("#invited-rows")).to_contain_text("Asked")
    call(site, "search-room", INES, f"/users/ines/invitations/{room}", {}, "DELETE")
    expect(page.locator("#invited-rows")).to_contain_text("Declined")
    page.click("text=Ask again")
    expect(page.locator("#invited-rows")).to_contain_text("Asked")
    expect(page.locator("#talk")).to_contain_text("Mia Keller asked Ines Costa")

    # A link is there until it is taken back.
    page.click("#make-link")
    expect(page.locator("#link-rows > *")).to_have_count(1)
    fits_the_phone(phone)
    accessible(page)
    page.get_by_label("Take the link back").click()
    expect(page.locator("#link-rows > *")).to_have_count(0)
    expect(page.locator("#link")).to_be_hidden()

    # Who is taken out while they look is told.
    call(site, "search-room", MIA, f"{at}/members/jonas", {}, "DELETE")
    expect(phone.locator("main")).to_contain_text("It was deleted, or it is not shared with you.")


def test_a_room_with_more_than_fits_at_once_shows_the_newest_first(page: Page, site: str) -> None:
    room = open_room(site, "Far too many")
    for number in range(62):
        new = {"sourceBrand": "homegate", "title": f"Flat {number}"}
        call(site, "search-room", MIA, f"/rooms/{room}/listings", new)
    sign_in(page, site, "mia")
    page.goto(f"{site}/search-room/app/#/rooms/{room}")
    expect(page.locator(".home .title").first).to_have_text("Flat 61")
    expect(page.locator(".home")).to_have_count(60)
    page.click("text=Show more")
    expect(page.locator(".home")).to_have_count(62)
    expect(page.locator("#more-listings")).to_be_hidden()
    page.fill("[name=text]", "flat 7")
    expect(page.locator(".home .title")).to_have_text(["Flat 7"])
    page.fill("[name=text]", "castle")
    expect(page.locator("#listings")).to_contain_text("Nothing fits")

    expect(page.locator("#talk")).not_to_contain_text("opened the room")
    page.click("text=Earlier")
    expect(page.locator("#talk")).to_contain_text("opened the room")


def test_who_saves_a_form_that_stood_open_undoes_nobodys_change(page: Page, site: str) -> None:
    room = open_room(site, "Both of us", JONAS)
    new = {"sourceBrand": "homegate", "title": "Loft"}
    made = call(site, "search-room", MIA, f"/rooms/{room}/listings", new)
    at = f"/rooms/{room}/listings/{made['listingId']}"
    sign_in(page, site, "mia")
    page.goto(f"{site}/search-room/app/#/rooms/{room}")
    page.click(".home .title")
    page.get_by_role("button", name="Edit").click()
    call(site, "search-room", JONAS, at, {"price": 1900}, "PATCH")
    page.fill("#l-title", "Loft with a view")
    page.click("text=Save it")
    expect(page.locator(".toast", has_text="Somebody else changed it")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".home .price")).to_have_text("CHF 1'900")
    page.click(".home .title")
    page.get_by_role("button", name="Edit").click()
    page.fill("#l-title", "Loft with a view")
    page.click("text=Save it")
    expect(page.locator(".home .title")).to_have_text("Loft with a view")
    expect(page.locator(".home .price")).to_have_text("CHF 1'900")


def test_wishes_are_said_in_full_and_without_common_ones_there_is_no_score(
    page: Page, site: str
) -> None:
    room = open_room(site, "Not the same", JONAS)
    stated = {"criteria": {"garden": True}}
    call(site, "search-room", JONAS, f"/rooms/{room}/criteria", stated)
    sign_in(page, site, "mia")
    page.goto(f"{site}/search-room/app/#/rooms/{room}")
    page.click("#my-wishes")
    page.fill("#w-name", "heating")
    page.click("#wish .btn.main")
    expect(page.locator("#w-value")).to_be_focused()
    expect(page.locator("#wish")).to_be_visible()
    page.fill("#w-value", "wood")
    page.click("#wish .btn.main")
    expect(page.locator("#wishes")).to_contain_text("wood")
    page.select_option("#mode", "strict")
    page.click("#combine")
    expect(page.locator(".toast:not(.bad)", has_text="No two of you")).to_be_visible()
    expect(page.locator("#wishes .ours")).to_have_text(["yes", "wood"])
    page.click("#my-wishes")
    page.fill("#w-name", "")
    page.fill("#w-value", "")
    page.click("#wish .btn.main")
    expect(page.locator("#talk")).to_contain_text("Mia Keller has no wishes now")


def test_the_field_for_a_message_is_in_sight_on_a_phone(phone: Page, site: str) -> None:
    room = open_room(site, "A rather long name for a room that takes four lines " * 2, JONAS)
    for number in range(30):
        call(site, "search-room", MIA, f"/rooms/{room}/messages", {"text": f"Number {number}"})
    sign_in(phone, site, "jonas")
    phone.goto(f"{site}/search-room/app/#/rooms/{room}")
    phone.click("#parts >> text=Talk")
    expect(phone.locator("#talk")).to_contain_text("Number 29")
    field, bar = phone.locator("#say").bounding_box(), phone.locator(".tabbar").bounding_box()
    assert field is not None
    assert bar is not None
    assert field["y"] + field["height"] <= bar["y"]


def test_who_deleted_their_account_can_come_back(page: Page, site: str) -> None:
    sign_in(page, site, "jonas")
    page.goto(f"{site}/search-room/app/#/you")
    expect(page.locator("#own-name")).to_have_value("Jonas Haas")
    page.on("dialog", lambda asked: asked.accept())
    page.click("text=Delete my account")
    expect(page.locator("#hello")).to_be_visible()
    sign_in(page, site, "jonas")
    page.goto(f"{site}/search-room/app/#/you")
    expect(page.locator("#own-name")).to_have_value("Jonas Haas")
