"""People: profiles, finding each other, and leaving."""

from __future__ import annotations

from keyfold import Page
from keyfold_web import (
    Belonging,
    Conflict,
    Identity,
    Invalid,
    PageRequest,
    PersonalData,
    authenticated,
    itself,
    mutation,
    query,
)
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold_systems.inviter.entities import (
    GroupInvitation,
    Hangout,
    Membership,
    Removal,
    Response,
    User,
    UserHangout,
)
from keyfold_systems.inviter.operations.access import Part, stays
from keyfold_systems.inviter.operations.inbox import inbox
from keyfold_systems.inviter.oversight import Suspension, trail
from keyfold_systems.inviter.patterns import people_named
from keyfold_systems.inviter.payloads import Person, Stated
from keyfold_systems.inviter.removal import begin, finish
from keyfold_systems.inviter.spelling import folded, spelt


async def depart(service: People, user: User, _: Identity) -> None:
    """Leave, with all that follows."""
    await service.delete_user(user.user_id)


class People(PersonalData, Part):
    """Profiles, and all that belongs to somebody."""

    # The profile takes everything else along; it stays until nothing else is left.
    personal = (
        Belonging("profile", lambda id: User.key(user_id=id), leave=depart),
        Belonging("memberships", lambda id: Membership.by_user.query(user_id=id), kept=True),
        Belonging("hosted", lambda id: Hangout.by_host.query(host_id=id), kept=True),
        Belonging("invitations", lambda id: UserHangout.key.query(user_id=id), kept=True),
        Belonging("answers", lambda id: Response.by_user.query(user_id=id), kept=True),
        Belonging(
            "groupInvitations", lambda id: GroupInvitation.by_user.query(user_id=id), kept=True
        ),
        inbox.belonging(),
        Belonging("reports", trail.reported_by, kept=True),
        Belonging("suspension", lambda id: Suspension.key(user_id=id), kept=True),
    )

    async def welcome(self, caller: Identity) -> None:
        """A first sign-in makes the profile, under the name that the issuer knows."""
        if isinstance(name := caller.claims.get("name"), str) and name.strip():
            try:
                await self.db.create(User(user_id=caller.id, **spelt(name.strip()[:200])))
            except AlreadyExists:
                return

    @mutation("/users/{user_id}", method="PUT", allow=itself("user_id"), example={"name": "Ada"})
    async def save_user(self, user_id: str, name: Stated) -> User:
        """Create your profile, or rename yourself."""
        try:
            return await self.db.create(User(user_id=user_id, **spelt(name)))
        except AlreadyExists:
            pass
        ref = User.key(user_id=user_id)
        try:
            return await self.db.update(ref, **spelt(name), where=stays)
        except (ConditionFailed, NotFound):
            raise Conflict(
                "What you had here is still being deleted; try again in a moment.", code="LEAVING"
            ) from None

    @query("/users/{user_id}", allow=authenticated)
    async def user(self, user_id: str) -> Person:
        """A user, as everybody sees them."""
        return Person(user_id=user_id, name=(await self.person(user_id)).name)

    @query("/users/{user_id}/profile", allow=itself("user_id"))
    async def profile(self, user_id: str) -> User:
        """Your own profile, with what is counted for you."""
        return await self.person(user_id)

    @query("/people", allow=authenticated)
    async def people(self, name: str, page: PageRequest) -> Page[Person]:
        """People whose name begins so, in whichever case and without accents."""
        beginning = folded(name)
        if not beginning:
            raise Invalid("name", "give at least one letter")
        found = await people_named.after(page.cursor)(
            self.db, beginning[0], beginning, limit=page.limit
        )
        shown = [Person(user_id=one.user_id, name=one.name) for one in found if not one.leaving]
        return Page(shown, found.cursor)

    @mutation("/users/{user_id}", method="DELETE", allow=itself("user_id"))
    async def delete_user(self, user_id: str) -> None:
        """Leave Inviter: memberships, answers, invitations and hosted hangouts go too.

        From the first moment on nothing new is made for you. All that is seen goes now, the rest
        by the stream, and the profile last; until then nobody can take its id. It can be called
        again after an interruption, and then goes on.
        """
        if await self.db.find(User.key(user_id=user_id)) is None:
            return
        removal = Removal(kind="user", removed_id=user_id)
        try:
            await self.db.transact(*begin(removal))
        except NotFound:
            return
        except ConditionFailed:
            raise Conflict("Hand over or delete the groups you own first.", code="OWNER") from None
        await finish(self.db, removal)
