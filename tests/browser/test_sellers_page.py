"""Sellers' page as people use it: a catalog, a season, and orders that a helper sees come in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold_systems.sellers.design import design
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.views import NewAccount
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following

from .conftest import served
from .town import call

PEOPLE = [
    Identity.of("mara", name="Mara Lind"),
    Identity.of("jonas", name="Jonas Ade"),
    Identity.of("noor", name="Noor Haddad"),
    Identity.of("ines", name="Ines Costa"),
]


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db, following([db]):
            service = Sellers(db)
            for one in (PEOPLE[1], PEOPLE[3]):
                account = NewAccount(email=f"{one.id}@example.org", given_name=one.id.title())
                await service.create_my_account(account, one)
            yield create_app([service], ApiSettings(development=True, people={"sellers": PEOPLE}))

    with served(opened) as address:
        yield address


def visit(page: Page, site: str, who: str, place: str = "stands", theme: str = "light") -> Page:
    page.goto(f"{site}/sellers/app/?theme={theme}#/{place}")
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who .clip")).not_to_have_text("Sign in")
    return page


def sign_up(page: Page, email: str) -> None:
    """The page asks who is new."""
    expect(page.locator("#hello")).to_be_visible()
    page.fill("#my-email", email)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#hello")).to_be_hidden()


def make_catalog(page: Page, name: str) -> None:
    page.get_by_role("link", name="Catalogs").click()
    page.get_by_role("button", name="New catalog").click()
    page.fill("#catalog-name", name)
    for number, (product, price) in enumerate([("Thin mint", "5.50"), ("Lemon wafer", "4.25")]):
        page.locator("#products .name").nth(number).fill(product)
        page.locator("#products .price").nth(number).fill(price)
    page.get_by_role("button", name="Save", exact=True).click()
    made = page.get_by_role("heading", name=name, exact=True)
    expect(page.locator("article.card", has=made).first).to_contain_text("Thin mint $5.50")


def open_stand(page: Page, stand: str) -> None:
    page.get_by_role("link", name="Stands").click()
    page.get_by_role("button", name="New stand").click()
    page.fill("#seller-name", stand)
    page.get_by_role("button", name="Open it").click()
    expect(page.locator("h1")).to_have_text(stand)


def start_season(page: Page, stand: str, season: str, catalog: str = "") -> None:
    open_stand(page, stand)
    page.get_by_role("button", name="New season").click()
    page.fill("#season-name", season)
    if catalog:
        page.select_option("#season-catalog", label=f"{catalog} (2 products)")
    page.get_by_role("button", name="Start selling").click()
    expect(page.locator("h1")).to_have_text(season)


def take_order(page: Page, customer: str, mints: int) -> None:
    for _ in range(mints):
        page.get_by_role("button", name="More Thin mint").click()
    page.fill("#customer", customer)
    page.get_by_role("button", name="Take the order").click()
    expect(page.locator("#customer")).to_have_value("")


def test_a_season_is_sold_together_and_both_see_it_live(
    page: Page, browser: Browser, site: str
) -> None:
    mara = visit(page, site, "mara")
    sign_up(mara, "mara@example.org")
    jonas = visit(browser.new_page(viewport={"width": 375, "height": 760}), site, "jonas")
    make_catalog(mara, "Cookies")
    start_season(mara, "Mara’s stand", "Spring")
    season = mara.url

    mara.get_by_role("link", name="Mara’s stand").click()
    mara.get_by_role("button", name="Share", exact=True).click()
    mara.fill("#helper-email", "jonas@example.org")
    mara.locator("#helper .btn.main").click()
    expect(mara.locator(".panel .rows")).to_contain_text("Jonas")

    # Jonas sees the stand come in, and takes an order on his phone.
    jonas.locator("a.stand", has_text="Mara’s stand").click()
    jonas.locator("a.season", has_text="Spring").click()
    take_order(jonas, "Ms. Doe", 3)
    expect(jonas.locator(".order")).to_contain_text("3 Thin mint")
    mara.goto(season)
    expect(mara.locator(".order b.num")).to_have_text("$16.50")
    take_order(mara, "Mr. Roe", 1)
    expect(jonas.locator(".sums")).to_contain_text("$22.00")
    expect(jonas.locator(".order")).to_have_count(2)

    mara.once("dialog", lambda asked: asked.accept())
    mara.get_by_role("button", name="Delete the order of Ms. Doe").click()
    expect(jonas.locator(".sums")).to_contain_text("$5.50")
    with mara.expect_download() as saved:
        mara.get_by_role("button", name="CSV").click()
    assert "Mr. Roe" in saved.value.path().read_text("utf-8-sig")
    jonas.close()


def test_the_desk_is_what_one_sees_first_and_nothing_is_deleted_by_the_first_button(
    page: Page, site: str
) -> None:
    visit(page, site, "noor")
    sign_up(page, "noor@example.org")
    page.get_by_role("link", name="Desk").click()
    expect(page.locator("h1")).to_have_text("Your stands")
    make_catalog(page, "Desk cookies")
    start_season(page, "Noor’s stand", "Autumn")
    page.get_by_role("link", name="Desk").click()
    expect(page.locator("h1")).to_have_text("Autumn")
    take_order(page, "Ms. Doe", 2)
    expect(page.locator(".order b.num")).to_have_text("$11.00")
    buttons = page.locator("#view").get_by_role("button").all_inner_texts()
    assert buttons[-1] == "Delete the season"


def test_a_code_makes_a_helper_and_a_rename_reaches_them(
    page: Page, browser: Browser, site: str
) -> None:
    ines = visit(page, site, "ines")
    open_stand(ines, "Harbour stand")
    ines.get_by_role("button", name="Share", exact=True).click()
    ines.locator("#helper .btn.main").click()
    code = ines.locator("p.code").inner_text()
    ines.get_by_role("button", name="Done").click()
    jonas = visit(browser.new_page(), site, "jonas")
    jonas.get_by_role("button", name="Use a code").click()
    jonas.fill("#invite-code", code)
    jonas.get_by_role("button", name="Help", exact=True).click()
    expect(jonas.locator("h1")).to_have_text("Harbour stand")
    jonas.get_by_role("link", name="Stands").click()
    ines.get_by_role("button", name="Rename").click()
    ines.fill("#seller-name", "Quay stand")
    ines.get_by_role("button", name="Rename it").click()
    expect(jonas.locator("a.stand", has_text="Quay stand")).to_be_visible()
    jonas.close()


def test_a_code_that_nobody_used_can_be_revoked(page: Page, browser: Browser, site: str) -> None:
    ines = visit(page, site, "ines")
    open_stand(ines, "Gate stand")
    ines.get_by_role("button", name="Share", exact=True).click()
    ines.locator("#helper .btn.main").click()
    code = ines.locator("p.code").inner_text()
    ines.get_by_role("button", name="Done").click()
    expect(ines.locator(".panel .rows")).to_contain_text(code)
    ines.once("dialog", lambda asked: asked.accept())
    ines.get_by_role("button", name=f"Revoke the code {code}").click()
    expect(ines.locator(".panel .rows")).not_to_contain_text(code)
    jonas = visit(browser.new_page(), site, "jonas")
    jonas.get_by_role("button", name="Use a code").click()
    jonas.fill("#invite-code", code)
    jonas.get_by_role("button", name="Help", exact=True).click()
    expect(jonas.locator(".toast.bad")).to_contain_text("does not exist")
    jonas.close()


def test_a_helper_stops_helping(page: Page, browser: Browser, site: str) -> None:
    ines = visit(page, site, "ines")
    open_stand(ines, "Tower stand")
    stand = ines.url.rpartition("/")[2]
    given = {"profileId": stand, "targetAccountId": "jonas", "permissions": ["WRITE"]}
    call(site, "sellers", PEOPLE[3], "/shares", given)
    expect(ines.locator(".panel .rows")).to_contain_text("Jonas")
    jonas = visit(browser.new_page(), site, "jonas", f"stands/{stand}")
    jonas.once("dialog", lambda asked: asked.accept())
    jonas.get_by_role("button", name="Stop helping").click()
    expect(jonas.locator("#view h1")).to_have_text("Your stands")
    expect(jonas.locator("a.stand", has_text="Tower stand")).to_have_count(0)
    expect(ines.locator(".panel .rows")).not_to_contain_text("Jonas")
    jonas.close()


def test_a_wrong_number_is_marked_at_its_product(page: Page, site: str) -> None:
    visit(page, site, "jonas")
    make_catalog(page, "Cookies in numbers")
    start_season(page, "Number stand", "Spring")
    page.fill("#customer", "Ms. Doe")
    number = page.locator(".products input").first
    for wrong in ("1.5", "-2", "100001"):
        number.fill(wrong)
        page.get_by_role("button", name="Take the order").click()
        expect(page.locator(".products .err")).to_be_visible()
        expect(number).to_be_focused()
    number.fill("2")
    page.get_by_role("button", name="Take the order").click()
    expect(page.locator(".order b.num")).to_have_text("$11.00")
    expect(number).to_have_value("0")


def test_an_order_form_follows_a_price_that_changed_meanwhile(page: Page, site: str) -> None:
    visit(page, site, "jonas")
    make_catalog(page, "Cookies of the day")
    start_season(page, "Price stand", "Spring", "Cookies of the day")
    page.get_by_role("button", name="More Thin mint").click()
    page.fill("#customer", "Ms. Doe")
    [catalog] = [
        one
        for one in call(site, "sellers", PEOPLE[1], "/my-catalogs", None, "GET")["items"]
        if one["catalogName"] == "Cookies of the day"
    ]
    products = [{**catalog["products"][0], "price": "7.00"}]
    at = f"/catalogs/{catalog['catalogId']}"
    call(site, "sellers", PEOPLE[1], at, {"products": products}, "PATCH")
    page.get_by_role("button", name="Take the order").click()
    expect(page.locator(".toast.bad")).to_contain_text("The catalog has changed")
    expect(page.locator(".sum b")).to_have_text("$7.00")
    expect(page.locator(".products input")).to_have_count(1)
    expect(page.locator("#customer")).to_have_value("Ms. Doe")
    page.get_by_role("button", name="Take the order").click()
    expect(page.locator(".order b.num")).to_have_text("$7.00")


def test_long_words_stay_in_their_row(page: Page, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    visit(page, site, "jonas")
    make_catalog(page, "Cookies" * 20)
    start_season(page, "Stand" * 30, "Spring" * 30)
    page.get_by_role("button", name="More Thin mint").click()
    page.fill("#customer", "Featherstonehaugh" * 10)
    page.get_by_role("button", name="Take the order").click()
    expect(page.locator(".toast").last).to_contain_text("pays")
    expect(page.locator(".order")).to_be_visible()
    for wide in (".order .what", ".toast", ".head > div", ".take header"):
        for one in page.locator(wide).all():
            inside = one.evaluate(
                "e => e.scrollWidth <= e.clientWidth && e.getBoundingClientRect().right <= 390"
            )
            assert inside, wide
    for place in ("#/stands", "#/catalogs"):
        page.goto(f"{site}/sellers/app/{place}")
        expect(page.locator("#view .card").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, place


@pytest.mark.parametrize(("width", "theme"), [(360, "light"), (1200, "dark")])
def test_everybody_can_read_it_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    visit(page, site, "jonas", theme=theme)
    make_catalog(page, f"Cookies of a long name {width}")
    start_season(page, f"A stand with a rather long name {width}", "Spring")
    take_order(page, "Ms. Doe-Featherstonehaugh", 2)
    expect(page.locator(".order")).to_be_visible()
    for place in (None, "#/", "#/stands", "#/catalogs", "#/you"):
        if place is not None:
            page.goto(f"{site}/sellers/app/?theme={theme}{place}")
            expect(page.locator("#view h1")).to_be_visible()
            expect(page.locator("#view .card, #view .panel").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        wrong = [
            (one["id"], [node["html"] for node in one["nodes"]])
            for one in found.response["violations"]
        ]
        assert wrong == [], place
