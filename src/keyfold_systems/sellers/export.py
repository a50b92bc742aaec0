"""The walk through everything of one account, a page at a time."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import orjson

from keyfold import AsyncDb, Entity
from keyfold.errors import CursorRefused
from keyfold_systems.sellers.patterns import (
    account,
    invites_of_profile,
    my_catalogs,
    my_profiles,
    orders_of_season,
    seasons_of_profile,
    shared_with,
    shares_of_profile,
)
from keyfold_systems.sellers.payloads import ExportedRecord


@dataclass(frozen=True)
class Bookmark:
    """Where an export is. It holds cursors alone, which nobody else's reads take."""

    kind: str = "account"
    cursor: str | None = None
    """In the list of this kind."""
    profile: str | None = None
    """Before the profile whose records these are."""
    season: str | None = None
    """Before the season whose orders these are."""

    def text(self) -> str:
        return base64.urlsafe_b64encode(orjson.dumps(asdict(self))).decode()

    @classmethod
    def read(cls, text: str | None) -> Bookmark:
        if text is None:
            return cls()
        try:
            place = cls(**orjson.loads(base64.urlsafe_b64decode(text)))
        except (ValueError, TypeError):
            place = cls(kind="")
        if place.kind not in _NEXT:
            raise CursorRefused("this is no cursor of an export; begin again without one")
        return place


_NEXT: Final[Mapping[str, str]] = {
    "account": "catalog",
    "catalog": "share",
    "share": "profile",
    "profile": "helper",
    "helper": "invite",
    "invite": "season",
    "season": "order",
    "order": "",
}
"""What comes after the last record of a kind; profiles and seasons come one by one."""
_OF_ACCOUNT: Final[Mapping[str, Any]] = {"catalog": my_catalogs, "share": shared_with}
_OF_PROFILE: Final[Mapping[str, Any]] = {"helper": shares_of_profile, "invite": invites_of_profile}


async def step(
    db: AsyncDb, account_id: str, place: Bookmark, limit: int
) -> tuple[list[ExportedRecord], Bookmark | None]:
    """Some records of one kind, perhaps none, and where to go on."""
    onward = replace(place, kind=_NEXT[place.kind], cursor=None)
    if place.kind == "account":
        mine = await account(db, account_id)
        return _records("account", [mine] if mine else []), onward
    if place.kind in _OF_ACCOUNT:
        found: Any = await _OF_ACCOUNT[place.kind].after(place.cursor)(db, account_id, limit=limit)
        return _records(place.kind, found), _within(place, onward, found.cursor)
    profiles = await my_profiles.after(place.profile)(db, account_id, limit=1)
    if not profiles.items:
        return [], None
    (profile,) = profiles.items
    if place.kind == "profile":
        return _records("profile", [profile]), onward
    following = Bookmark("profile", profile=profiles.cursor) if profiles.cursor else None
    if place.kind in _OF_PROFILE:
        read = _OF_PROFILE[place.kind].after(place.cursor)
        found = await read(db, profile.profile_id, limit=limit)
        return _records(place.kind, found), _within(place, onward, found.cursor)
    seasons = await seasons_of_profile.after(place.season)(db, profile.profile_id, limit=1)
    if not seasons.items:
        return [], following
    (season,) = seasons.items
    if place.kind == "season":
        return _records("season", [season]), onward
    found = await orders_of_season.after(place.cursor)(db, season.season_id, limit=limit)
    after = replace(place, kind="season", cursor=None, season=seasons.cursor)
    return _records("order", found), _within(
        place, after if seasons.cursor else following, found.cursor
    )


def _within(place: Bookmark, onward: Bookmark | None, cursor: str | None) -> Bookmark | None:
    return onward if cursor is None else replace(place, cursor=cursor)


def _records(kind: str, found: Iterable[Entity]) -> list[ExportedRecord]:
    return [
        ExportedRecord(kind=kind, record=one.model_dump(mode="json", by_alias=True))
        for one in found
    ]
