"""Every mutation happens once for a request id, and another payload under the id is refused."""

from __future__ import annotations

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_systems.tamafriends import sessions
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import UserProfile
from keyfold_systems.tamafriends.service import TamaFriends
from tests.systems.conftest import Recorder, served
from tests.systems.repeats import Step, check_repeats

from .conftest import START, Postbox

COMMENTS, MODERATION = "/posts/{postId}/comments", "/moderation/users/omar"
MY_LIKE, MY_FOLLOW = "/posts/{postId}/likes", "/users/omar/following"
SPAM = {"kind": "user", "targetId": "omar", "reason": "spam"}
WHY, OTHER = {"reason": "Spam"}, {"reason": "Abuse"}
STEPS = [
    Step("editProfile", "yuki", "PATCH", "/users/yuki", {"bio": "Hens."}, {"bio": "Cats."}),
    Step("createPost", "yuki", "POST", "/posts", {"text": "Hi"}, {"text": "Ho"}, "postId"),
    Step("editPost", "yuki", "PATCH", "/posts/{postId}", {"text": "Hi!"}, {"text": "Ho!"}),
    Step("like", "omar", "POST", MY_LIKE, None, "/posts/other/likes"),
    Step("unlike", "omar", "DELETE", f"{MY_LIKE}/mine", None, "/posts/other/likes/mine"),
    Step("comment", "omar", "POST", COMMENTS, {"text": "A"}, {"text": "B"}, "commentId"),
    Step(
        *("editComment", "omar", "PATCH", f"{COMMENTS}/{{commentId}}", {"text": "C"}),
        *({"text": "D"},),
    ),
    Step("deleteComment", "omar", "DELETE", f"{COMMENTS}/{{commentId}}", None, f"{COMMENTS}/other"),
    Step("comment", "omar", "POST", COMMENTS, {"text": "A"}, {"text": "B"}, "commentId"),
    Step("report", "lena", "POST", "/reports", SPAM, SPAM | {"reason": "abuse"}),
    Step("dismissReports", "mod:moderator", "POST", "/reports/user/omar/dismissal", WHY, OTHER),
    Step(
        *("removeComment", "mod:moderator", "POST"),
        *("/moderation/posts/{postId}/comments/{commentId}/removal", WHY, OTHER),
    ),
    Step("follow", "omar", "POST", MY_FOLLOW, {"followeeId": "yuki"}, {"followeeId": "lena"}),
    Step("unfollow", "omar", "DELETE", f"{MY_FOLLOW}/yuki", None, f"{MY_FOLLOW}/lena"),
    Step("block", "yuki", "POST", "/users/yuki/blocks", {"blockedId": "omar"}, {"blockedId": "o"}),
    Step("unblock", "yuki", "DELETE", "/users/yuki/blocks/omar", None, "/users/yuki/blocks/lena"),
    Step(
        *("readNotifications", "yuki", "POST", "/users/yuki/notifications/read"),
        *({"notificationIds": None}, {"notificationIds": ["a"]}),
    ),
    Step(
        *("suspendUser", "mod:moderator", "PUT", "/users/omar/suspension"),
        *({**WHY, "hours": 1}, {**WHY, "hours": 2}),
    ),
    Step(
        *("restoreUser", "mod:moderator", "DELETE", "/users/omar/suspension?reason=a", None),
        *("/users/omar/suspension?reason=b",),
    ),
    Step(
        *("setRole", "root:admin", "PUT", f"{MODERATION}/role"),
        *({**WHY, "role": "moderator"}, {**WHY, "role": "admin"}),
    ),
    Step(
        *("removePost", "mod:moderator", "POST", "/moderation/posts/{postId}/removal"),
        *(WHY, OTHER),
    ),
    Step("createPost", "yuki", "POST", "/posts", {"text": "Hi"}, {"text": "Ho"}, "postId"),
    Step("deletePost", "yuki", "DELETE", "/posts/{postId}", None, "/posts/other"),
    Step(
        *("requestPasswordReset", "", "POST", "/password-resets"),
        *({"login": "yuki"}, {"login": "omar"}),
    ),
    Step("signOut", "yuki", "DELETE", "/users/yuki/sessions/s", None, "/users/yuki/sessions/t"),
    Step(
        *("signOutEverywhere", "yuki", "DELETE", "/users/yuki/sessions", None),
        *("/users/omar/sessions",),
    ),
    Step("deleteAccount", "omar", "DELETE", "/users/omar", None, "/users/yuki"),
]
BY_STEPS = {"deletePersonalData"}
"""Each call goes on; the last one finds nothing."""
WITH_SECRETS = {"signUp", "signIn", "changePassword", "resetPassword", "uploadImage"}
"""Tokens and links are not kept: these have tests of their own."""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def table() -> str:
    return "tamafriends"


def test_every_mutation_is_tried() -> None:
    operations = TamaFriends.operations.values()
    mutations = {one.name for one in operations if one.kind == "mutation"}
    assert mutations == {step.operation for step in STEPS} | WITH_SECRETS | BY_STEPS
    assert all(TamaFriends.operations[name].takes_request_id for name in mutations - BY_STEPS)


async def test_every_mutation_repeated_has_one_effect(
    everywhere: Recorder, clock: ManualClock
) -> None:
    db = await design.open_async(everywhere, clock=clock, table_prefix=everywhere.prefix)
    for name in ("yuki", "omar", "lena"):
        await db.create(
            UserProfile(
                user_id=name,
                email=f"{name}@example.com",
                username=name,
                handle=name,
                display_name=name.title(),
            )
        )
    service = TamaFriends(db)
    await db.create(await service.passwords.new_credential("yuki", "correct horse"))
    await sessions.begin(db, "yuki", 1, session_id="s")
    service.mail = Postbox()
    async with served(service) as web:
        await check_repeats(web, everywhere, STEPS)
