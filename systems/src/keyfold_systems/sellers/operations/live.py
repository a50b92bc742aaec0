"""What callers hear of while it happens: helpers take orders at one stand."""

from __future__ import annotations

from typing import Any

from keyfold.streams import Change
from keyfold_systems.sellers.entities import Catalog, Invite, Order, Profile, Season, Share
from keyfold_systems.sellers.operations.access import Part
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
    """Something changed: read it again."""

    kind: str
    id: str


@rule
async def reader(service: Part, caller: Identity, arguments: Arguments) -> bool:
    try:
        await service.require(arguments["profile_id"], caller, "READ")
    except (Missing, NotAllowed):
        return False
    return True


class Live(Part):
    """Subscriptions."""

    @subscription(Order, Season, allow=reader)
    async def season_changed(
        self, change: Change[Order | Season], profile_id: str, season_id: str
    ) -> News:
        """A season of a profile, and its orders."""
        return _news(change, f"{profile_id}/{season_id}")

    @subscription(Profile, Season, Share, Invite, allow=reader)
    async def profile_changed(
        self, change: Change[Profile | Season | Share | Invite], profile_id: str
    ) -> News:
        """A profile with its seasons, helpers and invites."""
        return _news(change, profile_id)

    @subscription(Profile, Catalog, allow=itself("owner_account_id"))
    async def mine_changed(self, change: Change[Profile | Catalog], owner_account_id: str) -> News:
        """Your profiles and catalogs."""
        return _news(change, owner_account_id)

    @subscription(Share, allow=itself("target_account_id"))
    async def shared_changed(self, change: Change[Share], target_account_id: str) -> News:
        """What others share with you."""
        return _news(change, target_account_id)


def _news(change: Change[Any], id: str) -> News:
    return News(kind=type(change.new or change.old).__name__, id=id)
