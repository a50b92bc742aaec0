"""The access patterns of the proposed design."""

from __future__ import annotations

from keyfold import Exists, First, Get, Query, get
from keyfold_systems.sellers.entities import (
    Account,
    Catalog,
    CatalogUse,
    Invite,
    Order,
    OrderById,
    Profile,
    ProfileOfOwner,
    Season,
    SeasonOfProfile,
    Share,
    design,
)


@design.pattern(requests=1)
def account(account_id: str) -> Get[Account]:
    """An account."""
    return get(Account.key(account_id=account_id))


@design.pattern(requests=1)
def account_by_email(email: str) -> First[Account]:
    """The account with an address."""
    return Account.by_email.query(email=email).first()


@design.pattern(requests=1)
def profile_by_id(profile_id: str) -> Get[Profile]:
    """A profile."""
    return get(Profile.key(profile_id=profile_id))


@design.pattern(requests=1)
def my_profiles(account_id: str, limit: int = 50) -> Query[ProfileOfOwner]:
    """The profiles of an owner, oldest first."""
    found = ProfileOfOwner.by_creation.query(owner_account_id=account_id)
    return found.limit(limit).consistent()


@design.pattern(requests=1)
def share(profile_id: str, account_id: str) -> Get[Share]:
    """What an account may do with a profile."""
    return get(Share.key(profile_id=profile_id, target_account_id=account_id))


@design.pattern(requests=1)
def shares_of_profile(profile_id: str, limit: int = 50) -> Query[Share]:
    """Who may use a profile."""
    return Share.key.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def shared_with(account_id: str, limit: int = 50) -> Query[Share]:
    """What is shared with an account, with the profiles' names."""
    return Share.by_target.query(target_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def invite(invite_code: str) -> Get[Invite]:
    """An invite."""
    return get(Invite.key(invite_code=invite_code))


@design.pattern()
def invites_of_profile(profile_id: str, limit: int = 50) -> Query[Invite]:
    """The open and used invites of a profile that have not expired."""
    return Invite.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def season_by_id(season_id: str) -> Get[Season]:
    """A season."""
    return get(Season.key(season_id=season_id))


@design.pattern(requests=1)
def seasons_of_profile(profile_id: str, limit: int = 50) -> Query[SeasonOfProfile]:
    """The seasons of a profile in the order of their creation."""
    return SeasonOfProfile.by_creation.query(profile_id=profile_id).limit(limit).consistent()


@design.pattern(requests=1)
def catalog_uses(catalog_id: str, limit: int = 50) -> Query[CatalogUse]:
    """The seasons that sell from a catalog."""
    return CatalogUse.key.query(catalog_id=catalog_id).limit(limit).consistent()


@design.pattern(requests=1)
def catalog_is_used(catalog_id: str) -> Exists[CatalogUse]:
    """Whether a season sells from a catalog."""
    return CatalogUse.key.query(catalog_id=catalog_id).consistent().exists()


@design.pattern(requests=1)
def order(season_id: str, order_id: str) -> Get[Order]:
    """An order of a season."""
    return get(Order.key(season_id=season_id, order_id=order_id))


@design.pattern(requests=1)
def order_by_id(order_id: str) -> Get[OrderById]:
    """Where an order is."""
    return get(OrderById.key(order_id=order_id))


@design.pattern(requests=1)
def orders_of_season(season_id: str, limit: int = 50) -> Query[Order]:
    """The orders of a season in the order of their creation."""
    return Order.by_creation.query(season_id=season_id).limit(limit).consistent()


@design.pattern(requests=1)
def orders_of_profile(profile_id: str, limit: int = 50) -> Query[Order]:
    """The orders of a profile across all seasons, in the order of their creation."""
    return Order.by_profile.query(profile_id=profile_id).limit(limit)


@design.pattern(requests=1)
def catalog(catalog_id: str) -> Get[Catalog]:
    """A catalog."""
    return get(Catalog.key(catalog_id=catalog_id))


@design.pattern(requests=1)
def my_catalogs(account_id: str, limit: int = 50) -> Query[Catalog]:
    """The catalogs of an owner."""
    return Catalog.by_owner.query(owner_account_id=account_id).limit(limit)


@design.pattern(requests=1)
def public_catalogs(limit: int = 50) -> Query[Catalog]:
    """Public catalogs, newest first."""
    return Catalog.by_newest.query().descending().limit(limit)
