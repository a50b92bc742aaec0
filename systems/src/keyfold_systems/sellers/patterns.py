"""The document's query patterns on its seven tables."""

from __future__ import annotations

from keyfold import Exists, First, Get, Query, get
from keyfold_systems.sellers.entities import (
    Account,
    Catalog,
    Invite,
    Order,
    Profile,
    Season,
    Share,
    design,
)


@design.pattern(requests=1)
def account(account_id: str) -> Get[Account]:
    """An account: `getMyAccount`."""
    return get(Account.key(account_id=account_id))


@design.pattern(requests=1)
def account_by_email(email: str) -> First[Account]:
    """The account with an address."""
    return Account.by_email.query(email=email).first()


@design.pattern(requests=1)
def profile(account_id: str, profile_id: str) -> Get[Profile]:
    """A profile of an owner."""
    return get(Profile.key(owner_account_id=account_id, profile_id=profile_id))


@design.pattern(requests=1)
def profile_by_id(profile_id: str) -> First[Profile]:
    """A profile: `getProfile`."""
    return Profile.by_id.query(profile_id=profile_id).first()


@design.pattern(requests=1)
def my_profiles(account_id: str, limit: int = 50) -> Query[Profile]:
    """The profiles of an owner: `listMyProfiles`."""
    return Profile.key.query(owner_account_id=account_id).limit(limit).consistent()


@design.pattern(requests=1)
def share(profile_id: str, account_id: str) -> Get[Share]:
    """What an account may do with a profile: `getShare`."""
    return get(Share.key(profile_id=profile_id, target_account_id=account_id))


@design.pattern(requests=1)
def shares_of_profile(profile_id: str, limit: int = 50) -> Query[Share]:
    """Who may use a profile: `listSharesByProfile`."""
    return Share.key.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def shared_with(account_id: str, limit: int = 50) -> Query[Share]:
    """What is shared with an account: `listSharedProfiles`."""
    return Share.by_target.query(target_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def invite(invite_code: str) -> Get[Invite]:
    """An invite: `getInvite`."""
    return get(Invite.key(invite_code=invite_code))


@design.pattern()
def invites_of_profile(profile_id: str, limit: int = 50) -> Query[Invite]:
    """The invites of a profile that have not expired: `listInvitesByProfile`."""
    return Invite.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def season(profile_id: str, season_id: str) -> Get[Season]:
    """A season of a profile."""
    return get(Season.key(profile_id=profile_id, season_id=season_id))


@design.pattern(requests=1)
def season_by_id(season_id: str) -> First[Season]:
    """A season: `getSeason`."""
    return Season.by_id.query(season_id=season_id).first()


@design.pattern(requests=1)
def seasons_of_profile(profile_id: str, limit: int = 50) -> Query[Season]:
    """The seasons of a profile: `listSeasonsByProfile`."""
    return Season.key.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def catalog_uses(catalog_id: str, limit: int = 50) -> Query[Season]:
    """The seasons that sell from a catalog: `listCatalogUsage`."""
    return Season.by_catalog.query(catalog_id=catalog_id).limit(limit)


@design.pattern(requests=1)
def catalog_is_used(catalog_id: str) -> Exists[Season]:
    """Whether a season sells from a catalog."""
    return Season.by_catalog.query(catalog_id=catalog_id).exists()


@design.pattern(requests=1)
def order(season_id: str, order_id: str) -> Get[Order]:
    """An order of a season."""
    return get(Order.key(season_id=season_id, order_id=order_id))


@design.pattern(requests=1)
def order_by_id(order_id: str) -> First[Order]:
    """An order: `getOrder`."""
    return Order.by_id.query(order_id=order_id).first()


@design.pattern(requests=1)
def orders_of_season(season_id: str, limit: int = 50) -> Query[Order]:
    """The orders of a season: `listOrdersBySeason`."""
    return Order.key.query(season_id=season_id).limit(limit).consistent()


@design.pattern(requests=1)
def orders_of_profile(profile_id: str, limit: int = 50) -> Query[Order]:
    """The orders of a profile across seasons, in their order in time: `listOrdersByProfile`."""
    return Order.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def catalog(catalog_id: str) -> Get[Catalog]:
    """A catalog: `getCatalog`."""
    return get(Catalog.key(catalog_id=catalog_id))


@design.pattern(requests=1)
def my_catalogs(account_id: str, limit: int = 50) -> Query[Catalog]:
    """The catalogs of an owner."""
    return Catalog.by_owner.query(owner_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def public_catalogs(limit: int = 50) -> Query[Catalog]:
    """Public catalogs, newest first: `listPublicCatalogs`."""
    return Catalog.by_newest.query(is_public_str="true").descending().limit(limit)
