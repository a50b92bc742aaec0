"""Accounts: joining, signing in and out, wrong, changed and forgotten passwords."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    NotAllowed,
    NotAuthenticated,
    TooMany,
    passwords,
)
from keyfold_web.auth import DevelopmentTokens
from keyfold_web.passwords import FREE_FAILURES, LONGEST_WAIT
from keyfold.errors import KeyfoldError, RequestReused, UniqueTaken
from keyfold_systems.tamafriends import mail, sessions
from keyfold_systems.tamafriends.entities import Credential, Session, UserProfile
from keyfold_systems.tamafriends.payloads import Login, NewAccount, NewPost, Signed
from tests.systems.opening import LATER, ask

from .conftest import PAGE, Postbox, World

pytestmark = LATER
PASSWORD, OTHER = "correct horse", "battery staple"
MANY = 12
"""So often wrong, the next wait is the longest."""
NEW = NewAccount(
    email="Mia@Example.com",
    username="mia.m",
    handle="mia",
    display_name="Mia",
    password=PASSWORD,
)


@dataclass
class Desk:
    """Mia's account, and the ways to it."""

    world: World
    joined: Signed

    @property
    def id(self) -> str:
        return self.joined.user_id

    async def sign_in(
        self, password: str = PASSWORD, login: str = "mia.m", request_id: str | None = None
    ) -> Signed:
        given = Login(login=login, password=password)
        return await self.world.service.sign_in(given, request_id=request_id)

    async def who(self, signed: Signed) -> str:
        """Whom a token stands for."""
        return (await sessions.Sessions(self.world.db).identity(signed.token)).id

    async def fail(self, times: int, *, after: float = LONGEST_WAIT.total_seconds()) -> None:
        for _ in range(times):
            with pytest.raises(NotAuthenticated):
                await self.sign_in("wrong horse")
            self.world.sandbox.clock.advance(after)

    async def is_out(self, signed: Signed) -> bool:
        try:
            await self.who(signed)
        except NotAuthenticated as refused:
            return refused.code == "SIGNED_OUT"
        return False


@pytest.fixture
async def mia(world: World) -> Desk:
    return Desk(world, await world.service.sign_up(NEW))


class TestJoining:
    async def test_who_signs_up_is_signed_in(self, mia: Desk) -> None:
        assert await mia.who(mia.joined) == mia.id

    async def test_a_refused_sign_up_leaves_nothing(self, world: World) -> None:
        before = await world.kinds()
        with pytest.raises(UniqueTaken):
            await world.service.sign_up(NEW.model_copy(update={"handle": "YUKI"}))
        assert await world.kinds() == before

    async def test_passwords_and_tokens_are_not_stored(self, mia: Desk) -> None:
        kept = await mia.world.db.get(Credential.key(user_id=mia.id))
        assert kept.password.startswith("scrypt$")
        stored = str(await mia.world.items())
        assert PASSWORD not in stored
        assert mia.joined.token.split("~")[-1] not in stored

    async def test_a_request_id_makes_one_account_and_one_session(self, world: World) -> None:
        first = await world.service.sign_up(NEW, request_id="r" * 64)
        second = await world.service.sign_up(NEW, request_id="r" * 64)
        assert (first.user_id, first.session_id) == (second.user_id, second.session_id)
        desk = Desk(world, second)
        assert (await desk.who(second), await desk.is_out(first)) == (second.user_id, True)
        other = NEW.model_copy(update={"password": OTHER})
        with pytest.raises(RequestReused):
            await world.service.sign_up(other, request_id="r" * 64)

    def test_digests_are_slow_outside_tests(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        rounds, blocks, lanes = passwords.COST
        assert rounds * blocks * lanes >= 2**14 * 8 * 5


class TestSigningIn:
    @pytest.mark.parametrize("login", ["mia@example.COM", "MIA.m", "Mia", "@MIA", " mia "])
    async def test_email_username_and_handle_are_logins(self, mia: Desk, login: str) -> None:
        signed = await mia.sign_in(login=login)
        assert await mia.who(signed) == mia.id

    async def test_an_at_sign_says_that_a_handle_is_meant(self, mia: Desk) -> None:
        named = {"email": "x@example.com", "username": "mia", "handle": "xaver"}
        other = NEW.model_copy(update={**named, "password": OTHER})
        xaver = await mia.world.service.sign_up(other)
        assert (await mia.sign_in(login="@mia")).user_id == mia.id
        assert (await mia.sign_in(OTHER, login="mia")).user_id == xaver.user_id

    @pytest.mark.parametrize(
        "login", ["mia@example.com", "mia.m", "@mia", "nobody", "no@body", "@", "a#b", "a@b#c"]
    )
    async def test_a_wrong_password_and_an_unknown_login_look_alike(
        self, mia: Desk, login: str
    ) -> None:
        codes = []
        for _ in range(FREE_FAILURES + 2):
            with pytest.raises((NotAuthenticated, TooMany)) as refused:
                await mia.sign_in("wrong horse", login=login)
            codes.append((refused.value.code, refused.value.message))
        wrong = ("NOT_AUTHENTICATED", "Login or password is wrong.")
        waiting = ("TOO_MANY_REQUESTS", "Too many wrong passwords; try again in 3 s.")
        assert codes == [wrong] * (FREE_FAILURES + 1) + [waiting]

    async def test_a_repeated_sign_in_is_one_session(self, mia: Desk) -> None:
        first = await mia.sign_in(request_id="q" * 64)
        second = await mia.sign_in(request_id="q" * 64)
        assert (await mia.who(second), await mia.is_out(first)) == (mia.id, True)
        assert len(await mia.world.service.sessions(mia.id, PAGE, caller=Identity.of(mia.id))) == 2


class TestGuessing:
    async def test_a_few_typing_errors_cost_nothing(self, mia: Desk) -> None:
        await mia.fail(FREE_FAILURES, after=0)
        assert await mia.who(await mia.sign_in()) == mia.id

    async def test_the_next_one_waits_longer_and_longer(self, mia: Desk) -> None:
        await mia.fail(FREE_FAILURES)
        for wait in (2, 4, 8):
            with pytest.raises(NotAuthenticated):
                await mia.sign_in("wrong horse")
            with pytest.raises(TooMany) as refused:
                await mia.sign_in()
            assert refused.value.retry_after == wait + 1
            mia.world.sandbox.clock.advance(wait)
        assert await mia.who(await mia.sign_in()) == mia.id

    async def test_many_lock_the_account_for_a_while_by_whatever_login(self, mia: Desk) -> None:
        await mia.fail(MANY)
        with pytest.raises(NotAuthenticated):
            await mia.sign_in("wrong horse")
        for login in ("mia.m", "@mia", "mia@example.com"):
            with pytest.raises(TooMany) as refused:
                await mia.sign_in(login=login)
            assert refused.value.retry_after == LONGEST_WAIT.total_seconds() + 1
        assert await mia.who(mia.joined) == mia.id, "who is signed in stays so"
        mia.world.sandbox.clock.advance(LONGEST_WAIT.total_seconds())
        assert await mia.who(await mia.sign_in()) == mia.id

    async def test_many_at_once_gain_nothing(self, mia: Desk) -> None:
        guesses = [mia.sign_in(f"wrong horse {number}") for number in range(30)]
        results = await asyncio.gather(*guesses, return_exceptions=True)
        looked_at = [one for one in results if isinstance(one, NotAuthenticated)]
        assert len(looked_at) <= FREE_FAILURES + 1
        assert all(isinstance(one, NotAuthenticated | TooMany) for one in results)

    async def test_the_right_password_forgets_the_wrong_ones(self, mia: Desk) -> None:
        await mia.fail(MANY)
        await mia.sign_in()
        await mia.fail(FREE_FAILURES, after=0)
        assert await mia.who(await mia.sign_in()) == mia.id


class TestLeaving:
    async def test_a_session_ends_alone(self, mia: Desk) -> None:
        other = await mia.sign_in()
        await mia.world.service.sign_out(mia.id, other.session_id)
        assert (await mia.is_out(other), await mia.is_out(mia.joined)) == (True, False)

    async def test_signing_out_everywhere_ends_all_with_one_write(self, mia: Desk) -> None:
        all_of_them = [mia.joined, await mia.sign_in(), await mia.sign_in()]
        await mia.world.service.sign_out_everywhere(mia.id)
        assert [await mia.is_out(one) for one in all_of_them] == [True] * 3
        assert (
            await mia.world.service.sessions(mia.id, PAGE, caller=Identity.of(mia.id))
        ).items == []
        assert await mia.who(await mia.sign_in()) == mia.id

    async def test_sessions_end_by_themselves(self, mia: Desk) -> None:
        mia.world.sandbox.clock.advance(31 * 86400)
        assert await mia.is_out(mia.joined)

    async def test_a_token_with_another_secret_is_nobodys(self, mia: Desk) -> None:
        forged = mia.joined.token[:-1] + ("a" if mia.joined.token[-1] != "a" else "b")
        assert await mia.is_out(mia.joined.model_copy(update={"token": forged}))
        for token in ("tama~", "tama~x~y", "tama~x~y~", "tama~a#b~c~d", "nonsense"):
            with pytest.raises(NotAuthenticated):
                await sessions.Sessions(mia.world.db).identity(token)

    async def test_sessions_go_with_their_account(self, mia: Desk) -> None:
        await mia.world.service.delete_account(mia.id)
        assert await mia.is_out(mia.joined)
        await mia.world.settle()
        assert [one async for one in mia.world.db.scan(Session)] == []


class TestChanging:
    async def test_a_changed_password_ends_all_sessions_but_the_new_one(self, mia: Desk) -> None:
        signed = await mia.world.service.change_password(mia.id, PASSWORD, OTHER)
        assert (await mia.who(signed), await mia.is_out(mia.joined)) == (mia.id, True)
        with pytest.raises(NotAuthenticated):
            await mia.sign_in(PASSWORD)
        assert await mia.who(await mia.sign_in(OTHER)) == mia.id

    async def test_the_new_session_says_where_it_is(self, mia: Desk) -> None:
        service = mia.world.service
        await service.change_password(mia.id, PASSWORD, OTHER, "A phone")
        [session] = await service.sessions(mia.id, PAGE, caller=Identity.of(mia.id))
        assert session.device == "A phone"

    async def test_the_current_password_is_asked_for_and_guesses_count(self, mia: Desk) -> None:
        for _ in range(FREE_FAILURES + 1):
            with pytest.raises(NotAllowed, match="current password"):
                await mia.world.service.change_password(mia.id, OTHER, OTHER)
        with pytest.raises(TooMany):
            await mia.world.service.change_password(mia.id, PASSWORD, OTHER)

    async def test_a_repeated_change_is_one_change(self, mia: Desk) -> None:
        change = mia.world.service.change_password
        await change(mia.id, PASSWORD, OTHER, request_id="c" * 64)
        again = await change(mia.id, PASSWORD, OTHER, request_id="c" * 64)
        assert await mia.who(again) == mia.id
        with pytest.raises(NotAllowed):
            await change(mia.id, PASSWORD, "something else", request_id="c" * 64)

    async def test_a_sign_in_that_races_the_change_gets_no_session(self, mia: Desk) -> None:
        compared = await mia.world.service.passwords.check(mia.id, PASSWORD)
        await mia.world.service.change_password(mia.id, PASSWORD, OTHER)
        with pytest.raises(NotAuthenticated):
            await sessions.begin(mia.world.db, mia.id, compared)


class TestResetting:
    @pytest.fixture
    def post(self, mia: Desk) -> Postbox:
        mia.world.service.mail = Postbox()
        return mia.world.service.mail

    async def ask(self, mia: Desk, login: str = "@mia") -> None:
        await mia.world.service.request_password_reset(login)
        await mia.world.service.stop()

    def code(self, post: Postbox) -> str:
        [line] = [line for line in post.sent[-1][1].splitlines() if "~" in line]
        return line

    async def test_a_code_is_sent_and_makes_a_new_password_once(
        self, mia: Desk, post: Postbox
    ) -> None:
        await self.ask(mia)
        assert [to for to, _ in post.sent] == ["Mia@Example.com"]
        code = self.code(post)
        assert code.split("~")[1] not in str(await mia.world.items())
        await mia.world.service.reset_password(code, OTHER)
        assert await mia.is_out(mia.joined)
        assert await mia.who(await mia.sign_in(OTHER)) == mia.id
        with pytest.raises(Invalid, match="used or expired"):
            await mia.world.service.reset_password(code, "third horse")

    async def test_a_reset_ends_a_lock(self, mia: Desk, post: Postbox) -> None:
        await mia.fail(MANY)
        await self.ask(mia)
        await mia.world.service.reset_password(self.code(post), OTHER)
        assert await mia.who(await mia.sign_in(OTHER)) == mia.id

    async def test_an_unknown_login_is_answered_alike_and_nothing_is_sent(
        self, mia: Desk, post: Postbox
    ) -> None:
        await self.ask(mia, "nobody")
        assert post.sent == []

    async def test_who_asks_again_at_once_gets_one_mail(self, mia: Desk, post: Postbox) -> None:
        await self.ask(mia)
        await self.ask(mia)
        assert len(post.sent) == 1
        mia.world.sandbox.clock.advance(61)
        await self.ask(mia)
        assert len(post.sent) == 2

    async def test_codes_expire_and_cannot_be_guessed(self, mia: Desk, post: Postbox) -> None:
        await self.ask(mia)
        for code in (f"{mia.id}~guess", "nobody~guess", "~", "x"):
            with pytest.raises(Invalid):
                await mia.world.service.reset_password(code, OTHER)
        mia.world.sandbox.clock.advance(3601)
        with pytest.raises(Invalid):
            await mia.world.service.reset_password(self.code(post), OTHER)

    async def test_a_repeated_reset_is_one_reset(self, mia: Desk, post: Postbox) -> None:
        await self.ask(mia)
        for _ in range(2):
            await mia.world.service.reset_password(self.code(post), OTHER, request_id="d" * 64)
        assert await mia.who(await mia.sign_in(OTHER)) == mia.id

    async def test_where_no_mail_is_sent_it_is_said(self, mia: Desk) -> None:
        with pytest.raises(Conflict, match="sends no mail"):
            await mia.world.service.request_password_reset("@mia")


async def test_what_a_role_is_counts_at_once(world: World) -> None:
    signed = await world.service.sign_up(NEW)
    known = sessions.Sessions(world.db)
    assert (await known.identity(signed.token)).groups == frozenset()
    await world.db.update(UserProfile.key(user_id=signed.user_id), role="admin")
    assert (await known.identity(signed.token)).is_admin


class TestIssuers:
    """Tokens of somebody else's, with what they say of a person."""

    def caller(self, id: str, email: str, **more: object) -> Identity:
        return Identity.from_claims({"sub": id, "email": email, **more})

    async def test_a_first_request_with_an_issuers_token_makes_the_profile(
        self, world: World
    ) -> None:
        zoe = self.caller("issuer|7", "zoe.k@example.com", name="Zoe K.")
        for _ in range(2):
            await ask(world.service, "posts", zoe, user_id="yuki", page=PAGE)
        made = await world.service.account("issuer|7")
        assert (made.handle, made.display_name) == ("zoe_k", "Zoe K.")
        await ask(world.service, "createPost", zoe, input=NewPost(text="Hi"))

    async def test_a_taken_handle_gets_an_end_and_a_taken_email_is_said(self, world: World) -> None:
        await world.service.welcome(self.caller("i1", "yuki@elsewhere.com"))
        assert (await world.service.account("i1")).handle.startswith("yuki_")
        with pytest.raises(Conflict, match="your email"):
            await world.service.welcome(self.caller("i2", "yuki@example.com"))

    async def test_a_blank_name_is_none(self, world: World) -> None:
        await world.service.welcome(self.caller("i5", "ada@example.com", name="  "))
        assert (await world.service.account("i5")).display_name == "ada"

    async def test_a_role_that_was_given_counts_beside_the_groups_of_the_token(
        self, world: World
    ) -> None:
        tokens = DevelopmentTokens()
        known = world.service.tokens(tokens)
        assert (await known.identity(tokens.issue("yuki", "x"))).groups == frozenset({"x"})
        await world.service.set_role("yuki", "moderator", "Nice", caller=Identity.of("root"))
        mixed = await known.identity(tokens.issue("yuki", "x"))
        assert (mixed.groups, mixed.is_admin) == (frozenset({"x", "moderator"}), False)
        await world.service.set_role("yuki", "admin", "Nicer", caller=Identity.of("root"))
        assert (await known.identity(tokens.issue("yuki"))).is_admin
        for stranger in ("nobody", "a#b"):
            assert (await known.identity(tokens.issue(stranger))).groups == frozenset()

    async def test_an_address_that_nobody_verified_makes_nothing(self, world: World) -> None:
        before = await world.kinds()
        await world.service.welcome(self.caller("i3", "x@example.com", email_verified=False))
        await world.service.welcome(Identity.of("i4"))
        assert await world.kinds() == before


async def test_mail_goes_to_a_real_server(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers = {"data": b"354 go on", "quit": b"221 bye", ".": b"250 taken"}
        writer.write(b"220 here\r\n")
        in_message = False
        while raw := await reader.readline():
            line = raw.decode().rstrip("\r\n")
            heard.append(line)
            if not in_message or line == ".":
                writer.write(answers.get(line.lower(), b"250 good") + b"\r\n")
            in_message = line.lower() == "data" or (in_message and line != ".")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv(mail.VARIABLE, f"smtp://127.0.0.1:{port}")
    sending = mail.from_environment()
    assert sending is not None
    await sending.send("mia@example.com", "A new password", "A code")
    server.close()
    assert "rcpt to:<mia@example.com>" in [one.lower() for one in heard]
    assert {"Subject: A new password", "A code"} <= set(heard)
    monkeypatch.setenv(mail.VARIABLE, "mail.example.com")
    with pytest.raises(KeyfoldError, match="smtp://host:port"):
        mail.from_environment()
