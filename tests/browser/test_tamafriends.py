"""TamaFriends as its people use it: one at a desk, one on a phone, at once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold import AsyncDb
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following
from keyfold_web.media import LocalMedia
from keyfold_systems.tamafriends.addresses import new_id
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Comment, Like, Post, UserProfile
from keyfold_systems.tamafriends.payloads import NewPost
from keyfold_systems.tamafriends.service import TamaFriends

from .conftest import served

CROWD = 60
PEOPLE = {"yuki": "Yuki Tanaka", "omar": "Omar Haddad"}
APP = "/tama-friends/app/"
PLACES = {
    "#/": "#view .empty, #view article >> nth=0",
    "#/activity": "#view .rows > * >> nth=0",
    "#/find": "#view .rows > * >> nth=0",
    "#/you": "#view article >> nth=0",
}
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63"
    "60f8cfc0f01f0005050102b0c0aa0b0000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("media")
    known = [Identity.of(one, name=name) for one, name in PEOPLE.items()]

    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db, following([db]):
            service = TamaFriends(db)
            for one, name in PEOPLE.items():
                values = {"email": f"{one}@example.com", "username": one, "handle": one}
                profile = {"user_id": one, "display_name": name, **values}
                await db.create(UserProfile.model_validate(profile))
            hen = "Marta the hen has laid her first egg. @omar owes me a cake."
            await service.create_post(NewPost(text=hen), caller=known[0])
            await crowd(db)
            settings = ApiSettings(
                development=True, people={service.name: known}, media=LocalMedia(folder)
            )
            yield create_app([service], settings)

    with served(opened) as address:
        yield address


async def crowd(db: AsyncDb) -> None:
    """Sixty people who like a post of Nina's, and say so."""
    names = ["nina", *(f"fan{number:02}" for number in range(CROWD))]
    await db.bulk(
        UserProfile(
            user_id=one,
            email=f"{one}@example.com",
            username=one,
            handle=one,
            display_name=one.title(),
        )
        for one in names
    )
    at = datetime(2026, 1, 1, tzinfo=UTC)
    post = Post(user_id="nina", post_id="known", text="Everybody knows me", created_at=at)
    await db.create(post)
    for number, one in enumerate(names[1:]):
        said = at + timedelta(minutes=number)
        about = {"post_id": "known", "user_id": one, "post_user_id": "nina", "post_created_at": at}
        words = {"comment_id": new_id(said), "user_handle": one, "text": f"I am {one}"}
        await db.create(Like.model_validate({**about, "created_at": said}))
        await db.create(Comment.model_validate({**about, **words, "created_at": said}))


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 380, "height": 780})
    yield page
    page.close()


def sign_in(page: Page, who: str) -> None:
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who .clip")).to_have_text(PEOPLE[who])


def join(page: Page, name: str) -> None:
    page.click("text=Join")
    page.fill("#join-name", name.title())
    page.fill("#join-handle", name)
    page.fill("#join-username", name)
    page.fill("#join-email", f"{name}@example.com")
    page.fill("#join-password", "correct horse")
    page.locator("#join button").click()
    # A password is hashed slowly, on purpose.
    expect(page.locator("#who .clip")).to_have_text(name.title(), timeout=20_000)


def enter(page: Page, login: str, password: str = "correct horse") -> None:
    page.click("text=Join")
    page.locator("#account [data-show=enter]").click()
    page.fill("#enter-login", login)
    page.fill("#enter-password", password)
    page.locator("#enter button").click()


def own_account(page: Page, site: str) -> Request:
    """A request for the account of whoever is signed in on a page."""
    me = page.evaluate("JSON.parse(sessionStorage['keyfold-person:/tama-friends/'])")
    return Request(
        f"{site}/tama-friends/users/{me['id']}/account",
        headers={"authorization": f"Bearer {me['token']}"},
    )


def test_two_people_meet_post_and_react(page: Page, phone: Page, site: str, tmp_path: Path) -> None:
    phone.goto(f"{site}{APP}")
    sign_in(phone, "yuki")
    page.goto(f"{site}{APP}")
    join(page, "mia")

    page.goto(f"{site}{APP}#/people/yuki")
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_role("button", name="Following", exact=True)).to_be_visible()
    expect(phone.locator("#unread")).to_have_text("1")
    page.goto(f"{site}{APP}#/")
    expect(page.locator("article")).to_have_count(1)

    (tmp_path / "hen.png").write_bytes(PIXEL)
    phone.fill("#say", "Look, Marta!")
    phone.set_input_files("#pictures", tmp_path / "hen.png")
    phone.get_by_label("What hen.png shows").fill("A round hen")
    phone.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("article")).to_have_count(2)
    new = page.locator("article", has_text="Look, Marta!")
    expect(new.get_by_alt_text("A round hen")).to_be_visible()

    new.get_by_label("Like,").click()
    expect(phone.locator("article").get_by_label("Like, 1 so far")).to_be_visible()
    new.get_by_label("Comments,").click()
    page.get_by_label("Your comment").fill("So rund")
    page.get_by_role("button", name="Send").click()
    expect(phone.locator("#unread")).to_have_text("3", timeout=20_000)

    phone.click("text=Activity")
    expect(phone.locator(".rows a").first).to_contain_text("says “So rund”")
    phone.locator(".rows a").first.click()
    expect(phone.locator(".comment .words")).to_have_text("So rund")
    page.locator(".comment").get_by_role("button", name="Edit").click()
    page.locator(".comment textarea").fill("So round!")
    page.locator(".comment").get_by_role("button", name="Save").click()
    expect(phone.locator(".comment .words")).to_have_text("So round!")


def test_a_block_keeps_away_until_it_is_taken_back(page: Page, phone: Page, site: str) -> None:
    for screen, who, other in ((page, "omar", "yuki"), (phone, "yuki", "omar")):
        screen.goto(f"{site}{APP}")
        sign_in(screen, who)
        screen.goto(f"{site}{APP}#/people/{other}")
    phone.get_by_role("button", name="Block").click()
    page.reload()
    expect(page.locator(".empty")).to_contain_text("blocked")
    phone.goto(f"{site}{APP}#/you")
    phone.get_by_role("button", name="Settings").click()
    phone.click("text=Blocked people")
    phone.get_by_role("button", name="Unblock").click()
    expect(phone.locator("#blocks")).to_contain_text("Nobody")
    page.reload()
    expect(page.locator("h1")).to_have_text("Yuki Tanaka")


def test_long_lists_are_shown_page_by_page(page: Page, site: str) -> None:
    page.goto(f"{site}{APP}")
    sign_in(page, "omar")
    page.goto(f"{site}{APP}#/posts/known")
    expect(page.locator(".comment")).to_have_count(50)
    page.get_by_label("Your comment").fill("Me too")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".comment .words").last).to_have_text("Me too")
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".comment")).to_have_count(CROWD + 1)
    expect(page.locator(".comment .words").last).to_have_text("Me too")
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    page.click("text=Who likes it")
    rows = page.locator("#people-rows .rows > *")
    expect(rows).to_have_count(50)
    page.locator("#people-rows").get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(CROWD)


def test_who_posts_deletes_what_others_say_below(page: Page, phone: Page, site: str) -> None:
    for screen, who in ((page, "omar"), (phone, "yuki")):
        screen.goto(f"{site}{APP}")
        sign_in(screen, who)
    phone.fill("#say", "Be nice")
    phone.get_by_role("button", name="Post", exact=True).click()
    phone.locator("article", has_text="Be nice").get_by_label("Comments,").click()
    expect(phone.locator("h2", has_text="Comments")).to_be_visible()
    page.goto(f"{site}{APP}{phone.evaluate('location.hash')}")
    for text in ("Rubbish", "Lovely"):
        page.get_by_label("Your comment").fill(text)
        page.get_by_role("button", name="Send").click()
        expect(phone.locator(".comment .words").last).to_have_text(text)
    expect(phone.locator(".comment").get_by_role("button", name="Edit")).to_have_count(0)
    phone.once("dialog", lambda asked: asked.accept())
    phone.locator(".comment", has_text="Rubbish").get_by_role("button", name="Delete").click()
    for screen in (page, phone):
        expect(screen.locator(".comment .words")).to_have_text(["Lovely"])


def test_words_and_comments_are_changed_on_a_phone(phone: Page, site: str, tmp_path: Path) -> None:
    phone.goto(f"{site}{APP}")
    join(phone, "vera")
    names = [f"{number}.png" for number in range(3)]
    for name in names:
        (tmp_path / name).write_bytes(PIXEL)
    phone.fill("#say", "Three of them")
    phone.set_input_files("#pictures", [tmp_path / name for name in names])
    phone.get_by_role("button", name="Post", exact=True).click()
    card = phone.locator("article")
    expect(card.get_by_role("link", name="A picture")).to_have_count(3)
    heights = card.locator(".pictures img").evaluate_all("all => all.map((one) => one.height)")
    assert heights[1] == heights[2]
    card.get_by_role("button", name="Edit").click()
    expect(card.get_by_role("button", name="Edit")).to_be_hidden()
    card.get_by_label("Your words").fill("")
    card.get_by_role("button", name="Save").click()
    expect(card.locator(".words")).to_have_count(0)
    expect(card.locator("img")).to_have_count(3)

    card.get_by_label("Comments,").click()
    phone.get_by_label("Your comment").fill("A comment that is longer than one line of a phone")
    phone.get_by_role("button", name="Send").click()
    said = phone.locator(".comment")
    said.get_by_role("button", name="Edit").click()
    expect(said.get_by_role("button", name="Edit")).to_be_hidden()
    wide, row = said.locator("textarea").bounding_box(), said.bounding_box()
    assert wide is not None
    assert row is not None
    assert wide["width"] > row["width"] * 2 / 3
    said.get_by_role("button", name="Cancel").click()
    expect(said.get_by_role("button", name="Edit")).to_be_focused()


def test_settings_change_logins_end_sessions_and_remove_the_picture(
    page: Page, phone: Page, site: str, tmp_path: Path
) -> None:
    page.goto(f"{site}{APP}")
    join(page, "rosa")
    phone.goto(f"{site}{APP}")
    enter(phone, "rosa")
    (tmp_path / "me.png").write_bytes(PIXEL)
    page.goto(f"{site}{APP}#/you")
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_text("Remove my picture")).to_be_hidden()
    page.fill("#profile-username", "rosa.new")
    page.fill("#profile-email", "rosa.new@example.com")
    page.set_input_files("#profile-picture", tmp_path / "me.png")
    page.locator("#profile").get_by_role("button", name="Save").click()
    expect(page.locator(".person .face img")).to_be_visible()
    page.get_by_role("button", name="Settings").click()
    expect(page.locator("#profile-email")).to_have_value("rosa.new@example.com")
    page.check("text=Remove my picture")
    page.locator("#profile").get_by_role("button", name="Save").click()
    expect(page.locator(".person .face img")).to_have_count(0)
    page.get_by_role("button", name="Settings").click()
    page.click("text=Password and sessions")
    expect(page.locator("#sessions > *")).to_have_count(2)
    expect(page.locator("#sessions")).not_to_contain_text("Mozilla")
    account = own_account(phone, site)
    assert urlopen(account).status == 200
    page.locator("#sessions").get_by_role("button", name="Sign out").click()
    expect(page.locator("#sessions > *")).to_have_count(1)
    with pytest.raises(HTTPError, match="401"):
        urlopen(account)
    page.fill("#password-current", "correct horse")
    page.fill("#password-new", "battery staple")
    page.get_by_role("button", name="Change password").click()
    expect(page.locator("#sessions")).to_contain_text("This browser")
    expect(page.locator("#sessions b")).to_have_text(re.compile("Chrome"))


def test_somebody_takes_their_data_along_and_leaves(page: Page, site: str) -> None:
    page.goto(f"{site}{APP}")
    join(page, "ken")
    page.fill("#say", "Only here for a day")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("article")).to_have_count(1)
    page.goto(f"{site}{APP}#/you")
    page.get_by_role("button", name="Settings").click()
    page.click("text=Your data, and leaving")
    with page.expect_download() as download:
        page.click("text=Download my data")
    kinds = Counter(one["kind"] for one in json.loads(download.value.path().read_text()))
    assert (kinds["profile"], kinds["posts"]) == (1, 1)
    page.once("dialog", lambda asked: asked.accept())
    page.click("text=Delete my account")
    expect(page.locator("#who")).to_have_text("Sign in")
    page.goto(f"{site}{APP}#/")
    sign_in(page, "omar")
    page.goto(f"{site}{APP}#/people/ken")
    expect(page.locator(".empty")).to_contain_text("Nobody has this handle")


def test_who_signs_out_everywhere_comes_back_by_handle_and_password(page: Page, site: str) -> None:
    page.goto(f"{site}{APP}")
    join(page, "lena")
    page.goto(f"{site}{APP}#/you")
    page.get_by_role("button", name="Settings").click()
    page.click("text=Password and sessions")
    page.click("text=Sign out everywhere")
    expect(page.locator("#who")).to_have_text("Sign in")
    page.goto(f"{site}{APP}#/")
    enter(page, "@lena", "wrong horse")
    expect(page.locator("#enter .err")).to_have_text("Login or password is wrong.")
    page.fill("#enter-password", "correct horse")
    page.locator("#enter button").click()
    expect(page.locator("#who .clip")).to_have_text("Lena")


def test_who_signs_out_ends_their_session(page: Page, site: str) -> None:
    page.goto(f"{site}{APP}")
    join(page, "nora")
    account = own_account(page, site)
    assert urlopen(account).status == 200
    page.click("#who")
    page.click("#sign-out")
    expect(page.locator("#who")).to_have_text("Sign in")
    with pytest.raises(HTTPError, match="401"):
        urlopen(account)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_everybody_can_read_it_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{site}{APP}?theme={theme}#/")
    sign_in(page, "yuki")
    for place, shown in PLACES.items():
        page.goto(f"{site}{APP}?theme={theme}{place}")
        expect(page.locator(shown)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        assert found.response["violations"] == []
