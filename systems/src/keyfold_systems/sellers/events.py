"""The domain events of Sellers: each change that others may care about, announced once."""

from __future__ import annotations

from typing import Any

from keyfold import Entity
from keyfold.streams import Delivery
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

SEASON = ("season_name", "catalog_id", "start_date", "end_date")
ORDER = ("customer_name", "line_items", "total_amount", "payment_method", "order_date")
"""Without phone numbers and notes, which are nobody else's."""
CATALOG = ("catalog_name", "is_public", "products")


@design.on(Account, "insert", "remove")
def announce_account(old: Account | None, new: Account | None, delivery: Delivery) -> None:
    """Announces AccountCreated and AccountDeleted."""
    _emit(delivery, "AccountCreated" if new else "AccountDeleted", new or old, "account_id")


@design.on(Profile)
def announce_profile(old: Profile | None, new: Profile | None, delivery: Delivery) -> None:
    """Announces ProfileCreated, ProfileRenamed and ProfileDeleted."""
    if new is None:
        _emit(delivery, "ProfileDeleted", old, "profile_id", "owner_account_id")
    elif old is None:
        _emit(delivery, "ProfileCreated", new, "profile_id", "owner_account_id", "seller_name")
    elif old.seller_name != new.seller_name:
        _emit(delivery, "ProfileRenamed", new, "profile_id", "seller_name")


@design.on(Share)
def announce_share(old: Share | None, new: Share | None, delivery: Delivery) -> None:
    """Announces ProfileShared, also with other permissions, and ShareRevoked."""
    if new is None:
        _emit(delivery, "ShareRevoked", old, "profile_id", "target_account_id")
    elif old is None or old.permissions != new.permissions:
        _emit(delivery, "ProfileShared", new, "profile_id", "target_account_id", "permissions")


@design.on(Invite)
def announce_invite(old: Invite | None, new: Invite | None, delivery: Delivery) -> None:
    """Announces InviteCreated, InviteRedeemed and InviteEnded; the code is nobody else's."""
    invite = new or old
    assert invite is not None, "a change has an item before or after"
    key = f"invite of {invite.profile_id}, {invite.created_at.isoformat()}"
    if new is None:
        _emit(delivery, "InviteEnded", old, "profile_id", "used_at", key=key)
    elif old is None:
        _emit(delivery, "InviteCreated", new, "profile_id", "permissions", "expires_at", key=key)
    elif old.used_at is None and new.used_at is not None:
        _emit(delivery, "InviteRedeemed", new, "profile_id", "used_by_account_id", key=key)


@design.on(Season)
def announce_season(old: Season | None, new: Season | None, delivery: Delivery) -> None:
    """Announces SeasonStarted, SeasonChanged and SeasonDeleted."""
    _announce(delivery, "Season", ("season_id", "profile_id"), SEASON, old, new, made="Started")


@design.on(Order)
def announce_order(old: Order | None, new: Order | None, delivery: Delivery) -> None:
    """Announces OrderPlaced, OrderChanged and OrderDeleted."""
    ids = ("order_id", "season_id", "profile_id")
    _announce(delivery, "Order", ids, ORDER, old, new, made="Placed")


@design.on(Catalog)
def announce_catalog(old: Catalog | None, new: Catalog | None, delivery: Delivery) -> None:
    """Announces CatalogCreated, CatalogChanged and CatalogDeleted."""
    _announce(delivery, "Catalog", ("catalog_id",), CATALOG, old, new, made="Created")


def _announce(
    delivery: Delivery,
    kind: str,
    ids: tuple[str, ...],
    shown: tuple[str, ...],
    old: Entity | None,
    new: Entity | None,
    *,
    made: str,
) -> None:
    if new is None:
        _emit(delivery, f"{kind}Deleted", old, *ids)
    elif old is None:
        _emit(delivery, f"{kind}{made}", new, *ids, *shown)
    elif changed := [name for name in shown if getattr(old, name) != getattr(new, name)]:
        _emit(delivery, f"{kind}Changed", new, *ids, *changed)


def _emit(delivery: Delivery, event: str, item: Entity | None, *fields: str, key: str = "") -> None:
    assert item is not None, "a change has an item before or after"
    payload: dict[str, Any] = item.model_dump(mode="json", by_alias=True, include=set(fields))
    delivery.emit(event, payload, key=key)
