"""The document, line by line: index allocation, lookups, and the request each makes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from keyfold.errors import UniqueTaken
from keyfold.review import docs
from keyfold.review.check import check
from keyfold_systems.tamafriends import design as module
from keyfold_systems.tamafriends.design import UserProfile, design
from keyfold_systems.tamafriends.payloads import ProfileChange
from tests.systems.opening import LATER

from .conftest import LENA, OMAR, PAGE, YUKI, World

pytestmark = LATER
README = Path(module.__file__).parent / "README.md"


def query(index: str | None, partition: str, sort: str = "", **more: Any) -> dict[str, Any]:
    """The request of one query; `sort` is what sort keys begin with."""
    names = (f"{index}PK", f"{index}SK") if index else ("PK", "SK")
    request: dict[str, Any] = {"TableName": "tamafriends"}
    if index:
        request["IndexName"] = index
    return request | {
        "KeyConditionExpression": "#0 = :0 AND begins_with(#1, :1)",
        "ExpressionAttributeNames": {"#0": names[0], "#1": names[1]},
        "ExpressionAttributeValues": {":0": {"S": partition}, ":1": {"S": sort}},
        **more,
    }


class TestAllocation:
    """GSI allocation rules."""

    @pytest.mark.parametrize(
        ("entity", "index", "key"),
        [
            ("UserProfile", "GSI1", "EMAIL#{email:lower} / USER#{user_id}"),
            ("Post", "GSI1", "POST#{post_id} / USER#{user_id}"),
            ("Follow", "GSI1", "USER#{followee_id} / FOLLOWER#{follower_id}"),
            ("Comment", "GSI1", "COMMENT#{comment_id} / POST#{post_id}"),
            ("Like", "GSI1", None),
            ("UserProfile", "GSI2", "USERNAME#{username:lower} / USER#{user_id}"),
            ("Post", "GSI2", None),
            ("Follow", "GSI2", None),
            ("Comment", "GSI2", "USER#{user_id} / COMMENT#{created_at:iso}#{comment_id}"),
            ("Like", "GSI2", "USER#{user_id} / LIKE#{created_at:iso}#{post_id}"),
            ("UserProfile", "GSI3", "HANDLE#{handle:lower} / USER#{user_id}"),
            ("Post", "GSI3", None),
            ("Follow", "GSI3", None),
            ("Comment", "GSI3", None),
            ("Like", "GSI3", None),
        ],
    )
    def test_each_entity_is_where_the_document_puts_it(
        self, entity: str, index: str, key: str | None
    ) -> None:
        placements = design.schema.by_entity[entity].placements
        assert [str(p.key) for p in placements if p.index == index] == ([key] if key else [])

    def test_the_table_of_the_readme_is_the_generated_one(self, tmp_path: Path) -> None:
        docs.write(design.schema, tmp_path / "design.md")
        written = (tmp_path / "design.md").read_text("utf-8")
        generated = written.split("Who is where:\n\n")[1].split("\n\n")[0]
        assert generated in README.read_text("utf-8")

    def test_the_check_holds_the_rules_and_profiles_are_the_one_exception(self) -> None:
        report = check(design.schema)
        assert [one for one in report.findings if one.code == "X13"] == []
        excepted = {one.finding.subject for one in report.silenced if one.finding.code == "X13"}
        assert excepted == {"UserProfile on GSI1", "UserProfile on GSI2"}

    async def test_index_keys_are_set_only_where_they_are_needed(self, world: World) -> None:
        post = await world.post()
        await world.like(OMAR, post)
        await world.comment(OMAR, post)
        await world.follow(OMAR, YUKI)
        held = {
            item["type"]["S"]: sorted(name for name in item if name.startswith("GSI"))
            for item in await world.items()
        }
        one, two, three = (["GSI1PK", "GSI1SK"], ["GSI2PK", "GSI2SK"], ["GSI3PK", "GSI3SK"])
        assert held == {
            "USER_PROFILE": one + two + three,
            "POST": one,
            "FOLLOW": one,
            "COMMENT": one + two,
            "LIKE": two,
            "Unique": [],
        }


class TestUseCases:
    """Each use case of the tables, with the exact request it makes."""

    @pytest.mark.parametrize(
        ("pattern", "value", "request_made"),
        [
            (module.profile_by_email, "Yuki@Example.com", ("GSI1", "EMAIL#yuki@example.com")),
            (module.profile_by_username, "YUKI.Name", ("GSI2", "USERNAME#yuki.name")),
            (module.profile_by_handle, "Yuki", ("GSI3", "HANDLE#yuki")),
        ],
    )
    async def test_a_profile_by_email_username_and_handle_in_any_case(
        self, local: World, pattern: Any, value: str, request_made: tuple[str, str]
    ) -> None:
        local.sandbox.requests.clear()
        found = await pattern(local.db, value)
        assert found.user_id == "yuki"
        assert local.sandbox.requests == [("Query", query(*request_made, "USER#", Limit=1))]

    async def test_a_post_by_its_id(self, local: World) -> None:
        post = await local.post()
        local.sandbox.requests.clear()
        assert await module.post_by_id(local.db, post.post_id) == post
        [(_, request)] = local.sandbox.requests
        assert request["IndexName"] == "GSI1"
        assert request["ExpressionAttributeValues"][":0"] == {"S": f"POST#{post.post_id}"}

    async def test_a_comment_by_its_id(self, local: World) -> None:
        said = await local.comment(OMAR, await local.post())
        local.sandbox.requests.clear()
        assert await module.comment_by_id(local.db, said.comment_id) == said
        wanted = query("GSI1", f"COMMENT#{said.comment_id}", "POST#", Limit=1)
        assert local.sandbox.requests == [("Query", wanted)]

    async def test_followers_and_following(self, local: World) -> None:
        await local.follow(OMAR, YUKI)
        await local.follow(LENA, YUKI)
        await local.follow(YUKI, LENA)
        local.sandbox.requests.clear()
        fans = await module.followers(local.db, "yuki", limit=10)
        assert [edge.follower_id for edge in fans] == ["lena", "omar"]
        stars = await module.following(local.db, "yuki", limit=10)
        assert [edge.followee_id for edge in stars] == ["lena"]
        assert local.sandbox.requests == [
            ("Query", query("GSI1", "USER#yuki", "FOLLOWER#", Limit=10)),
            ("Query", query(None, "USER#yuki", "FOLLOWING#", Limit=10)),
        ]

    async def test_what_a_user_said_and_liked_comes_newest_first(self, local: World) -> None:
        posts = [await local.post(text=str(number)) for number in range(3)]
        for post in posts:
            await local.like(OMAR, post)
            await local.comment(OMAR, post, post.text)
        local.sandbox.requests.clear()
        said = await module.comments_of_user(local.db, "omar", limit=10)
        assert [one.text for one in said] == ["2", "1", "0"]
        liked = await module.likes_of_user(local.db, "omar", limit=10)
        newest = [one.post_id for one in reversed(posts)]
        assert [one.post_id for one in liked] == newest
        backwards = {"ScanIndexForward": False, "Limit": 10}
        assert local.sandbox.requests == [
            ("Query", query("GSI2", "USER#omar", "COMMENT#", **backwards)),
            ("Query", query("GSI2", "USER#omar", "LIKE#", **backwards)),
        ]

    async def test_comments_and_likers_of_a_post(self, local: World) -> None:
        post = await local.post()
        for who in (OMAR, LENA):
            await local.like(who, post)
            await local.comment(who, post, who.id)
        local.sandbox.requests.clear()
        said = await module.comments_of_post(local.db, post.post_id, limit=10)
        assert [one.text for one in said] == ["omar", "lena"]
        likers = await module.likers_of_post(local.db, post.post_id, limit=10)
        assert [one.user_id for one in likers] == ["lena", "omar"]
        assert local.sandbox.requests == [
            ("Query", query(None, f"POST#{post.post_id}", "COMMENT#", Limit=10)),
            ("Query", query(None, f"POST#{post.post_id}", "LIKE#", Limit=10)),
        ]

    async def test_a_users_posts_need_no_index(self, local: World) -> None:
        for number in range(3):
            await local.post(text=str(number))
        local.sandbox.requests.clear()
        page = await local.service.posts("yuki", PAGE)
        assert [post.text for post in page] == ["2", "1", "0"]
        [(operation, request)] = local.sandbox.requests
        assert (operation, request.get("IndexName")) == ("Query", None)

    async def test_long_lists_come_in_pages_and_nothing_is_lost(self, local: World) -> None:
        post = await local.post()
        for number in range(23):
            await local.comment(OMAR, post, str(number))
        seen: list[str] = []
        cursor: str | None = None
        while True:
            pattern = module.comments_of_post.after(cursor)
            page = await pattern(local.db, post.post_id, limit=5)
            seen += [one.text for one in page]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == [str(number) for number in range(23)]


class TestIdentifiers:
    """Email, username and handle: one holder each, in any case of letters, and changeable."""

    @pytest.mark.parametrize("field", ["email", "username", "handle"])
    async def test_of_many_who_want_one_at_once_one_gets_it(self, world: World, field: str) -> None:
        wanted = {"email": "Star@Example.com", "username": "Star", "handle": "Star"}[field]

        def person(number: int) -> UserProfile:
            name = f"person{number}"
            own = {"email": f"{name}@example.com", "username": name, "handle": name}
            own[field] = wanted if number % 2 else wanted.upper()
            return UserProfile.model_validate({"user_id": name, "display_name": name, **own})

        tries = (world.db.create(person(number)) for number in range(8))
        results = await asyncio.gather(*tries, return_exceptions=True)
        refused = [one for one in results if isinstance(one, UniqueTaken)]
        assert len(refused) == 7
        assert {one.field for one in refused} == {field}
        assert sum(isinstance(one, UserProfile) for one in results) == 1

    @pytest.mark.parametrize(
        ("field", "new", "lookup"),
        [
            ("email", "new@example.com", module.profile_by_email),
            ("username", "new.name", module.profile_by_username),
            ("handle", "new_handle", module.profile_by_handle),
        ],
    )
    async def test_a_changed_one_is_found_and_the_old_one_is_free(
        self, world: World, field: str, new: str, lookup: Any
    ) -> None:
        old = getattr(await world.service.account("yuki"), field)
        await world.service.edit_profile("yuki", ProfileChange.model_validate({field: new}))
        assert await lookup(world.db, old) is None
        assert (await lookup(world.db, new.upper())).user_id == "yuki"
        await world.service.edit_profile("omar", ProfileChange.model_validate({field: old}))
        with pytest.raises(UniqueTaken):
            await world.service.edit_profile("lena", ProfileChange.model_validate({field: new}))
        assert (await lookup(world.db, old)).user_id == "omar"
        assert await world.drift() == []

    async def test_a_new_handle_shows_at_old_comments(self, world: World) -> None:
        said = await world.comment(OMAR, await world.post())
        await world.service.edit_profile("omar", ProfileChange(handle="omar_h"))
        await world.settle()
        assert (await world.db.get(said.ref())).user_handle == "omar_h"
