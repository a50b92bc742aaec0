"""Sessions: tokens of our own, which can be ended one by one or all at once.

A token is a secret; the table has a digest of it, and every request looks there. So it is over in
the moment in which its session ends, its generation passes, or its account goes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from keyfold import AsyncDb, Ref, check, put
from keyfold_web import Identity, NotAuthenticated, Tokens
from keyfold.errors import ConditionFailed, KeyValueRefused, NotFound
from keyfold_systems.tamafriends.entities import Credential, Session, UserProfile
from keyfold_systems.tamafriends.payloads import Signed

_PREFIX = "tama~"
_TOKEN = re.compile(rf"{_PREFIX}([\w.-]+)~([\w-]+)~([\w-]+)")


@dataclass(frozen=True)
class Sessions:
    """Knows our own tokens, and asks the application about others."""

    db: AsyncDb
    otherwise: Tokens | None = None

    async def identity(self, token: str) -> Identity:
        """Who a token stands for."""
        if not token.startswith(_PREFIX):
            if self.otherwise is None:
                raise NotAuthenticated("The token is not valid here.", code="BAD_TOKEN")
            return await self._with_role(await self.otherwise.identity(token))
        if (said := _TOKEN.fullmatch(token)) is None:
            raise NotAuthenticated("The token is not valid here.", code="BAD_TOKEN")
        user_id, session_id, secret = said.groups()
        refs: list[Ref[Any]] = [
            Session.key(user_id=user_id, session_id=session_id),
            Credential.key(user_id=user_id),
            UserProfile.key(user_id=user_id),
        ]
        session, credential, profile = await self.db.get_many(refs)
        if (
            session is None
            or credential is None
            or profile is None
            or session.generation != credential.session
            or not hmac.compare_digest(session.digest, _digest(secret))
        ):
            raise NotAuthenticated("You are signed out; sign in again.", code="SIGNED_OUT")
        return _in_role(Identity(user_id, claims={"session": session_id}), profile)

    async def _with_role(self, caller: Identity) -> Identity:
        """Somebody else's token says nothing of the role that was given here."""
        with suppress(KeyValueRefused):  # nobody has a profile under an id that no key can contain
            profile = await self.db.find(UserProfile.key(user_id=caller.id))
            return caller if profile is None else _in_role(caller, profile)
        return caller


async def begin(
    db: AsyncDb, user_id: str, generation: int, *, device: str = "", session_id: str = ""
) -> Signed:
    """Sign somebody in, unless sessions of this generation ended meanwhile."""
    secret = secrets.token_urlsafe(32)
    session = Session(
        user_id=user_id,
        session_id=session_id or secrets.token_hex(16),
        digest=_digest(secret),
        generation=generation,
        device=device,
        created_at=db.context.now(),
    )
    try:
        await db.transact(
            put(session),
            check(Credential.key(user_id=user_id), where=lambda c: c.session == generation),
            check(UserProfile.key(user_id=user_id)),
        )
    except (ConditionFailed, NotFound):
        raise NotAuthenticated("You were signed out meanwhile; sign in again.") from None
    token = f"{_PREFIX}{user_id}~{session.session_id}~{secret}"
    return Signed(user_id=user_id, session_id=session.session_id, token=token)


def _in_role(caller: Identity, profile: UserProfile) -> Identity:
    groups = caller.groups | ({profile.role} - {"member"})
    return replace(caller, groups=groups, is_admin=caller.is_admin or profile.role == "admin")


def _digest(secret: str) -> bytes:
    """Secrets are long and random, so a quick digest will do."""
    return hashlib.sha256(secret.encode()).digest()
