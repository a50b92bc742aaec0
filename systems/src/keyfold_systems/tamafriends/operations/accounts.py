"""Accounts: joining, signing in and out, passwords."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from contextlib import suppress
from datetime import timedelta
from typing import Final

from keyfold import AsyncDb, Page, create, new_ulid
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    NotAllowed,
    NotAuthenticated,
    PageRequest,
    Password,
    Passwords,
    Refused,
    Tokens,
    anyone,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, KeyValueRefused, NotFound, RequestReused, UniqueTaken
from keyfold_systems.tamafriends import sessions
from keyfold_systems.tamafriends.entities import Credential, Session, UserProfile
from keyfold_systems.tamafriends.mail import Mail, from_environment
from keyfold_systems.tamafriends.operations.access import Part
from keyfold_systems.tamafriends.patterns import (
    profile_by_email,
    profile_by_username,
    sessions_of,
)
from keyfold_systems.tamafriends.payloads import (
    Device,
    Login,
    Name,
    NewAccount,
    Signed,
    SignedIn,
)

NEXT_CODE: Final = timedelta(minutes=59)
"""A code that is good for longer was sent a moment ago: no second mail."""
_NAMES = 5
_NO_NAME = re.compile(r"[^A-Za-z0-9_]")
_CODE = re.compile(r"([\w.-]+)~([\w-]+)")
log = logging.getLogger("keyfold.tamafriends")


class Accounts(Part):
    """Accounts with passwords."""

    def __init__(self, db: AsyncDb) -> None:
        super().__init__(db)
        self.passwords = Passwords(db, Credential)
        self.mail: Mail | None = from_environment()
        self._sending: set[asyncio.Task[None]] = set()

    def tokens(self, given: Tokens | None) -> Tokens:
        """Our own sessions, and beside them what the application knows."""
        return sessions.Sessions(self.db, given)

    async def welcome(self, caller: Identity) -> None:
        """Who comes with a token of an issuer has a profile from their first request on."""
        email = caller.email
        if email is None or await self.db.find(UserProfile.key(user_id=caller.id)) is not None:
            return
        name = _NO_NAME.sub("_", email.partition("@")[0])[:24].ljust(3, "_")
        said = str(caller.claims.get("name") or "").strip()[:80] or name
        for handle in (name, *(f"{name}_{secrets.token_hex(2)}" for _ in range(_NAMES))):
            profile = UserProfile(
                user_id=caller.id, email=email, username=handle, handle=handle, display_name=said
            )
            try:
                await self.db.create(profile)
                return
            except AlreadyExists:
                return
            except UniqueTaken as taken:
                if taken.field == "email":
                    raise Conflict("Somebody else has your email.", code="EMAIL_TAKEN") from None

    @mutation(
        "/accounts",
        name="signUp",
        allow=anyone,
        status=201,
        example={
            "input": {
                "email": "ada@example.org",
                "username": "ada.lang",
                "handle": "ada",
                "displayName": "Ada Lang",
                "password": "correct horse",
            }
        },
    )
    async def sign_up(self, input: NewAccount, request_id: str | None = None) -> Signed:
        """Join; email, username and handle are yours alone."""
        values = input.model_dump(exclude={"password", "device"})

        async def join() -> str:
            user_id = new_ulid()
            await self.db.transact(
                create(UserProfile(user_id=user_id, **values)),
                create(await self.passwords.new_credential(user_id, input.password)),
            )
            return user_id

        if request_id is None:
            user_id = await join()
            return await sessions.begin(self.db, user_id, 1, device=input.device)
        user_id = await self.db.once(request_id, join, result=str, payload=values)
        # A repeated request proves itself by the password, of which nothing is kept to compare.
        try:
            session = await self.passwords.check(user_id, input.password)
        except NotAuthenticated:
            raise RequestReused("the request id was used with another password") from None
        return await sessions.begin(
            self.db, user_id, session, device=input.device, session_id=request_id[:32]
        )

    @mutation(
        "/sessions",
        name="signIn",
        allow=anyone,
        status=201,
        example={"input": {"login": "@ada", "password": "correct horse"}},
    )
    async def sign_in(self, input: Login, request_id: str | None = None) -> Signed:
        """Sign in with your email, username or handle; a repeated request is one session."""
        found = await self._find(input.login)
        user_id = None if found is None else found.user_id
        session = await self.passwords.check(user_id, input.password, login=input.login.casefold())
        assert found is not None, "nobody's password is never right"
        session_id = (request_id or "")[:32]
        return await sessions.begin(
            self.db, found.user_id, session, device=input.device, session_id=session_id
        )

    @query("/users/{user_id}/sessions", allow=itself("user_id"))
    async def sessions(self, user_id: str, page: PageRequest, caller: Identity) -> Page[SignedIn]:
        """Where you are signed in."""
        found = await sessions_of.after(page.cursor)(self.db, user_id, limit=page.limit)
        credential = await self.db.find(Credential.key(user_id=user_id))
        generation = credential.session if credential is not None else None
        current = caller.claims.get("session")
        listed = [
            SignedIn(
                session_id=one.session_id,
                device=one.device,
                created_at=one.created_at,
                current=one.session_id == current,
            )
            for one in found
            if one.generation == generation
        ]
        return Page(listed, found.cursor)

    @mutation(
        "/users/{user_id}/sessions/{session_id}",
        name="signOut",
        method="DELETE",
        allow=itself("user_id"),
    )
    async def sign_out(self, user_id: str, session_id: str) -> None:
        """End a session."""
        ref = Session.key(user_id=user_id, session_id=session_id)
        await self.db.delete(ref, must_exist=True)

    @mutation(
        "/users/{user_id}/sessions",
        name="signOutEverywhere",
        method="DELETE",
        allow=itself("user_id"),
    )
    async def sign_out_everywhere(self, user_id: str) -> None:
        """End all sessions at once, this one too."""
        await self.end_sessions(user_id)

    @mutation(
        "/users/{user_id}/password",
        name="changePassword",
        method="PUT",
        allow=itself("user_id"),
        example={"current": "correct horse", "new": "battery staple"},
    )
    async def change_password(
        self,
        user_id: str,
        current: Password,
        new: Password,
        device: Device = "",
        request_id: str | None = None,
    ) -> Signed:
        """Choose another password; all sessions end, and this is a new one."""
        try:
            session = await self.passwords.change(user_id, current, new)
        except NotAllowed as refused:
            session = await self._repeated(user_id, new, request_id, refused)
        return await sessions.begin(
            self.db, user_id, session, device=device, session_id=(request_id or "")[:32]
        )

    @mutation(
        "/password-resets",
        name="requestPasswordReset",
        allow=anyone,
        example={"login": "ada@example.org"},
    )
    async def request_password_reset(self, login: Name) -> None:
        """Have a link for a new password sent to you; nobody learns whether the login exists."""
        if self.mail is None:
            raise Conflict("This server sends no mail; ask its administrators.", code="NO_MAIL")
        found = await self._find(login)
        if found is None:
            return
        credential = await self.db.find(Credential.key(user_id=found.user_id))
        if credential is None:
            return
        until = credential.reset_until
        if until is not None and until > self.db.context.now() + NEXT_CODE:
            return
        code = await self.passwords.reset_code(found.user_id)
        text = (
            f"Somebody wants a new password for @{found.handle}. If it was you, use this code "
            f"within an hour:\n\n{found.user_id}~{code}\n\nIf not, do nothing."
        )
        # The answer does not wait: its time would tell whether there is such a login.
        task = asyncio.create_task(self._send(found.email, "A new password", text))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    @mutation(
        "/password-resets/completion",
        name="resetPassword",
        allow=anyone,
        example={"code": "01J…~…", "password": "battery staple"},
    )
    async def reset_password(
        self, code: Name, password: Password, request_id: str | None = None
    ) -> None:
        """Choose a new password with the code that was sent; all sessions end."""
        if (said := _CODE.fullmatch(code)) is None:
            raise Invalid("code", "is not complete; copy all of it", code="BAD_CODE")
        user_id, secret = said.groups()
        try:
            await self.passwords.reset(user_id, secret, password)
        except Invalid as refused:
            await self._repeated(user_id, password, request_id, refused)

    async def stop(self) -> None:
        """Let mail that is on its way go out."""
        await asyncio.gather(*self._sending, return_exceptions=True)

    async def end_sessions(self, user_id: str) -> None:
        """One write, after which no session of before is good."""
        with suppress(NotFound):
            await self.passwords.sign_out(user_id)

    async def _repeated(
        self, user_id: str, new: str, request_id: str | None, refused: Refused
    ) -> int:
        """The session of a repeated request, which finds its own new password."""
        if request_id is not None:
            with suppress(NotAuthenticated):
                return await self.passwords.check(user_id, new)
        raise refused

    async def _find(self, login: str) -> UserProfile | None:
        """Who has this login: `@name` is a handle, `a@b` an email, others a username or handle."""
        found = None
        with suppress(KeyValueRefused):  # nobody has a name that no key can contain
            if "@" not in login:
                found = await profile_by_username(self.db, login)
            elif not login.startswith("@"):
                return await profile_by_email(self.db, login)
        return found or await self.find_handle(login)

    async def _send(self, to: str, subject: str, text: str) -> None:
        assert self.mail is not None, "asked only where there is one"
        try:
            await self.mail.send(to, subject, text)
        except Exception:
            log.exception("a mail was not sent")
