"""Fields of the systems as the studio shows them: where they lead, what is edited."""

from __future__ import annotations

from keyfold import Design
from keyfold.design.target import load_design, load_schema
from keyfold_workbench.studio.entry import form_fields, read_fields
from keyfold_workbench.studio.palette import Palette


def test_a_field_leads_to_whose_id_it_holds_and_one_word_does_not_say_whose() -> None:
    schema = load_schema("keyfold_systems.gg_core.design:design")
    palette = Palette(schema)

    def target(entity: str, field: str) -> str:
        return palette.target(schema.by_entity[entity], field)

    assert target("Follow", "follower_id") == "User", "not the counter of whom a user follows"
    assert target("Quest", "quest_id") == "Quest"
    assert target("Group", "name") == "", "not the lock of that name"
    assert target("GroupMember", "group_id") == "Group"
    sellers = load_schema("keyfold_systems.sellers.design:design")
    share = sellers.by_entity["Share"]
    assert Palette(sellers).target(share, "target_account_id") == "Account"


def test_a_field_that_follows_another_item_is_given_once_and_not_edited() -> None:
    inviter = load_design("keyfold_systems.inviter.design:design")
    assert isinstance(inviter, Design)
    entity = inviter.entities["GroupMembership"]
    ids = {"group_id": "g", "user_id": "u"}
    item = entity.model_validate({**ids, "group_name": "Runners", "user_name": "Ada"})
    (stored,) = [one for one in form_fields(entity, item, {}, {}) if one.name == "user_name"]
    assert stored.kept == "copied from User.name"
    (new,) = [one for one in form_fields(entity, None, {}, {}) if one.name == "user_name"]
    assert new.kept == ""
    given = {"user_name": ["Eve"]}
    assert read_fields(entity, given, is_new=False) == ({}, {})
