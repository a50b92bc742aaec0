"""Who may do what in TamaFriends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from keyfold_web import ANONYMOUS, Identity
from keyfold_web.auth import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.media import LocalMedia
from keyfold_web.rest import rest_app
from keyfold_systems.tamafriends import sessions
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.payloads import NewAccount, NewPost, NewReport
from keyfold_systems.tamafriends.service import TamaFriends
from tests.systems.access import Matrix, Scene, fresh
from tests.systems.opening import LATER

from .conftest import LENA, OMAR, START, STRANGER, YUKI, Postbox, World, enrol

pytestmark = LATER
ROOT = Identity.of("root", "admin")

MODERATOR = Identity.of("mod", "moderator")

MATRIX = Matrix(
    """
    operation             anonymous  stranger  member  reader  author  moderator  admin
    signUp                yes        yes       yes     yes     yes     yes        yes
    signIn                yes        yes       yes     yes     yes     yes        yes
    sessions              401        403       403     403     yes     403        403
    signOut               401        403       403     403     yes     403        403
    signOutEverywhere     401        403       403     403     yes     403        403
    changePassword        401        403       403     403     yes     403        403
    requestPasswordReset  yes        yes       yes     yes     yes     yes        yes
    resetPassword         yes        yes       yes     yes     yes     yes        yes
    user                  401        yes       yes     yes     yes     yes        yes
    account               401        403       403     403     yes     403        403
    userByHandle          401        yes       yes     yes     yes     yes        yes
    editProfile           401        403       403     403     yes     403        403
    deleteAccount         401        403       403     403     yes     403        403
    uploadImage           401        403       yes     yes     yes     yes        yes
    createPost            401        403       yes     yes     yes     yes        yes
    post                  401        yes       yes     yes     yes     yes        yes
    editPost              401        403       403     403     yes     403        403
    deletePost            401        403       403     403     yes     403        403
    posts                 401        yes       yes     yes     yes     yes        yes
    home                  401        403       403     403     yes     403        403
    like                  401        403       yes     409     yes     yes        yes
    unlike                401        403       404     yes     404     404        404
    likers                401        yes       yes     yes     yes     yes        yes
    likes                 401        403       403     403     yes     403        403
    comment               401        403       yes     yes     yes     yes        yes
    commentById           401        yes       yes     yes     yes     yes        yes
    editComment           401        403       403     yes     403     403        403
    deleteComment         401        403       403     yes     yes     403        403
    comments              401        yes       yes     yes     yes     yes        yes
    commentsOfUser        401        yes       yes     yes     yes     yes        yes
    follow                401        403       403     403     yes     403        403
    unfollow              401        403       403     yes     403     403        403
    followers             401        yes       yes     yes     yes     yes        yes
    following             401        yes       yes     yes     yes     yes        yes
    block                 401        403       403     403     yes     403        403
    unblock               401        403       403     403     yes     403        403
    blocks                401        403       403     403     yes     403        403
    notifications         401        403       403     403     yes     403        403
    unread                401        403       403     403     yes     403        403
    readNotifications     401        403       403     403     yes     403        403
    report                401        403       yes     yes     yes     yes        yes
    reports               401        403       403     403     403     yes        yes
    dismissReports        401        403       403     403     403     yes        yes
    removePost            401        403       403     403     403     yes        yes
    removeComment         401        403       403     403     403     yes        yes
    suspendUser           401        403       403     403     403     yes        yes
    restoreUser           401        403       403     403     403     404        404
    suspended             401        403       403     403     yes     yes        yes
    setRole               401        403       403     403     403     403        yes
    audit                 401        403       403     403     403     yes        yes
    personalData          401        403       403     403     yes     403        yes
    deletePersonalData    401        403       403     403     yes     403        yes
    """,
    {
        "anonymous": ANONYMOUS,
        "stranger": STRANGER,
        "member": LENA,
        "reader": OMAR,
        "author": YUKI,
        "moderator": MODERATOR,
        "admin": ROOT,
    },
    {
        "signUp": {
            "input": {
                "email": "zoe@example.com",
                "username": "zoe",
                "handle": "zoe",
                "displayName": "Zoe",
                "password": "correct horse",
            }
        },
        "signIn": {"input": {"login": "ken", "password": "battery staple"}},
        "changePassword": {"current": "correct horse", "new": "battery staple"},
        "requestPasswordReset": {"login": "yuki@example.com"},
        "resetPassword": {"code": "{code}", "password": "battery staple"},
        "editProfile": {"input": {"bio": "Hello"}},
        "uploadImage": {"contentType": "image/png"},
        "createPost": {"input": {"text": "Look!"}},
        "editPost": {"text": "See!"},
        "comment": {"text": "Nice."},
        "editComment": {"text": "Nicer."},
        "follow": {"followeeId": "omar"},
        "unfollow": {"userId": "omar", "followeeId": "yuki"},
        "block": {"blockedId": "omar"},
        "report": {"input": {"kind": "user", "targetId": "{blockedId}", "reason": "spam"}},
        "dismissReports": {"reason": "Fine"},
        "removePost": {"reason": "Spam"},
        "removeComment": {"reason": "Spam"},
        "suspendUser": {"hours": 1, "reason": "Spam"},
        "restoreUser": {"reason": "Enough"},
        "setRole": {"role": "moderator", "reason": "Nice"},
    },
)


@asynccontextmanager
async def posted() -> AsyncIterator[Scene]:
    """A post of Yuki's that Omar, who follows her, likes and comments, and Lena reports; she has
    blocked Ken, is signed in, and has forgotten her password."""
    async with fresh(design, START) as db:
        service = TamaFriends(db)
        service.mail, service.media = Postbox(), LocalMedia(Path("unused"))
        await enrol(db, YUKI, OMAR, LENA, ROOT, MODERATOR)
        ken = NewAccount(
            email="ken@example.com",
            username="ken",
            handle="ken",
            display_name="Ken",
            password="battery staple",
        )
        blocked = await service.sign_up(ken)
        await db.create(await service.passwords.new_credential("yuki", "correct horse"))
        session = await sessions.begin(db, "yuki", 1)
        code = await service.passwords.reset_code("yuki")
        post = await service.create_post(NewPost(text="Look!"), caller=YUKI)
        await service.like(post.post_id, caller=OMAR)
        said = await service.comment(post.post_id, "Nice.", caller=OMAR)
        await service.follow("omar", "yuki")
        await service.block("yuki", blocked.user_id)
        report = NewReport(kind="post", target_id=post.post_id, reason="spam")
        await service.report(report, caller=LENA)
        there = {
            "userId": "yuki",
            "handle": "yuki",
            "postId": post.post_id,
            "commentId": said.comment_id,
            "blockedId": blocked.user_id,
            "sessionId": session.session_id,
            "kind": "post",
            "targetId": post.post_id,
            "code": f"yuki~{code}",
        }
        yield Scene(service, there)


@pytest.fixture
def tokens() -> DevelopmentTokens:
    return DevelopmentTokens()


@pytest.fixture
def http(world: World, tokens: DevelopmentTokens) -> httpx.AsyncClient:
    """What Lena sends with."""
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(rest_app(Dispatch(world.service), tokens)),
        base_url="http://localhost",
        headers={"authorization": f"Bearer {tokens.issue('lena')}"},
    )


def test_every_operation_has_a_row() -> None:
    MATRIX.check_complete(TamaFriends)


@pytest.mark.parametrize("operation", MATRIX.rows)
async def test_who_may(operation: str) -> None:
    await MATRIX.check(operation, posted)


async def test_nobody_posts_as_another(http: httpx.AsyncClient) -> None:
    posed = await http.post("/posts", json={"text": "T", "userId": "yuki"})
    assert posed.status_code == 422, posed.text
    made = await http.post("/posts", json={"text": "T"})
    assert made.json()["userId"] == "lena"


async def test_a_blocked_user_is_told_so(world: World, http: httpx.AsyncClient) -> None:
    await world.service.block("yuki", "lena")
    refused = await http.post("/users/lena/following", json={"followeeId": "yuki"})
    assert (refused.status_code, refused.json()["code"]) == (403, "BLOCKED")


async def test_editing_what_is_not_there_is_404(http: httpx.AsyncClient) -> None:
    assert (await http.patch("/posts/none", json={"text": "T"})).status_code == 404
