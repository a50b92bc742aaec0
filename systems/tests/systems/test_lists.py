"""Lists show names beside ids, so that a client asks for no row again."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from pydantic import BaseModel

from keyfold_web import Service

PEOPLE = {
    "actor_id",
    "added_by",
    "author_id",
    "blocked_id",
    "by",
    "created_by_account_id",
    "followee_id",
    "follower_id",
    "from_id",
    "handled_by",
    "host_id",
    "invited_by",
    "last_by",
    "owner_account_id",
    "owner_id",
    "reporter_id",
    "sender_id",
    "target_account_id",
    "used_by_account_id",
    "user_id",
}
"""Fields that hold the id of a person."""
SYSTEMS = ["gg_core", "inviter", "search_room", "sellers", "tamafriends"]
OWN = {
    "inviter": {"groups"},
    "gg_core": {"goals", "quests", "tasks", "tasksDue"},
    "search_room": {"criteriaHistory", "rooms"},
    "sellers": {"listInvitesByProfile", "listMyCatalogs", "listSharesByProfile"},
}
"""Lists of one person's things: these ids are theirs, or say that something is not."""
OF_ONE = {"created_by_account_id", "owner_account_id", "owner_id", "user_id"}
CALLED = {
    ("gg_core", "user_id"): "full_name",
    ("inviter", "user_id"): "name",
    ("sellers", "target_account_id"): "given_name",
    ("tamafriends", "user_id"): "display_name",
}
"""Names that are called otherwise than their ids."""


def nameless(system: str, item: Any) -> set[str]:
    """The people of a row who have no name beside their id."""
    fields = item.model_fields
    if any(_is_person(one.annotation) for one in fields.values()):
        return set()
    names = {
        one: {
            f"{one.removesuffix('_id').removesuffix('_account')}_name",
            CALLED.get((system, one), ""),
        }
        for one in fields.keys() & PEOPLE
    }
    return {one for one, called in names.items() if not called & fields.keys()}


def _is_person(annotation: Any) -> bool:
    """Whether a field is a person, with their name."""
    parts = getattr(annotation, "__args__", (annotation,))
    models = [one for one in parts if isinstance(one, type) and issubclass(one, BaseModel)]
    return any({"full_name", "display_name"} & one.model_fields.keys() for one in models)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_person_in_a_list_has_a_name(system: str) -> None:
    service: Service = import_module(f"keyfold_systems.{system}.service").service(None)
    lists = [one for one in service.operations.values() if one.item is not None]
    assert lists
    for one in lists:
        own = OF_ONE if one.name in OWN.get(system, ()) else set[str]()
        assert nameless(system, one.item) - own == set(), one.name
