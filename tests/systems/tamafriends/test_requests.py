"""Every mutation happens once for a request id, and another payload under the id is refused."""

from __future__ import annotations

import pytest

from keyfold.clock import ManualClock
from keyfold_systems.tamafriends.design import UserProfile, design
from keyfold_systems.tamafriends.service import TamaFriends
from tests.systems.conftest import Recorder, served
from tests.systems.repeats import Step, check_repeats

from .conftest import START

MY_LIKE, MY_FOLLOW = "/posts/{postId}/likes", "/users/omar/following"
STEPS = [
    Step("editProfile", "yuki", "PATCH", "/users/yuki", {"bio": "Hens."}, {"bio": "Cats."}),
    Step("createPost", "yuki", "POST", "/posts", {"text": "Hi"}, {"text": "Ho"}, "postId"),
    Step("editPost", "yuki", "PATCH", "/posts/{postId}", {"text": "Hi!"}, {"text": "Ho!"}),
    Step("like", "omar", "POST", MY_LIKE, None, "/posts/other/likes"),
    Step("unlike", "omar", "DELETE", f"{MY_LIKE}/mine", None, "/posts/other/likes/mine"),
    Step(
        *("comment", "omar", "POST", "/posts/{postId}/comments", {"text": "Nice."}),
        *({"text": "Nicer."}, "commentId"),
    ),
    Step("deleteComment", "omar", "DELETE", "/comments/{commentId}", None, "/comments/other"),
    Step("follow", "omar", "POST", MY_FOLLOW, {"followeeId": "yuki"}, {"followeeId": "lena"}),
    Step("unfollow", "omar", "DELETE", f"{MY_FOLLOW}/yuki", None, f"{MY_FOLLOW}/lena"),
    Step("block", "yuki", "POST", "/users/yuki/blocks", {"blockedId": "omar"}, {"blockedId": "o"}),
    Step("unblock", "yuki", "DELETE", "/users/yuki/blocks/omar", None, "/users/yuki/blocks/lena"),
    Step("deletePost", "yuki", "DELETE", "/posts/{postId}", None, "/posts/other"),
    Step("deleteAccount", "omar", "DELETE", "/users/omar", None, "/users/yuki"),
]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START.timestamp())


@pytest.fixture
def table() -> str:
    return "tamafriends"


def test_every_mutation_is_tried() -> None:
    operations = TamaFriends.operations.values()
    mutations = {one.name for one in operations if one.kind == "mutation"}
    # Tokens are not kept; an address that is taken makes a second account impossible.
    assert mutations == {step.operation for step in STEPS} | {"signUp", "signIn"}


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
    async with served(TamaFriends(db)) as web:
        await check_repeats(web, everywhere, STEPS)
