"""The arrows of the five designs: each is declared, or follows from `<entity>_id`."""

from __future__ import annotations

import pytest

from keyfold.design.target import load_schema
from keyfold.review.docs.relations import relations

ARROWS = {
    "gg_core": """
        FeedItem -> Activity (copy), User (follower_id)
        Follow -> User (follower_id)
        FollowersCounter -> User (user_id)
        FollowingCounter -> User (user_id)
        Group -> User (owner_id)
        GroupMember -> Group (group_id), User (user_id)
        Goal -> User (user_id)
        Task -> Goal (goal_id)
        Promotion -> User (user_id)
        Quest -> User (user_id)
        Message -> Room (room_id), User (user_id)
        RoomOfUser -> User (user_id), Room (room_id)
    """,
    "inviter": """
        HangoutPointer -> Hangout (copy), Group (group_id)
        UserHangoutPointer -> Hangout (copy), User (user_id)
        GroupMembership -> Group (group_id), User (user_id)
        Hangout -> User (host_id), Group (associated_groups)
        Response -> Hangout (hangout_id), User (user_id), Group (group_id)
    """,
    "search_room": """
        UserRoom -> Member (copy)
        Room -> Person (created_by_user_id)
        Member -> Room (room_id), Person (user_id)
        Listing -> Room (room_id)
        UserCriteria -> Room (room_id), Person (user_id)
        CombinedCriteria -> Room (room_id)
        Activity -> Room (room_id), Person (sender_id)
        Compatibility -> Room (room_id)
    """,
    "sellers": """
        Profile -> Account (owner_account_id)
        Share -> Profile (profile_id), Account (target_account_id)
        Invite -> Profile (profile_id), Account (created_by_account_id)
        Season -> Profile (profile_id), Catalog (catalog_id)
        Order -> Season (season_id)
        Catalog -> Account (owner_account_id)
    """,
    "tamafriends": """
        Post -> UserProfile (user_id)
        Follow -> UserProfile (follower_id)
        Comment -> Post (post_id)
        Like -> Post (post_id)
    """,
}


@pytest.mark.parametrize("name", ARROWS)
def test_every_arrow_is_one_that_the_design_has(name: str) -> None:
    found: dict[str, list[str]] = {}
    for one in relations(load_schema(f"keyfold_systems.{name}.design:design")):
        if one.kind != "count":
            label = "copy" if one.kind else one.label
            found.setdefault(one.source, []).append(f"{one.target} ({label})")
    shown = [f"{source} -> {', '.join(targets)}" for source, targets in found.items()]
    assert shown == [line.strip() for line in ARROWS[name].strip().splitlines()]
