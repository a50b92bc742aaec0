"""The document, line by line: index allocation, lookups, and the request each makes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from keyfold.errors import UniqueTaken
from keyfold.review import docs
from keyfold.review.check import check
from keyfold_systems.tamafriends import patterns
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.payloads import ProfileChange
from tests.systems.opening import LATER

from .conftest import COUNTS, OMAR, YUKI, World

pytestmark = LATER
README = Path(patterns.__file__).parent / "README.md"


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
            ("Block", "GSI1", "USER#{blocked_id} / BLOCKER#{user_id}"),
            ("UserProfile", "GSI2", "USERNAME#{username:lower} / USER#{user_id}"),
            ("Post", "GSI2", None),
            ("Follow", "GSI2", None),
            ("Comment", "GSI2", "USER#{user_id} / COMMENT#{created_at:iso}#{comment_id}"),
            ("Like", "GSI2", "USER#{user_id} / LIKE#{created_at:iso}#{post_id}"),
            ("Report", "GSI2", "USER#{user_id} / REPORT#{created_at:iso}#{target_id}"),
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
        generated = written.split("Placements:\n\n")[1].split("\n\n")[0]
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
        await world.service.block("yuki", "lena")
        held = {
            item["type"]["S"]: sorted(name for name in item if name.startswith("GSI"))
            for item in await world.items()
            if not item["type"]["S"].startswith(COUNTS)
        }
        one, two, three = (["GSI1PK", "GSI1SK"], ["GSI2PK", "GSI2SK"], ["GSI3PK", "GSI3SK"])
        assert held == {
            "USER_PROFILE": one + two + three,
            "POST": one,
            "FOLLOW": one,
            "BLOCK": one,
            "COMMENT": one + two,
            "LIKE": two,
            "Unique": [],
        }


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
            ("email", "new@example.com", patterns.profile_by_email),
            ("username", "new.name", patterns.profile_by_username),
            ("handle", "new_handle", patterns.profile_by_handle),
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
