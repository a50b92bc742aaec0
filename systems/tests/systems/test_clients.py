"""The clients that `keyfold client` writes: run as a command, checked by mypy, and used.

Each story is a program of a system's user. It is checked together with the client that it imports,
and then does what it says against the system on a socket.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import pytest
from mypy import api as mypy

from keyfold_web import Service
from keyfold_demo.systems import find_systems
from tests.systems.conftest import Web, served

SYSTEMS = {system.name: system for system in find_systems()}
STORIES = {
    "inviter": """
from datetime import datetime, timedelta, timezone

from inviter_client import Answer, Hangout, InviterClient, NewHangout, Problem


async def story(client: InviterClient) -> None:
    try:
        await client.user("ada")
    except Problem as problem:
        assert (problem.status, problem.code) == (404, "NOT_FOUND"), problem
    await client.save_user("ada", "Ada")
    group = await client.create_group("Runners")
    soon = datetime.now(timezone.utc) + timedelta(days=1)
    run = NewHangout(
        title="Run", starts_at=soon, ends_at=soon + timedelta(hours=1), group_ids={group.group_id}
    )
    hangout: Hangout = await client.create_hangout(run, request_id="once")
    assert await client.create_hangout(run, request_id="once") == hangout
    await client.respond(hangout.hangout_id, Answer.GOING)
    feed = await client.group_feed(group.group_id, limit=5)
    assert [(one.title, one.my_answer) for one in feed.items] == [("Run", Answer.GOING)]
""",
    "search_room": """
from search_room_client import ListingChange, NewListing, NewRoom, SearchRoomClient, Status


async def story(client: SearchRoomClient) -> None:
    room = await client.create_room(NewRoom(name="Bern", search_type="rent"))
    new = NewListing(source_brand="homegate", title="Flat", external_id="a/b#c")
    listing = await client.add_listing(room.room_id, new)
    planned = ListingChange(status=Status.VISIT_PLANNED)
    await client.update_listing(
        room.room_id, listing.listing_id, planned, expected_version=listing.version
    )
    found = await client.listings(room.room_id, status=Status.VISIT_PLANNED)
    assert [one.external_id for one in found.items] == ["a/b#c"]
    same = await client.listing_by_external_id(room.room_id, "homegate", "a/b#c")
    assert same == found.items[0]
""",
    "tamafriends": """
from tamafriends_client import Login, NewAccount, Problem, TamaFriendsClient


async def story(client: TamaFriendsClient) -> None:
    ada = NewAccount(
        email="ada@example.org",
        username="ada.lang",
        handle="ada",
        display_name="Ada",
        password="correct horse",
    )
    account = await client.sign_up(ada)
    try:
        await client.sign_in(Login(login="ada.lang", password="battery staple"))
    except Problem as problem:
        assert problem.status == 401, problem
    signed = await client.sign_in(Login(login="ada.lang", password="correct horse"))
    assert signed.user_id == account.user_id
    profile = await client.user_by_handle("ADA")
    assert (profile.user_id, profile.followers) == (account.user_id, 0)
""",
    "gg_core": """
from gg_core_client import GgCoreClient, NewActivity, NewGoal, NewQuest, NewTask, NewUser


async def story(client: GgCoreClient) -> None:
    user = await client.create_user(
        NewUser(nickname="ada", email="ada@example.org", full_name="Ada", tags={"running"})
    )
    goal = await client.create_goal(NewGoal(title="Run"))
    task = await client.create_task(goal.goal_id, NewTask(title="Shoes"))
    quest = await client.create_quest(NewQuest(title="Q", kind="quantitative", target_count=1))
    done = await client.complete_task(goal.goal_id, task.task_id)
    assert done.completed_at is not None
    assert [one.id for one in (await client.quests(user.id)).items] == [quest.id]
    posted = await client.post_activity(NewActivity(preview_text="Ran."))
    (entry,) = (await client.activities(user.id)).items
    assert entry.activity_id == posted.activity_id
    await client.delete_activity(user.id, posted.activity_id, posted.created_at)
    assert (await client.activities(user.id)).items == []
""",
    "sellers": """
from datetime import date
from decimal import Decimal

from sellers_client import NewCatalog, NewOrder, NewSeason, OrderLine, Product, SellersClient


async def story(client: SellersClient) -> None:
    profile = await client.create_seller_profile("Ada's cookies")
    mint = Product(product_id="mint", product_name="Thin mint", price=Decimal("5.50"))
    catalog = await client.create_catalog(NewCatalog(catalog_name="Cookies", products=[mint]))
    season = await client.create_season(
        NewSeason(
            profile_id=profile.profile_id,
            season_name="Spring",
            catalog_id=catalog.catalog_id,
            start_date=date(2030, 3, 1),
        )
    )
    line = OrderLine(product_id="mint", quantity=3)
    order = await client.create_order(
        NewOrder(
            season_id=season.season_id,
            customer_name="Ms. Doe",
            line_items=[line],
            payment_method="CASH",
            order_date=date(2030, 3, 2),
        )
    )
    report = await client.get_season_report(season.season_id)
    assert report.total_amount == order.total_amount == Decimal("16.50")
    assert [(one.product_id, one.quantity) for one in report.by_product] == [("mint", 3)]
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The clients of all systems, with and without async, and the stories beside them."""
    made = tmp_path_factory.mktemp("clients")
    commands = [
        subprocess.Popen(
            [sys.executable, "-m", "keyfold", "client", f"keyfold_systems.{name}.service", *how],
            cwd=made,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in SYSTEMS
        for how in (
            ["--output", f"{name}_client.py"],
            ["--sync", "--output", f"{name}_sync_client.py"],
        )
    ]
    assert [one.communicate()[1] for one in commands] == [""] * len(commands)
    assert {one.returncode for one in commands} == {0}
    for name, story in STORIES.items():
        (made / f"{name}_story.py").write_text(story, "utf-8")
    sys.path.insert(0, os.fspath(made))
    yield made
    sys.path.remove(os.fspath(made))


def test_every_system_has_a_story() -> None:
    assert set(STORIES) == set(SYSTEMS)


def test_clients_and_the_programs_that_use_them_pass_strict_type_checking(folder: Path) -> None:
    found, errors, status = mypy.run(
        ["--strict", "--cache-dir", os.fspath(folder / "cache"), os.fspath(folder)]
    )
    assert (status, errors) == (0, ""), found


@pytest.mark.parametrize("name", SYSTEMS)
async def test_a_program_does_its_story_with_the_client(name: str, folder: Path) -> None:
    client = import_module(f"{name}_client")
    async with running(name) as (web, service):
        kind = getattr(client, f"{type(service).__name__}Client")
        async with kind(web.base, token=web.token("ada")) as opened:
            await import_module(f"{name}_story").story(opened)


async def test_a_client_without_async_is_used_the_same_way(folder: Path) -> None:
    client = import_module("inviter_sync_client")

    def story(base: str, token: str) -> None:
        with client.InviterClient(base, token=token) as opened:
            opened.save_user("ada", "Ada")
            assert opened.user("ada").name == "Ada"
            with pytest.raises(client.Problem, match="403 NOT_ALLOWED"):
                opened.save_user("ben", "Ben")

    async with running("inviter") as (web, _):
        await asyncio.to_thread(story, web.base, web.token("ada"))


@asynccontextmanager
async def running(name: str) -> AsyncIterator[tuple[Web, Service]]:
    system = SYSTEMS[name]
    async with await system.design.open_async(":memory:") as db:
        service = system.serve(db)
        async with served(service) as web:
            yield web, service
