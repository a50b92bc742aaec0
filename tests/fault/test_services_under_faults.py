"""Every fault against every service: what was answered stays, and all that follows is right.

People do things at random. What fails for now is asked again; whether an attempt whose answer was
lost had its effect is for the service to find out. In the end nothing that was answered is gone and
no counter, pointer or copy has drifted.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.fault.troubles import PASSING, PATIENCE, Trouble, in_every_trouble

from keyfold import AsyncDb, Design, Entity
from keyfold.errors import KeyfoldError, StreamError
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, ConsumerOptions, Policy, letters
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_systems.gg_core import design as gg_core
from keyfold_systems.gg_core.entities import Activity, Goal
from keyfold_systems.gg_core.entities import Group as Community
from keyfold_systems.gg_core.service import GgCore
from keyfold_systems.gg_core.views import NewActivity, NewGoal, NewGroup, NewUser
from keyfold_systems.inviter import design as inviter
from keyfold_systems.inviter.entities import Answer, Group, Hangout
from keyfold_systems.inviter.service import Inviter
from keyfold_systems.inviter.views import NewHangout
from keyfold_systems.search_room import design as search_room
from keyfold_systems.search_room.entities import Listing, Room
from keyfold_systems.search_room.service import SearchRoom
from keyfold_systems.search_room.views import NewListing, NewRoom, RoomChange
from keyfold_systems.sellers import design as sellers
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.values import Product
from keyfold_systems.sellers.views import (
    NewAccount,
    NewCatalog,
    NewOrder,
    NewSeason,
    OrderLine,
)
from keyfold_systems.tamafriends import design as tamafriends
from keyfold_systems.tamafriends.entities import Comment, Post, UserProfile
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_systems.tamafriends.views import NewPost as NewPicture
from keyfold_web import Identity

HISTORIES = int(os.environ.get("FAULT_HISTORIES", "1"))
STEPS = 40
PEOPLE = [Identity.of(name) for name in ("ann", "ben", "cat", "dan")]
OPTIONS = ConsumerOptions(
    batch=9, lease_seconds=0.1, poll_seconds=0.005, policy=Policy(patience=8, backoff=0.0005)
)

Work = Callable[[], Awaitable[Any]]
Verb = Callable[["Town"], Work]


@dataclass
class Town:
    """A service, and everything that it has acknowledged."""

    service: Any
    chance: random.Random
    made: list[Entity] = field(default_factory=list)

    @property
    def who(self) -> Identity:
        return self.chance.choice(PEOPLE)

    def one(self, entity: type[Entity], field: str) -> str:
        """The id of something that was made, or of nothing."""
        known = [getattr(each, field) for each in self.made if isinstance(each, entity)]
        return self.chance.choice(known) if known else "none"


@dataclass(frozen=True)
class System:
    design: Design
    service: Callable[[AsyncDb], Any]
    join: Callable[[Any, AsyncDb, Identity], Awaitable[Any]]
    verbs: tuple[Verb, ...]
    kept: tuple[type[Entity], ...]
    """What nobody deletes here."""


def hangout(town: Town) -> Work:
    starts = datetime(2031, 1, 1, tzinfo=UTC) + timedelta(hours=town.chance.randrange(99))
    who = town.who
    new = NewHangout(
        title="Picnic",
        start_timestamp=starts,
        invited_users=[town.who.id],
    )
    return partial(town.service.create_hangout, new, who)


def order(town: Town) -> Work:
    new = NewOrder(
        season_id=town.one(Season, "season_id"),
        customer_name="Ms. Doe",
        line_items=[OrderLine(product_id="mint", quantity=2)],
        payment_method="CASH",
        order_date=date(2031, 3, 2),
    )
    return partial(town.service.create_order, new, caller=PEOPLE[0])


def picture(town: Town) -> Work:
    who = town.who

    async def work() -> Any:
        await town.service.create_post(NewPicture(text="Look!"), who)
        return (await tamafriends.patterns.posts_of_user(town.service.db, who.id, limit=1)).items[0]

    return work


def said(town: Town) -> Work:
    who, post = town.who, town.one(Post, "post_id")

    async def work() -> Any:
        await town.service.comment(post, "Nice.", who)
        read = tamafriends.patterns.comments_of_user
        return (await read(town.service.db, who.id, limit=1)).items[0]

    return work


def season(town: Town) -> Work:
    catalog = town.one(Catalog, "catalog_id")

    async def work() -> Any:
        profile = await town.service.create_seller_profile("Cookies", caller=PEOPLE[0])
        new = NewSeason(
            profile_id=profile.profile_id,
            season_name="Spring",
            catalog_id=catalog,
            start_date=date(2031, 3, 1),
        )
        return await town.service.create_season(new, caller=PEOPLE[0])

    return work


def catalog(town: Town) -> Work:
    products = [Product(product_id="mint", product_name="Mint", price=Decimal("5.50"))]
    new = NewCatalog(catalog_name="Cookies", is_public_str="true", products=products)
    return partial(town.service.create_catalog, new, caller=PEOPLE[0])


def activity(town: Town) -> Work:
    return partial(town.service.post_activity, NewActivity(preview_text="Hello"), caller=town.who)


def follow(town: Town) -> Work:
    return partial(town.service.follow_user, town.who.id, caller=town.who)


async def searching(service: SearchRoom, _: AsyncDb, who: Identity) -> Any:
    """Somebody who can be asked into rooms, with one of their own."""
    await service.save_name(who.id, who.id)
    return await service.create_room(NewRoom(name=who.id, search_type="buy"), who)


SYSTEMS: dict[str, System] = {
    "inviter": System(
        inviter.design,
        Inviter,
        lambda service, _, who: service.save_user(who.id, who.id),
        (
            lambda town: partial(town.service.create_group, "Runners", town.who),
            lambda town: partial(town.service.join_group, town.one(Group, "group_id"), town.who),
            lambda town: partial(town.service.leave_group, town.one(Group, "group_id"), town.who),
            lambda town: partial(
                town.service.rename_group, town.one(Group, "group_id"), str(town.chance.random())
            ),
            hangout,
            lambda town: partial(
                town.service.respond,
                town.one(Hangout, "hangout_id"),
                town.chance.choice(list(Answer)),
                town.who,
            ),
        ),
        (Group, Hangout),
    ),
    "search_room": System(
        search_room.design,
        SearchRoom,
        searching,
        (
            lambda town: partial(
                town.service.create_room, NewRoom(name="Ours", search_type="rent"), town.who
            ),
            lambda town: partial(
                town.service.add_member, town.one(Room, "room_id"), town.who.id, PEOPLE[0]
            ),
            lambda town: partial(
                town.service.leave, town.one(Room, "room_id"), town.who.id, town.who
            ),
            lambda town: partial(
                town.service.add_listing,
                town.one(Room, "room_id"),
                NewListing(source_brand="homegate", title="Flat"),
                town.who,
            ),
            lambda town: partial(
                town.service.update_room,
                town.one(Room, "room_id"),
                RoomChange(name=str(town.chance.random())),
                town.who,
            ),
        ),
        (Room, Listing),
    ),
    "tamafriends": System(
        tamafriends.design,
        TamaFriends,
        lambda _, db, who: db.create(
            UserProfile(
                user_id=who.id,
                email=f"{who.id}@example.com",
                username=f"{who.id}.name",
                handle=who.id,
                display_name=who.id,
            )
        ),
        (
            picture,
            lambda town: partial(town.service.like, town.one(Post, "post_id"), town.who),
            lambda town: partial(town.service.unlike, town.one(Post, "post_id"), town.who),
            said,
            lambda town: partial(town.service.follow, town.who.id, town.who),
            lambda town: partial(town.service.unfollow, town.who.id, town.who),
        ),
        (Post, Comment),
    ),
    "gg_core": System(
        gg_core.design,
        GgCore,
        lambda service, _, who: service.create_user(
            NewUser(nickname=who.id, email=f"{who.id}@x.org", full_name=who.id), caller=who
        ),
        (
            activity,
            activity,
            follow,
            follow,
            lambda town: partial(town.service.unfollow_user, town.who.id, caller=town.who),
            lambda town: partial(
                town.service.create_group, NewGroup(name="Runners"), caller=town.who
            ),
            lambda town: partial(
                town.service.join_group, town.one(Community, "group_id"), caller=town.who
            ),
            lambda town: partial(
                town.service.leave_group, town.one(Community, "group_id"), caller=town.who
            ),
            lambda town: partial(town.service.create_goal, NewGoal(title="Run"), caller=town.who),
        ),
        (Activity, Community, Goal),
    ),
    "sellers": System(
        sellers.design,
        Sellers,
        lambda service, _, who: service.create_my_account(
            NewAccount(email=f"{who.id}@x.org"), caller=who
        ),
        (catalog, season, order, order, order),
        (Catalog, Season, Order),
    ),
}


@in_every_trouble
@pytest.mark.parametrize("seed", range(HISTORIES))
@pytest.mark.parametrize("name", SYSTEMS)
async def test_a_service_under_faults_ends_right(
    name: str, trouble: Trouble, seed: int, tmp_path: Path
) -> None:
    system, path = SYSTEMS[name], tmp_path / "served.db"
    with Engine.open(path, durability="memory") as engine:
        db = await system.design.open_async(AsyncEmbeddedClient(engine))
        for one in PEOPLE:
            await system.join(system.service(db), db, one)
        await db.close()
    async with trouble.async_client(path, seed) as client:
        db = await system.design.open_async(client, create_tables=False)
        town = Town(system.service(db), random.Random(seed))
        consumer = AsyncConsumer(db, options=OPTIONS)
        for _ in range(STEPS):
            answer = await answered(town.chance.choice(system.verbs)(town))
            if isinstance(answer, Entity):
                town.made.append(answer)
            if town.chance.random() < 0.1:
                with suppress(*PASSING, StreamError):
                    await consumer.run_once()
    assert town.made
    with Engine.open(path, durability="memory") as engine:
        db = await system.design.open_async(AsyncEmbeddedClient(engine))
        await AsyncConsumer(db, options=OPTIONS).drain()
        assert await db.run(letters(db.context)) == []
        for entity in town.made:
            if isinstance(entity, system.kept):
                assert await db.find(entity.ref()) is not None
        assert (await db.run(verification(db.context))).drifts == []
        await db.close()


async def answered(work: Work) -> Any:
    """The answer, asked for until there is one; None where the service says no."""
    for _ in range(PATIENCE):
        try:
            return await work()
        except PASSING:
            await asyncio.sleep(0.0005)
        except KeyfoldError:
            return None
    raise AssertionError(f"{PATIENCE} attempts were not enough")
