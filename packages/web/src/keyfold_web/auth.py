"""Bearer tokens: who may sign them, and the identity of a valid one."""

from __future__ import annotations

import asyncio
import logging
import math
import urllib.request
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import jwt

from keyfold_engine.clock import Clock, SystemClock
from keyfold_web.identity import ADMIN_GROUP, ANONYMOUS, Identity
from keyfold_web.problems import NotAuthenticated, Refused

TOKEN_CHARACTERS: Final = 8192
SKEW_SECONDS: Final = 30
KEYS_KEPT_SECONDS: Final = 3600
KEYS_REFETCH_SECONDS: Final = 30
KEYS_BYTES: Final = 256 * 1024
VERIFIED_SECONDS: Final = 60
VERIFIED_TOKENS: Final = 10_000
REQUIRED_CLAIMS: Final = ["exp", "iss", "aud", "sub"]

log = logging.getLogger("keyfold_web")
Fetch = Callable[[str], Awaitable[bytes]]


class KeysUnavailable(Refused):
    """No token can be verified now; the caller's token may be valid."""

    status = 503
    title = "Unavailable"
    default_code = "UNAVAILABLE"
    retry_after = KEYS_REFETCH_SECONDS

    def __init__(self) -> None:
        super().__init__("Tokens cannot be verified right now; try again.")


class Tokens(Protocol):
    """Turns a bearer token into an identity, or raises NotAuthenticated."""

    async def identity(self, token: str) -> Identity: ...


async def authenticate(tokens: Tokens | None, header: str | None) -> Identity:
    """The caller of an Authorization header: anonymous without one, refused if it is invalid."""
    if not header:
        return ANONYMOUS
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise NotAuthenticated("Send `Authorization: Bearer <token>`.")
    if tokens is None:
        raise NotAuthenticated("This service does not accept tokens.", code="BAD_TOKEN")
    if len(token) > TOKEN_CHARACTERS:
        raise NotAuthenticated("The token is too long.", code="BAD_TOKEN")
    return await tokens.identity(token.strip())


class Verified:
    """Recently verified tokens: their signatures are not checked again, their expiry is.

    An entry lasts a minute, so that a revoked key is not trusted longer.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Identity]] = OrderedDict()

    def find(self, token: str) -> Identity | None:
        until, identity = self._known.get(token, (0.0, ANONYMOUS))
        return identity if self._clock.now() < until else None

    def keep(self, token: str, identity: Identity) -> Identity:
        good_until = min(self._clock.now() + VERIFIED_SECONDS, float(identity.claims["exp"]))
        self._known[token] = (good_until, identity)
        if len(self._known) > VERIFIED_TOKENS:
            self._known.popitem(last=False)
        return identity


class JwksTokens:
    """RS256 and ES256 tokens of an issuer that publishes its keys.

    Keys are cached for an hour. An unknown key id triggers a refetch, at most every 30 seconds, so
    that a rotation is noticed and forged key ids do not flood the issuer.
    """

    def __init__(
        self,
        url: str,
        *,
        issuer: str,
        audience: str,
        admin_group: str = ADMIN_GROUP,
        clock: Clock | None = None,
        fetch: Fetch | None = None,
    ) -> None:
        self._url, self._issuer, self._audience = url, issuer, audience
        self._admin_group = admin_group
        self._clock, self._fetch = clock or SystemClock(), fetch or _fetch
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched = float("-inf")
        self._lock = asyncio.Lock()
        self._verified = Verified(self._clock)

    async def identity(self, token: str) -> Identity:
        if (known := self._verified.find(token)) is not None:
            return known
        key = await self._key(_key_id(token))
        claims = verify(
            token,
            key.key,
            [key.algorithm_name],
            self._issuer,
            self._audience,
            self._clock,
            SKEW_SECONDS,
        )
        identity = Identity.from_claims(claims, admin_group=self._admin_group)
        return self._verified.keep(token, identity)

    async def _key(self, key_id: str) -> jwt.PyJWK:
        age = self._clock.now() - self._fetched
        stale = age > KEYS_KEPT_SECONDS
        if stale or (key_id not in self._keys and age > KEYS_REFETCH_SECONDS):
            async with self._lock:
                if self._clock.now() - self._fetched >= age:
                    await self._refresh()
        if not self._keys:
            raise KeysUnavailable()
        if key_id not in self._keys:
            raise NotAuthenticated("The token's key is unknown.", code="BAD_TOKEN")
        return self._keys[key_id]

    async def _refresh(self) -> None:
        try:
            published = jwt.PyJWKSet.from_json((await self._fetch(self._url)).decode())
        except Exception:
            # The issuer is unreachable: keep using the known keys.
            log.warning("could not read the token keys at %s", self._url, exc_info=True)
        else:
            self._keys = {
                one.key_id: one for one in published.keys if one.key_id and _is_for_signatures(one)
            }
        self._fetched = self._clock.now()


def _key_id(token: str) -> str:
    try:
        return str(jwt.get_unverified_header(token).get("kid", ""))
    except jwt.PyJWTError:
        raise NotAuthenticated("This is not a token.", code="BAD_TOKEN") from None


def verify(
    token: str,
    key: Any,
    algorithms: list[str],
    issuer: str,
    audience: str,
    clock: Clock,
    skew: int,
) -> dict[str, Any]:
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=algorithms,
            issuer=issuer,
            audience=audience,
            # Times are compared below, with the injected clock.
            options={
                "require": REQUIRED_CLAIMS,
                "verify_exp": False,
                "verify_nbf": False,
                "verify_iat": False,
            },
        )
        now = clock.now()
        if now >= _seconds(claims["exp"]) + skew:
            raise NotAuthenticated("The token has expired.", code="TOKEN_EXPIRED")
        if now < _seconds(claims.get("nbf", 0)) - skew:
            raise NotAuthenticated("The token is not valid yet.", code="BAD_TOKEN")
    except (jwt.PyJWTError, ValueError, TypeError):
        raise NotAuthenticated("The token is not valid here.", code="BAD_TOKEN") from None
    if not isinstance(claims["sub"], str) or not claims["sub"]:
        raise NotAuthenticated("The token has no subject.", code="BAD_TOKEN")
    return claims


def _seconds(claim: Any) -> float:
    """A token's time: a finite number."""
    if isinstance(claim, bool) or not isinstance(claim, int | float) or not math.isfinite(claim):
        raise TypeError("a time must be a number")
    return float(claim)


def _is_for_signatures(key: jwt.PyJWK) -> bool:
    operations = key._jwk_data.get("key_ops", ["verify"])
    return (
        key.algorithm_name in ("RS256", "ES256")
        and key.public_key_use in (None, "sig")
        and "verify" in operations
    )


async def _fetch(url: str) -> bytes:
    def read() -> bytes:
        with urllib.request.urlopen(url, timeout=5) as answer:
            body: bytes = answer.read(KEYS_BYTES)
            return body

    return await asyncio.to_thread(read)
