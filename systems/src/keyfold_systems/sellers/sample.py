"""A small world in the tables of either design, with the same questions and changes in both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from types import ModuleType
from typing import Any, Final

from keyfold import AsyncDb, Entity, check, create, delete, put, update
from keyfold.conditions import exists
from keyfold_systems.sellers import current, entities, mapping, patterns
from keyfold_systems.sellers.entities import Account, Catalog, Invite, Order, Profile, Season, Share
from keyfold_systems.sellers.values import LineItem, Product

PROFILES, SEASONS, ORDERS = 10, 4, 40
START = datetime(2026, 3, 1, tzinfo=UTC)
Calls = dict[str, Callable[[], Awaitable[Any]]]
Steps = tuple[tuple[str, ...], ...]
"""Patterns that are asked one after the other, each with the names of what it is given."""

MAY: Final = ("profile_by_id", "profile")
"""Who asks owns the profile; that is seen in it."""
READS: Final[dict[str, Steps]] = {
    "getMyAccount": (("account", "account"),),
    "getAccount": (("account", "account"),),
    "getAccountByEmail": (("account_by_email", "email"),),
    "getProfile": (MAY,),
    "listMyProfiles": (("my_profiles", "owner"),),
    "getShare": (("share", "shared", "helper"),),
    "listSharesByProfile": (("profile_by_id", "shared"), ("shares_of_profile", "shared")),
    "listSharedProfiles": (("shared_with", "helper"),),
    "getInviteDetails": (("invite", "code"), MAY),
    "listInvitesByProfile": (MAY, ("invites_of_profile", "profile")),
    "getSeason": (("season_by_id", "season"), MAY),
    "listSeasonsByProfile": (MAY, ("seasons_of_profile", "profile")),
    "listCatalogUsage": (("catalog", "catalog"), ("catalog_uses", "catalog")),
    "getOrder": (("order_by_id", "order"), ("order", "season", "order"), MAY),
    "getOrder, its season known": (("order", "season", "order"), MAY),
    "listOrdersBySeason": (("season_by_id", "season"), MAY, ("orders_of_season", "season")),
    "listOrdersByProfile": (MAY, ("orders_of_profile", "profile")),
    "getSeasonReport": (("season_by_id", "season"), MAY, ("orders_of_season", "season")),
    "getCatalog": (("catalog", "catalog"),),
    "listMyCatalogs": (("my_catalogs", "owner"),),
    "listPublicCatalogs": (("public_catalogs",),),
}
"""What each read asks of the proposed design."""
NAMED: Final = (
    "listSharesByProfile",
    "listSharedProfiles",
    "listSeasonsByProfile",
    "listOrdersByProfile",
    "listPublicCatalogs",
)
"""Lists of the service that also show names, which the document does not ask for."""
READS_BEFORE: Final[dict[str, Steps]] = {
    **READS,
    "listSharedProfiles": (("shared_with", "helper"), ("profiles", "helper")),
    "getOrder": (("order_by_id", "order"), MAY),
    "getOrder, its season known": (("order_by_id", "order"), MAY),
}


class World:
    """An owner's profiles, which a helper may read; the first has seasons, orders and invites."""

    def __init__(self, db: AsyncDb, *, before: bool) -> None:
        self.db, self._before = db, before
        self._kinds: ModuleType = current if before else entities

    async def fill(self) -> None:
        for record in _records():
            await self.db.create(self._spelled(record))

    def reads(self) -> Calls:
        steps = READS_BEFORE if self._before else READS
        return {name: partial(self._ask, asked) for name, asked in steps.items()}

    async def _ask(self, steps: Steps) -> None:
        for pattern, *names in steps:
            if pattern == "profiles":
                keys = [self._profile(f"p{number}") for number in range(1, PROFILES)]
                await self.db.get_many(keys)
            else:
                asked = getattr(current if self._before else patterns, pattern)
                await asked(self.db, *(self._value(name) for name in names))

    def _value(self, name: str) -> str:
        """What a question is about, as this design spells it."""
        value, prefix = _ASKED[name]
        return f"{prefix}#{value}" if self._before and prefix else value

    def writes(self) -> Calls:
        def new(record: Entity) -> Any:
            return create(self._spelled(record))

        def write(*intents: Any) -> Callable[[], Awaitable[Any]]:
            return lambda: self.db.transact(*intents)

        profile = check(self._profile("p0"), where=lambda p: exists(p.created_at))
        season = check(self._spelled(_season(0)).ref(), where=lambda s: exists(s.created_at))
        catalog = check(self._spelled(_catalog()).ref(), where=lambda c: exists(c.created_at))
        direct = put(self._spelled(_share("p0", "guest")))
        redeemed = put(self._spelled(_share("p0", "helper")))
        used = update(
            self._spelled(_invite("CODE0")).ref(), used_at=START, used_by_account_id="helper"
        )
        return {
            "createSellerProfile": write(new(_profile(PROFILES))),
            "updateSellerProfile": write(update(self._profile("p0"), seller_name="Other")),
            "shareProfileDirect": write(direct, profile),
            "createProfileInvite": write(new(_invite("CODE1")), profile),
            "redeemProfileInvite": write(used, redeemed, profile),
            "createSeason": write(new(_season(SEASONS)), profile, catalog),
            "updateSeason": write(update(self._spelled(_season(1)).ref(), season_name="Summer")),
            "createOrder": write(new(_order(ORDERS)), season),
            "updateOrder": write(update(self._spelled(_order(1)).ref(), notes="x")),
            "deleteOrder": write(delete(self._spelled(_order(2)).ref())),
        }

    def _profile(self, profile_id: str) -> Any:
        given = f"PROFILE#{profile_id}" if self._before else profile_id
        return self._kinds.Profile.key(profile_id=given)

    def _spelled(self, record: Entity) -> Any:
        return mapping.back(record) if self._before else record


_ASKED: Final = {
    "account": ("owner", "ACCOUNT"),
    "email": ("owner@example.org", ""),
    "owner": ("owner", ""),
    "helper": ("helper", ""),
    "profile": ("p0", "PROFILE"),
    "shared": ("p1", "PROFILE"),
    "code": ("CODE0", ""),
    "season": ("s0", "SEASON"),
    "order": ("o00", "ORDER"),
    "catalog": ("c0", "CATALOG"),
}


def _records() -> Iterator[Entity]:
    for who in ("owner", "helper", "guest"):
        yield Account(account_id=who, email=f"{who}@example.org", given_name=who.title())
    yield _catalog()
    for number in range(PROFILES):
        yield _profile(number)
        if number:
            yield _share(f"p{number}", "helper")
    yield _invite("CODE0")
    for number in range(SEASONS):
        yield _season(number)
    for number in range(ORDERS):
        yield _order(number)


def _catalog() -> Catalog:
    pie = Product(product_id="p", product_name="Pie", price=Decimal(3))
    return Catalog(
        catalog_id="c0",
        owner_account_id="owner",
        catalog_name="Cookies",
        is_public=True,
        products=[pie],
        created_at=START,
    )


def _profile(number: int) -> Profile:
    return Profile(
        profile_id=f"p{number}",
        owner_account_id="owner",
        seller_name=f"Stand {number}",
        created_at=_at(number),
    )


def _share(profile_id: str, who: str) -> Share:
    return Share(
        profile_id=profile_id,
        target_account_id=who,
        permissions=("READ",),
        owner_account_id="owner",
        seller_name="Stand",
        profile_created_at=START,
        created_at=START,
        created_by_account_id="owner",
    )


def _invite(code: str) -> Invite:
    return Invite(
        invite_code=code,
        profile_id="p0",
        permissions=("READ",),
        created_by_account_id="owner",
        created_at=START,
        expires_at=datetime(2100, 1, 1, tzinfo=UTC),
    )


def _season(number: int) -> Season:
    return Season(
        season_id=f"s{number}",
        profile_id="p0",
        season_name="Spring",
        catalog_id="c0",
        start_date=date(2026, 3, 1),
        created_at=_at(number),
    )


def _order(number: int) -> Order:
    line = LineItem(product_id="p", product_name="Pie", quantity=2, price_per_unit=Decimal(3))
    return Order(
        order_id=f"o{number:02d}",
        season_id="s0",
        profile_id="p0",
        customer_name="Ms. Doe",
        line_items=[line],
        total_amount=line.subtotal,
        payment_method="CASH",
        order_date=date(2026, 3, 2),
        created_at=_at(number),
    )


def _at(number: int) -> datetime:
    return START + timedelta(minutes=number)
