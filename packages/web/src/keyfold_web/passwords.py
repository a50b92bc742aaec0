"""Password sign-in for services with their own accounts.

The service declares an entity with the fields of `PasswordFields`:

    passwords = Passwords(db, Credential)
    credential = await passwords.new_credential(user_id, "correct horse")
    await db.transact(create(profile), create(credential))
    session = await passwords.check(user_id, "correct horse")
    token = service.issue(user_id, session=session)

Passwords are stored as salted scrypt digests that take a quarter of a second to compute. The fourth
wrong password in a row causes a wait, which doubles with each further one, up to 15 minutes. A
token contains its session number; signing out everywhere changes it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Generic, Protocol, TypeVar

from pydantic import Field

from keyfold_web.identity import Identity
from keyfold_web.problems import Conflict, Invalid, NotAllowed, NotAuthenticated, TooMany
from keyfold.design import Entity
from keyfold.errors import ConditionFailed, DeclarationError, NotFound
from keyfold.runtime import AsyncDb, add

Password = Annotated[str, Field(min_length=8, max_length=200)]
"""The password policy."""

COST: Final = (2**14, 8, 5)
"""scrypt's n, r and p: 16 MB, and about a quarter of a second."""
FREE_FAILURES: Final = 3
LONGEST_WAIT: Final = timedelta(minutes=15)
RESET_TIME: Final = timedelta(hours=1)
KEPT_STRANGERS: Final = 10_000
_AT_ONCE: Final = 4
WRONG: Final = "Login or password is wrong."


class PasswordFields(Protocol):
    """The fields of an account's entity for its password."""

    user_id: str
    password: str
    """The digest, with its salt and its cost."""
    failures: int
    locked_until: datetime | None
    session: int
    """Tokens of other sessions are no longer valid."""
    reset: str | None
    """The digest of a code that allows a new password."""
    reset_until: datetime | None


_FIELDS: Final = tuple(PasswordFields.__annotations__)
E = TypeVar("E", bound=Entity)


class Passwords(Generic[E]):
    """The passwords of one service."""

    def __init__(
        self, db: AsyncDb, credential: type[E], *, cost: tuple[int, int, int] | None = None
    ) -> None:
        if missing := [one for one in _FIELDS if one not in credential.model_fields]:
            raise DeclarationError(
                "O15",
                f"{credential.__name__} has no {', '.join(missing)}.",
                suggestion="It needs the fields of keyfold_web.PasswordFields.",
            )
        self._db, self._credential, self._cost = db, credential, cost or COST
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._strangers: OrderedDict[str, tuple[int, datetime]] = OrderedDict()
        self._nobody: str | None = None

    async def new_credential(self, user_id: str, password: str) -> E:
        """The credential of a new account, for the transaction that creates it."""
        values = {"user_id": user_id, "password": await self._digest(password)}
        return self._credential.model_validate(values)

    async def check(self, user_id: str | None, password: str, *, login: str = "") -> int:
        """The session for this password; pass None for an account that does not exist.

        Such an account gets the same answer after the same delay; `login` is what was typed.
        """
        found: Any = None if user_id is None else await self._db.find(self._key(user_id))
        if found is None:
            return await self._refuse_stranger(user_id or login, password)
        now = self._db.context.now()
        _wait(found.locked_until, now)
        failures = found.failures + 1
        try:
            # Count the attempt before checking it, so that parallel guesses cannot slip through.
            await self._db.update(
                self._key(found.user_id),
                failures=failures,
                locked_until=now + _pause(failures),
                where=lambda one: one.failures == found.failures,
            )
        except ConditionFailed:
            raise TooMany("Another sign-in is in progress; try again.", retry_after=1) from None
        except NotFound:
            raise NotAuthenticated(WRONG) from None
        if not await self._fits(password, found.password):
            raise NotAuthenticated(WRONG)
        changes: dict[str, Any] = {"failures": 0, "locked_until": None}
        if not found.password.startswith(_prefix(self._cost)):
            changes["password"] = await self._digest(password)
        try:
            # A rehash must not restore a password that was changed meanwhile.
            await self._db.update(
                self._key(found.user_id),
                **changes,
                where=lambda one: one.password == found.password,
            )
        except (ConditionFailed, NotFound):
            raise NotAuthenticated(WRONG) from None
        return int(found.session)

    async def change(self, user_id: str, old: str, new: str) -> int:
        """Change the password, given the old one; ends other sessions and returns the new one."""
        try:
            session = await self.check(user_id, old)
        except NotAuthenticated:
            # The caller is signed in; 401 would say otherwise.
            raise NotAllowed("The current password is wrong.", code="WRONG_PASSWORD") from None
        digest = await self._digest(new)
        try:
            return await self._end_sessions(
                user_id, where=lambda one: one.session == session, password=digest
            )
        except (ConditionFailed, NotFound):
            raise Conflict("The password was changed just now.", code="CHANGED") from None

    async def sign_out(self, user_id: str) -> int:
        """End all sessions; returns the next session number."""
        return await self._end_sessions(user_id)

    async def reset_code(self, user_id: str) -> str:
        """A code that allows one new password within an hour; deliver it where only its owner
        can read it.
        """
        code = secrets.token_urlsafe(24)
        until = self._db.context.now() + RESET_TIME
        await self._db.update(self._key(user_id), reset=_plain_digest(code), reset_until=until)
        return code

    async def reset(self, user_id: str, code: str, new: str) -> int:
        """Set a new password with such a code, which is used up; returns the new session."""
        found: Any = await self._db.find(self._key(user_id))
        now = self._db.context.now()
        kept = None if found is None or (found.reset_until or now) <= now else found.reset
        if kept is None or not hmac.compare_digest(kept, _plain_digest(code)):
            raise Invalid("code", "is wrong, used or expired; request a new one", code="BAD_CODE")
        digest = await self._digest(new)
        try:
            return await self._end_sessions(
                user_id,
                where=lambda one: one.reset == kept,
                password=digest,
                failures=0,
                locked_until=None,
            )
        except (ConditionFailed, NotFound):
            raise Invalid("code", "was already used; request a new one", code="BAD_CODE") from None

    async def admits(self, caller: Identity) -> bool:
        """Whether the caller's session is valid; tokens of other kinds have none and are
        accepted.
        """
        session = caller.claims.get("session")
        if session is None:
            return True
        found: Any = await self._db.find(self._key(caller.id))
        return found is not None and found.session == session

    async def _end_sessions(self, user_id: str, **changes: Any) -> int:
        """A change that ends all sessions and the reset code; and the next session number."""
        updated: Any = await self._db.update(
            self._key(user_id), session=add(1), reset=None, reset_until=None, **changes
        )
        return int(updated.session)

    async def _refuse_stranger(self, login: str, password: str) -> int:
        now = self._db.context.now()
        failures, until = self._strangers.pop(login, (0, now))
        _wait(until, now)
        self._strangers[login] = failures + 1, now + _pause(failures + 1)
        if len(self._strangers) > KEPT_STRANGERS:
            self._strangers.popitem(last=False)
        if self._nobody is None:
            self._nobody = await self._digest("")
        await self._fits(password, self._nobody)
        raise NotAuthenticated(WRONG)

    def _key(self, user_id: str) -> Any:
        credential: Any = self._credential
        return credential.key(user_id=user_id)

    async def _digest(self, password: str) -> str:
        salt = secrets.token_bytes(16)
        made = await self._derive_key(password, salt, self._cost)
        return f"{_prefix(self._cost)}{_text(salt)}${_text(made)}"

    async def _fits(self, password: str, kept: str) -> bool:
        _, n, r, p, salt, digest = kept.split("$")
        made = await self._derive_key(password, b64decode(salt), (int(n), int(r), int(p)))
        return hmac.compare_digest(made, b64decode(digest))

    async def _derive_key(self, password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
        n, r, p = cost

        def derive() -> bytes:
            return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=2**27)

        async with self._turns:
            return await asyncio.to_thread(derive)


def _pause(failures: int) -> timedelta:
    """The wait after this many failures."""
    if failures <= FREE_FAILURES:
        return timedelta()
    return min(LONGEST_WAIT, timedelta(seconds=2 ** min(failures - FREE_FAILURES, 20)))


def _wait(until: datetime | None, now: datetime) -> None:
    if until is not None and until > now:
        seconds = int((until - now).total_seconds()) + 1
        raise TooMany(f"Too many wrong passwords; try again in {seconds} s.", retry_after=seconds)


def _prefix(cost: tuple[int, int, int]) -> str:
    return "scrypt$" + "".join(f"{one}$" for one in cost)


def _text(value: bytes) -> str:
    return b64encode(value).decode()


def _plain_digest(code: str) -> str:
    """The digest of a long random code, which needs no salt."""
    return hashlib.sha256(code.encode()).hexdigest()
