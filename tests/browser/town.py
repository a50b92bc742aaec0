"""All five systems with Ada, Ben and Noor in them, who keeps order."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Page, expect
from starlette.applications import Starlette

from keyfold import AsyncDb
from keyfold_demo.systems import find_systems
from keyfold_systems.gg_core.service import GgCore
from keyfold_systems.gg_core.views import NewUser
from keyfold_systems.inviter.service import Inviter
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.views import NewAccount
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_web import Identity, Service
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following

SYSTEMS = find_systems()
NAMES = ("inviter", "search-room", "tama-friends", "gg-core", "sellers")
ADA, BEN = Identity.of("ada", name="Ada Lang"), Identity.of("ben", name="Ben Okafor")
NOOR = Identity.of("noor", "admin", name="Noor Aziz")
PEOPLE = (ADA, BEN, NOOR)


async def settle_in(service: Service, db: AsyncDb) -> None:
    """They have accounts where a page does not make them; in Inviter two of them have a group."""
    for one in PEOPLE:
        if isinstance(service, Inviter):
            await service.save_user(one.id, one.name)
        if isinstance(service, GgCore):
            profile = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=one.name)
            await service.create_user(profile, caller=one)
        if isinstance(service, Sellers):
            account = NewAccount(email=f"{one.id}@x.org", given_name=one.name)
            await service.create_my_account(account, one)
        if isinstance(service, TamaFriends):
            await db.create(
                UserProfile(
                    user_id=one.id,
                    email=f"{one.id}@x.org",
                    username=one.id,
                    handle=one.id,
                    display_name=one.name,
                )
            )
    if isinstance(service, Inviter):
        group = await service.create_group("Lake swimmers", ADA)
        await service.join_group(group.group_id, BEN)


async def serve(databases: list[AsyncDb]) -> Starlette:
    """An application on these databases, one for each system, once everybody has settled in."""
    services = [one.serve(db) for one, db in zip(SYSTEMS, databases, strict=True)]
    for service, db in zip(services, databases, strict=True):
        await settle_in(service, db)
    people = {service.name: list(PEOPLE) for service in services}
    return create_app(services, ApiSettings(development=True, people=people))


@asynccontextmanager
async def quiet_town() -> AsyncIterator[Starlette]:
    """The town in memory, where nothing goes wrong."""
    async with AsyncExitStack() as stack:
        databases = [
            await stack.enter_async_context(await one.design.open_async(":memory:"))
            for one in SYSTEMS
        ]
        async with following(databases):
            yield await serve(databases)


def visit(page: Page, site: str, system: str, who: str, place: str = "") -> Page:
    """Open a system's page and sign in."""
    page.goto(f"{site}/{system}/app/")
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who .clip")).not_to_have_text("Sign in")
    if place:
        page.goto(f"{site}/{system}/app/#/{place}")
    return page


def call(site: str, system: str, who: Identity, path: str, body: object, method: str = "") -> Any:
    """What somebody does elsewhere: an operation over REST."""
    return call_with(sign_in(site, who), site, system, path, body, method)


def sign_in(site: str, who: Identity) -> str:
    """The token of a new session."""
    given = {"user": who.id, "groups": sorted(who.groups)}
    token: str = _sent(f"{site}/sign-in", given)["token"]
    return token


def call_with(token: str, site: str, system: str, path: str, body: object, method: str = "") -> Any:
    """An operation in a session that there is already."""
    return _sent(f"{site}/{system}{path}", body, method, authorization=f"Bearer {token}")


def _sent(url: str, body: object, method: str = "", **headers: str) -> Any:
    headers["content-type"] = "application/json"
    with urlopen(Request(url, json.dumps(body).encode(), headers, method=method or None)) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def make_something(site: str, system: str) -> Any:
    """Something of Ada's that Ben sees: a hangout, a home, a post, an activity, a catalog."""
    if system == "inviter":
        swim = {"title": "Night swim", "startTimestamp": "2100-01-03T10:00:00Z"}
        return call(site, system, ADA, "/hangouts", {**swim, "invitedUsers": ["ben"]})
    if system == "search-room":
        for one in (ADA, BEN):
            call(site, system, one, f"/users/{one.id}", {"name": one.name}, "PUT")
        room = call(site, system, ADA, "/rooms", {"name": "By the lake", "searchType": "rent"})
        at = f"/rooms/{room['roomId']}"
        call(site, system, ADA, f"{at}/members", {"userId": "ben"})
        return call(
            site, system, ADA, f"{at}/listings", {"sourceBrand": "homegate", "title": "Loft"}
        )
    if system == "tama-friends":
        return call(site, system, ADA, "/posts", {"text": "Look what hatched"})
    if system == "gg-core":
        call(site, system, BEN, "/following/ada", {})
        return call(site, system, ADA, "/activities", {"previewText": "Ran ten kilometres"})
    mint = {"productId": "mint", "productName": "Thin mint", "price": "5.50"}
    new = {"catalogName": "Cookies of Ada", "isPublicStr": "true", "products": [mint]}
    return call(site, system, ADA, "/catalogs", new)


def place_of(system: str, made: Any) -> str:
    """Where Ben finds it on the page."""
    match system:
        case "inviter":
            return f"hangouts/{made['hangoutId']}"
        case "search-room":
            return f"rooms/{made['roomId']}"
        case "tama-friends":
            return f"posts/{made['postId']}"
        case "gg-core":
            return ""
    return "catalogs"
