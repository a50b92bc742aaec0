"""Signing in by password: slow digests, waits after failures, change, reset, signing out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import ClassVar

import httpx
import pytest

from keyfold import AsyncDb, Design, Entity, Key, Timestamp
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    NotAllowed,
    NotAuthenticated,
    Passwords,
    Payload,
    Service,
    TooMany,
    anyone,
    authenticated,
    mutation,
    query,
)
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.auth import DevelopmentTokens, OwnTokens
from keyfold_engine.clock import ManualClock
from keyfold.errors import DeclarationError

design = Design("accounts")
table = design.table("Accounts")
QUICK = (2, 8, 1)
START = 1_800_000_000.0


class Credential(Entity, table=table):
    user_id: str
    password: str
    failures: int = 0
    locked_until: Timestamp | None = None
    session: int = 1
    reset: str | None = None
    reset_until: Timestamp | None = None
    key = Key("USER#{user_id}", "CREDENTIAL")


class Signed(Payload):
    token: str


class Accounts(Service):
    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb) -> None:
        self.db = db
        self.passwords = Passwords(db, Credential, cost=QUICK)
        self.welcomed: list[str] = []

    async def admits(self, caller: Identity) -> bool:
        return await self.passwords.admits(caller)

    async def welcome(self, caller: Identity) -> None:
        self.welcomed.append(f"{caller.id} {caller.name}")

    @mutation("/sessions", allow=anyone, status=201)
    async def sign_in(self, user_id: str, password: str) -> Signed:
        assert self.issue is not None
        session = await self.passwords.check(user_id, password)
        return Signed(token=self.issue(user_id, session=session))

    @mutation("/sessions", method="DELETE", allow=authenticated)
    async def sign_out(self, caller: Identity) -> None:
        await self.passwords.sign_out(caller.id)

    @query("/me", allow=authenticated)
    async def me(self, caller: Identity) -> str:
        return caller.id


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
async def db(clock: ManualClock) -> AsyncIterator[AsyncDb]:
    async with await design.open_async(":memory:", clock=clock) as db:
        yield db


@pytest.fixture
async def passwords(db: AsyncDb) -> Passwords[Credential]:
    made = Passwords(db, Credential, cost=QUICK)
    await db.create(await made.new_credential("mia", "correct horse"))
    return made


async def test_the_right_password_gives_the_session_and_the_wrong_one_nothing(
    passwords: Passwords[Credential], db: AsyncDb
) -> None:
    assert await passwords.check("mia", "correct horse") == 1
    for wrong in ("", "Correct horse", "correct horse "):
        with pytest.raises(NotAuthenticated):
            await passwords.check("mia", wrong)
    kept = await db.get(Credential.key(user_id="mia"))
    assert "correct" not in kept.model_dump_json()


async def test_after_three_failures_each_costs_a_longer_wait_and_the_right_one_ends_it(
    passwords: Passwords[Credential], clock: ManualClock, db: AsyncDb
) -> None:
    waits = []
    for _ in range(14):
        with pytest.raises(NotAuthenticated):
            await passwords.check("mia", "wrong")
        until = (await db.get(Credential.key(user_id="mia"))).locked_until
        assert until is not None
        waits.append(until.timestamp() - clock.now())
        if waits[-1]:
            with pytest.raises(TooMany) as refused:
                await passwords.check("mia", "correct horse")
            assert refused.value.retry_after == waits[-1] + 1
        clock.advance(waits[-1])
    assert waits == [0, 0, 0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    assert await passwords.check("mia", "correct horse") == 1
    assert (await db.get(Credential.key(user_id="mia"))).failures == 0


@pytest.mark.parametrize("user_id", ["mia", None])
async def test_an_account_that_does_not_exist_is_answered_like_one_that_does(
    passwords: Passwords[Credential], user_id: str | None
) -> None:
    answers = []
    for _ in range(5):
        try:
            await passwords.check(user_id, "wrong", login="somebody")
        except (NotAuthenticated, TooMany) as refused:
            answers.append((type(refused), str(refused)))
    wrong = (NotAuthenticated, "Login or password is wrong.")
    assert answers[:4] == [wrong] * 4
    assert answers[4] == (TooMany, "Too many wrong passwords; try again in 3 s.")


async def test_guesses_at_the_same_time_do_not_slip_through(
    passwords: Passwords[Credential], db: AsyncDb
) -> None:
    guesses = [passwords.check("mia", f"guess {number}") for number in range(20)]
    answers = await asyncio.gather(*guesses, return_exceptions=True)
    looked_at = [one for one in answers if isinstance(one, NotAuthenticated)]
    assert len(looked_at) == (await db.get(Credential.key(user_id="mia"))).failures
    assert len(looked_at) <= 4


async def test_a_changed_password_ends_other_sessions(passwords: Passwords[Credential]) -> None:
    with pytest.raises(NotAllowed, match="current password is wrong"):
        await passwords.change("mia", "wrong", "battery staple")
    assert await passwords.change("mia", "correct horse", "battery staple") == 2
    assert await passwords.check("mia", "battery staple") == 2
    with pytest.raises(NotAuthenticated):
        await passwords.check("mia", "correct horse")


async def test_a_code_gives_one_new_password_for_an_hour(
    passwords: Passwords[Credential], clock: ManualClock, db: AsyncDb
) -> None:
    old = await passwords.reset_code("mia")
    code = await passwords.reset_code("mia")
    assert code not in (await db.get(Credential.key(user_id="mia"))).model_dump_json()
    for wrong in (old, "", code[:-1]):
        with pytest.raises(Invalid):
            await passwords.reset("mia", wrong, "battery staple")
    assert await passwords.reset("mia", code, "battery staple") == 2
    assert await passwords.check("mia", "battery staple") == 2
    with pytest.raises(Invalid):
        await passwords.reset("mia", code, "a third one")
    late = await passwords.reset_code("mia")
    clock.advance(3601)
    with pytest.raises(Invalid):
        await passwords.reset("mia", late, "a third one")
    with pytest.raises(Invalid):
        await passwords.reset("nobody", late, "a third one")


async def test_a_digest_of_another_cost_is_made_anew_at_the_next_sign_in(
    passwords: Passwords[Credential], db: AsyncDb
) -> None:
    costly = Passwords(db, Credential, cost=(4, 8, 1))
    await costly.check("mia", "correct horse")
    kept = await db.get(Credential.key(user_id="mia"))
    assert kept.password.startswith("scrypt$4$8$1$")
    assert await costly.check("mia", "correct horse") == 1


async def test_a_sign_in_that_races_a_change_neither_succeeds_nor_brings_the_old_password_back(
    passwords: Passwords[Credential], db: AsyncDb, monkeypatch: pytest.MonkeyPatch
) -> None:
    costly = Passwords(db, Credential, cost=(4, 8, 1))
    digest = costly._digest

    async def change_first(password: str) -> str:
        await passwords.change("mia", "correct horse", "battery staple")
        return await digest(password)

    monkeypatch.setattr(costly, "_digest", change_first)
    with pytest.raises(NotAuthenticated):
        await costly.check("mia", "correct horse")
    assert await passwords.check("mia", "battery staple") == 2


async def test_of_two_changes_at_once_one_is_told_that_it_lost(
    passwords: Passwords[Credential], monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = passwords._digest

    async def change_first(password: str) -> str:
        monkeypatch.undo()
        await passwords.change("mia", "correct horse", "first")
        return await digest(password)

    monkeypatch.setattr(passwords, "_digest", change_first)
    with pytest.raises(Conflict, match="changed just now"):
        await passwords.change("mia", "correct horse", "second")
    assert await passwords.check("mia", "first") == 2


async def test_signing_out_everywhere_ends_every_token_at_once(db: AsyncDb) -> None:
    service = Accounts(db)
    await db.create(await service.passwords.new_credential("mia", "correct horse"))
    app = create_app([service], ApiSettings(tokens=OwnTokens("k" * 32)))
    login = {"userId": "mia", "password": "correct horse"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://localhost/accounts"
    ) as client:
        headers = []
        for _ in range(2):
            signed = await client.post("/sessions", json=login)
            headers.append({"authorization": f"Bearer {signed.json()['token']}"})
        assert [(await client.get("/me", headers=h)).status_code for h in headers] == [200, 200]
        assert (await client.delete("/sessions", headers=headers[0])).status_code == 204
        answers = [await client.get("/me", headers=h) for h in headers]
        assert [one.json()["code"] for one in answers] == ["SIGNED_OUT", "SIGNED_OUT"]
        asked = {"query": "{ me }"}
        answer = await client.post("/graphql", json=asked, headers=headers[1])
        assert answer.json()["errors"][0]["extensions"]["code"] == "SIGNED_OUT"
        again = (await client.post("/sessions", json=login)).json()["token"]
        assert (await client.get("/me", headers={"authorization": f"Bearer {again}"})).is_success


async def test_a_caller_is_welcomed_before_their_first_operation(
    db: AsyncDb, clock: ManualClock
) -> None:
    service, tokens = Accounts(db), DevelopmentTokens(clock=clock)
    app = create_app([service], ApiSettings(development=True, tokens=tokens))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://localhost/accounts"
    ) as client:
        for who in ("ada", "ada", "ben"):
            await client.get("/me", headers={"authorization": f"Bearer {tokens.issue(who)}"})
        await client.get("/me")
    assert service.welcomed == ["ada ada", "ben ben"]


async def test_who_signs_in_again_is_welcomed_again(db: AsyncDb, clock: ManualClock) -> None:
    """They may have left for good since then, and their profile with them."""
    service, tokens = Accounts(db), DevelopmentTokens(clock=clock)
    app = create_app([service], ApiSettings(development=True, tokens=tokens))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://localhost/accounts"
    ) as client:
        first = tokens.issue("ada")
        clock.advance(1)
        for token in (first, tokens.issue("ada"), first):
            await client.get("/me", headers={"authorization": f"Bearer {token}"})
    assert service.welcomed == ["ada ada", "ada ada"]


async def test_tokens_of_an_older_key_are_taken_until_it_is_gone() -> None:
    old, new = "o" * 32, "n" * 32
    token = OwnTokens(old).issue("mia", session=3)
    assert (await OwnTokens(new, old).identity(token)).claims["session"] == 3
    with pytest.raises(NotAuthenticated):
        await OwnTokens(new).identity(token)
    with pytest.raises(NotAuthenticated):
        await OwnTokens(new).identity(DevelopmentTokens(new).issue("mia"))


def test_an_entity_without_the_fields_is_refused() -> None:
    class Bare(Entity, table=design.table("Bare")):
        user_id: str
        key = Key("BARE#{user_id}", "BARE")

    with pytest.raises(DeclarationError, match="Bare has no password, failures"):
        Passwords(None, Bare)  # type: ignore[arg-type]
