"""What people hear of while it happens."""

from __future__ import annotations

from keyfold.streams import Change
from keyfold_systems.sellers.access import require, season_for
from keyfold_systems.sellers.entities import Catalog, Invite, Order, Profile, Season, Share
from keyfold_systems.sellers.parts import Part
from keyfold_web import (
    Arguments,
    Identity,
    Missing,
    NotAllowed,
    Payload,
    itself,
    rule,
    subscription,
)


class News(Payload):
    """Something changed; whoever shows it reads it again."""

    kind: str
    id: str


@rule
async def reader(service: Part, caller: Identity, arguments: Arguments) -> bool:
    """Who may read the season or the profile that is asked for."""
    try:
        if "season_id" in arguments:
            await season_for(service.db, arguments["season_id"], caller, "READ")
        else:
            await require(service.db, arguments["profile_id"], caller, "READ")
    except (Missing, NotAllowed):
        return False
    return True


class LiveOperations(Part):
    """Subscriptions."""

    @subscription(Order, Season, allow=reader)
    async def season_changed(self, change: Change[Order | Season], season_id: str) -> News:
        """A season and its orders."""
        found = change.new or change.old
        return News(kind=type(found).__name__, id=season_id)

    @subscription(Profile, Season, Order, Share, Invite, allow=reader)
    async def profile_changed(
        self, change: Change[Profile | Season | Order | Share | Invite], profile_id: str
    ) -> News:
        """A profile with its seasons, orders, helpers and invites."""
        found = change.new or change.old
        return News(kind=type(found).__name__, id=profile_id)

    @subscription(Profile, Catalog, allow=itself("owner_account_id"))
    async def mine_changed(self, change: Change[Profile | Catalog], owner_account_id: str) -> News:
        """Your profiles and catalogs."""
        found = change.new or change.old
        return News(kind=type(found).__name__, id=owner_account_id)

    @subscription(Share, allow=itself("target_account_id"))
    async def shared_changed(self, change: Change[Share], target_account_id: str) -> News:  # noqa: ARG002
        """What others share with you."""
        return News(kind="Share", id=target_account_id)
