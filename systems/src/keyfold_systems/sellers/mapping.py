"""Records of the current design as records of the proposed one, and back: pure functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keyfold import Entity
from keyfold_systems.sellers import current
from keyfold_systems.sellers import entities as design


def casefold(address: str) -> str:
    return address.casefold()


def account_back(new: design.Account) -> current.Account:
    return current.Account(
        account_id=f"ACCOUNT#{new.account_id}", email=new.email, given_name=new.given_name
    )


def catalog_back(new: design.Catalog) -> current.Catalog:
    return current.Catalog(
        catalog_id=f"CATALOG#{new.catalog_id}",
        owner_account_id=new.owner_account_id,
        catalog_name=new.catalog_name,
        is_public=new.is_public,
        is_public_str=str(new.is_public).lower(),
        products=new.products,
        created_at=new.created_at,
    )


def profile(old: current.Profile) -> design.Profile:
    return design.Profile(**_values(old, profile_id=_bare(old.profile_id)))


def profile_back(new: design.Profile) -> current.Profile:
    return current.Profile(**_values(new, profile_id=f"PROFILE#{new.profile_id}"))


def share(old: current.Share) -> design.Share:
    return design.Share(**_values(old, profile_id=_bare(old.profile_id)))


def share_back(new: design.Share) -> current.Share:
    values = _values(new, profile_id=f"PROFILE#{new.profile_id}")
    return current.Share(**{name: values[name] for name in current.Share.model_fields})


def invite(old: current.Invite) -> design.Invite:
    return design.Invite(**_values(old, profile_id=_bare(old.profile_id)))


def invite_back(new: design.Invite) -> current.Invite:
    return current.Invite(**_values(new, profile_id=f"PROFILE#{new.profile_id}"))


def season(old: current.Season) -> design.Season:
    return design.Season(
        **_values(
            old,
            season_id=_bare(old.season_id),
            profile_id=_bare(old.profile_id),
            catalog_id=_bare(old.catalog_id),
        )
    )


def season_back(new: design.Season) -> current.Season:
    values = _values(
        new,
        season_id=f"SEASON#{new.season_id}",
        profile_id=f"PROFILE#{new.profile_id}",
        catalog_id=f"CATALOG#{new.catalog_id}",
    )
    return current.Season(**{name: values[name] for name in current.Season.model_fields})


def order(old: current.Order) -> design.Order:
    return design.Order(
        **_values(
            old,
            order_id=_bare(old.order_id),
            season_id=_bare(old.season_id),
            profile_id=_bare(old.profile_id),
        )
    )


def order_back(new: design.Order) -> current.Order:
    return current.Order(
        **_values(
            new,
            order_id=f"ORDER#{new.order_id}",
            season_id=f"SEASON#{new.season_id}",
            profile_id=f"PROFILE#{new.profile_id}",
        )
    )


_BACK: dict[type[Entity], Callable[[Any], Entity]] = {
    design.Account: account_back,
    design.Profile: profile_back,
    design.Share: share_back,
    design.Invite: invite_back,
    design.Season: season_back,
    design.Order: order_back,
    design.Catalog: catalog_back,
}


def back(new: Entity) -> Entity:
    """Any record of the proposed design, as the current one has it."""
    return _BACK[type(new)](new)


def _bare(value: str) -> str:
    """The id behind its prefix; an id that has none, or nothing behind it, is a mistake."""
    prefix, separator, bare = value.partition("#")
    if not (prefix and separator and bare):
        raise ValueError(f"{value!r} is not an id with its prefix")
    return bare


def _values(record: Entity, **changed: Any) -> dict[str, Any]:
    return {**record.__dict__, **changed}
