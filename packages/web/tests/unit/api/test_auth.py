"""Which tokens are taken."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from keyfold_engine.clock import ManualClock
from keyfold_web import ANONYMOUS, NotAuthenticated
from keyfold_web.auth import JwksTokens, KeysUnavailable, authenticate
from keyfold_web.development import DevelopmentTokens
from keyfold_web.problems import problem_for

ISSUER, AUDIENCE = "https://id.example", "clubs"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def published(key: Any, kid: str) -> dict[str, Any]:
    algorithm = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    name = "RS256" if algorithm is RSAAlgorithm else "ES256"
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": kid, "alg": name}


class Issuer:
    """An issuer whose keys can be changed, which counts how often they are asked for."""

    def __init__(self) -> None:
        self.keys = [published(RSA_KEY, "r1"), published(EC_KEY, "e1")]
        self.asked = 0
        self.away = False

    async def fetch(self, _url: str) -> bytes:
        self.asked += 1
        if self.away:
            raise OSError("away")
        return json.dumps({"keys": self.keys}).encode()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def tokens(issuer: Issuer, clock: ManualClock) -> JwksTokens:
    return JwksTokens(
        "https://id.example/keys",
        issuer=ISSUER,
        audience=AUDIENCE,
        clock=clock,
        fetch=issuer.fetch,
    )


def signed(
    clock: ManualClock, key: Any = RSA_KEY, kid: str = "r1", algorithm: str = "RS256", **claims: Any
) -> str:
    now = int(clock.now())
    whole = {"iss": ISSUER, "aud": AUDIENCE, "sub": "mia", "iat": now, "exp": now + 600, **claims}
    kept = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(kept, key, algorithm=algorithm, headers={"kid": kid})


async def refusal(tokens: Any, token: str) -> str:
    with pytest.raises(NotAuthenticated) as refused:
        await tokens.identity(token)
    return refused.value.code


async def test_rs256_and_es256_tokens_become_identities(
    tokens: JwksTokens, clock: ManualClock
) -> None:
    mia = await tokens.identity(signed(clock, groups=["admin", "chess"]))
    assert (mia.id, mia.groups, mia.is_admin) == ("mia", frozenset({"admin", "chess"}), True)
    eva = await tokens.identity(signed(clock, EC_KEY, "e1", "ES256", sub="eva"))
    assert (eva.id, eva.is_admin) == ("eva", False)


@pytest.mark.parametrize("claim", [{"cognito:groups": ["admin"]}, {"groups": "[admin chess]"}])
async def test_groups_are_read_from_the_claims_that_issuers_use(
    tokens: JwksTokens, clock: ManualClock, claim: dict[str, Any]
) -> None:
    assert (await tokens.identity(signed(clock, **claim))).is_admin


@pytest.mark.parametrize(
    ("claims", "email"),
    [
        ({"email": "a@x.org"}, "a@x.org"),
        ({"email": "a@x.org", "email_verified": True}, "a@x.org"),
        ({"email": "a@x.org", "email_verified": False}, None),
        ({"email": "a@x.org", "email_verified": "false"}, None),
        ({"email": 5}, None),
        ({}, None),
    ],
)
async def test_an_address_that_nobody_verified_is_none(
    tokens: JwksTokens, clock: ManualClock, claims: dict[str, Any], email: str | None
) -> None:
    assert (await tokens.identity(signed(clock, **claims))).email == email


WRONG_CLAIMS: dict[str, dict[str, Any]] = {
    "another audience": {"aud": "others"},
    "another issuer": {"iss": "https://evil.example"},
    "no audience": {"aud": None},
    "no issuer": {"iss": None},
    "no expiry": {"exp": None},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "an expiry that is no number": {"exp": "tomorrow"},
    "an expiry as text": {"exp": "99999999999"},
    "an expiry without end": {"exp": float("inf")},
    "an expiry that is true": {"exp": True},
    "a beginning as text": {"nbf": "0"},
}


@pytest.mark.parametrize("claims", WRONG_CLAIMS.values(), ids=WRONG_CLAIMS.keys())
async def test_tokens_with_wrong_claims_are_refused(
    tokens: JwksTokens, clock: ManualClock, claims: dict[str, Any]
) -> None:
    assert await refusal(tokens, signed(clock, **claims)) == "BAD_TOKEN"


@pytest.mark.parametrize("purpose", [{"use": "enc"}, {"key_ops": ["encrypt"]}])
async def test_a_key_for_encryption_signs_nothing(
    tokens: JwksTokens, issuer: Issuer, clock: ManualClock, purpose: dict[str, Any]
) -> None:
    issuer.keys = [published(EC_KEY, "e1"), {**published(RSA_KEY, "r1"), **purpose}]
    assert await refusal(tokens, signed(clock)) == "BAD_TOKEN"
    assert await tokens.identity(signed(clock, EC_KEY, "e1", "ES256"))


async def test_tokens_signed_by_another_key_or_not_at_all_are_refused(
    tokens: JwksTokens, clock: ManualClock
) -> None:
    assert await refusal(tokens, signed(clock, OTHER_KEY)) == "BAD_TOKEN"
    unsigned = signed(clock, None, "r1", "none")
    assert await refusal(tokens, unsigned) == "BAD_TOKEN"
    # What is public of the key as an HMAC secret: the algorithm is the key's, never the token's.
    secret = published(RSA_KEY, "r1")["n"]
    assert await refusal(tokens, signed(clock, secret, "r1", "HS256")) == "BAD_TOKEN"
    assert await refusal(tokens, signed(clock, EC_KEY, "r1", "ES256")) == "BAD_TOKEN"


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "....", "é" * 10])
async def test_what_is_no_token_is_refused(tokens: JwksTokens, text: str) -> None:
    assert await refusal(tokens, text) == "BAD_TOKEN"


async def test_expiry_and_not_before_allow_for_the_skew_of_clocks(
    tokens: JwksTokens, clock: ManualClock
) -> None:
    token = signed(clock, nbf=int(clock.now()) + 20)
    await tokens.identity(token)
    clock.advance(629)
    await tokens.identity(token)
    clock.advance(1)
    assert await refusal(tokens, token) == "TOKEN_EXPIRED"
    early = signed(clock, nbf=int(clock.now()) + 31)
    assert await refusal(tokens, early) == "BAD_TOKEN"


async def test_keys_are_kept_and_a_rotation_is_noticed(
    tokens: JwksTokens, issuer: Issuer, clock: ManualClock
) -> None:
    for _ in range(5):
        await tokens.identity(signed(clock))
    assert issuer.asked == 1
    issuer.keys = [published(OTHER_KEY, "r2")]
    clock.advance(31)
    await tokens.identity(signed(clock, OTHER_KEY, "r2"))
    assert issuer.asked == 2
    assert await refusal(tokens, signed(clock)) == "BAD_TOKEN"


async def test_forged_key_ids_do_not_flood_the_issuer(
    tokens: JwksTokens, issuer: Issuer, clock: ManualClock
) -> None:
    for n in range(20):
        assert await refusal(tokens, signed(clock, kid=f"forged-{n}")) == "BAD_TOKEN"
    assert issuer.asked == 1


async def test_known_keys_stay_good_while_the_issuer_is_away(
    tokens: JwksTokens, issuer: Issuer, clock: ManualClock
) -> None:
    await tokens.identity(signed(clock))
    issuer.away = True
    clock.advance(7200)
    assert (await tokens.identity(signed(clock))).id == "mia"


@pytest.mark.parametrize("said", [OSError("away"), b"[]", b"<html>", b'{"keys": []}'])
async def test_while_no_key_is_known_the_token_is_not_to_blame(
    tokens: JwksTokens, issuer: Issuer, clock: ManualClock, said: Any
) -> None:
    good = issuer.fetch

    async def fetch(url: str) -> bytes:
        await good(url)
        if isinstance(said, Exception):
            raise said
        return bytes(said)

    tokens._fetch = fetch
    for _ in range(3):
        with pytest.raises(KeysUnavailable) as refused:
            await tokens.identity(signed(clock))
    problem = problem_for(refused.value)
    assert (problem.status, problem.code, problem.retry_after) == (503, "UNAVAILABLE", 30)
    assert issuer.asked == 1
    tokens._fetch = good
    clock.advance(31)
    assert (await tokens.identity(signed(clock))).id == "mia"


async def test_development_tokens_are_good_for_their_own_key_only(clock: ManualClock) -> None:
    ours, theirs = DevelopmentTokens(clock=clock), DevelopmentTokens(clock=clock)
    token = ours.issue("mia", "admin")
    identity = await ours.identity(token)
    assert (identity.id, identity.is_admin) == ("mia", True)
    assert await refusal(theirs, token) == "BAD_TOKEN"
    assert await refusal(ours, signed(clock, None, "r1", "none")) == "BAD_TOKEN"
    clock.advance(12 * 3600)
    assert await refusal(ours, token) == "TOKEN_EXPIRED"


async def test_no_header_is_nobody_and_a_bad_one_is_refused(clock: ManualClock) -> None:
    tokens = DevelopmentTokens(clock=clock)
    assert await authenticate(tokens, None) == ANONYMOUS
    for header in ("Basic bWlhOng=", "Bearer", "Bearer ", f"Bearer {'x' * 9000}"):
        with pytest.raises(NotAuthenticated):
            await authenticate(tokens, header)
    with pytest.raises(NotAuthenticated):
        await authenticate(None, f"Bearer {tokens.issue('mia')}")
