"""The demo's data: a cookie sale in one town. The same on every run, apart from the day.

It obeys the rules of the service: who sells from a private catalog owns it, an invite is good for
two weeks, and everything is younger than what it is in.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from decimal import Decimal
from typing import get_args

from keyfold import AsyncDb, Entity
from keyfold_systems.sellers.entities import Account, Catalog, Invite, Order, Profile, Season, Share
from keyfold_systems.sellers.values import LineItem, PaymentMethod, Product

USERS: list[tuple[str, str, list[str]]] = [
    ("u-mara", "Mara Lindqvist", []),
    ("u-jonas", "Jonas Adeyemi", []),
    ("u-root", "Administrator", ["admin"]),
]
TRY = "/profiles/p-000/seasons"

_NAMES = """
Mara Jonas Ines Theo Nora Luca Aylin Finn Zoe Omar Sara Emil Lina Noah Ida Paul
Lindqvist Adeyemi Rossi Haas Kaya Weber Costa Novak Larsen Dubois Meier Silva
"""
_FIRST, _LAST = map(str.split, _NAMES.strip().splitlines())
_PLACES = ("Northside", "Riverbank", "Oak Hill", "Harbour", "Old Town", "Meadow")
_COOKIES = (
    ("mint", "Thin mint", "5.50"),
    ("oat", "Oat and raisin", "4.75"),
    ("caramel", "Caramel crunch", "6.00"),
    ("lemon", "Lemon wafer", "5.00"),
    ("short", "Shortbread", "4.50"),
    ("peanut", "Peanut butter", "6.25"),
)
_OWNERS = 8


async def fill(db: AsyncDb) -> int:
    """Write everything; returns how many items it has."""
    found = records(db.context.now())
    await db.bulk([one for one in found if not isinstance(one, Season | Order)])
    # A season counts on its catalog, and an order needs its season.
    await db.bulk([one for one in found if isinstance(one, Season)])
    await db.bulk([one for one in found if isinstance(one, Order)])
    return len(found)


def records(now: datetime, profiles: int = 12) -> list[Entity]:
    """The town, as it is at a time."""
    dice = random.Random(4)
    began = now - timedelta(days=430)
    people = [f"u-{first.lower()}" for first in _FIRST]
    found: list[Entity] = []
    for number, (who, name) in enumerate(zip(people, _FIRST, strict=True)):
        email = f"{name}.{_LAST[number % len(_LAST)]}@example.org".lower()
        found.append(Account(account_id=who, email=email, given_name=name))
    catalogs = [_catalog(number, people[number % 4], began, dice) for number in range(6)]
    found += catalogs
    for number in range(profiles):
        found += _profile(number, now, people, catalogs, dice)
    return found


def _catalog(number: int, owner: str, began: datetime, dice: random.Random) -> Catalog:
    chosen = sorted(dice.sample(_COOKIES, 5))
    return Catalog(
        catalog_id=f"c-{number}",
        owner_account_id=owner,
        catalog_name=f"{_PLACES[number]} cookies",
        is_public_str="true" if number < 4 else "false",
        products=[Product(product_id=i, product_name=n, price=Decimal(p)) for i, n, p in chosen],
        created_at=began + timedelta(hours=number),
    )


def _profile(
    number: int, now: datetime, people: list[str], catalogs: list[Catalog], dice: random.Random
) -> list[Entity]:
    owner = people[number % _OWNERS]
    founded = now - timedelta(days=420 - number, minutes=dice.randrange(600))
    profile = Profile(
        owner_account_id=owner,
        profile_id=f"p-{number:03d}",
        seller_name=f"{_FIRST[number % _OWNERS]}'s {_PLACES[number % 6]} stand",
        created_at=founded,
    )
    found: list[Entity] = [profile]
    for helper in dice.sample([p for p in people if p != owner], 2):
        found.append(
            Share(
                profile_id=profile.profile_id,
                target_account_id=helper,
                permissions=("READ", "WRITE") if dice.random() < 0.5 else ("READ",),
                created_at=founded + timedelta(hours=dice.randrange(1, 90)),
                created_by_account_id=owner,
            )
        )
    code = f"{dice.getrandbits(36):09X}"
    found.append(
        Invite(
            invite_code=f"{code[:8]}-{code[8]}",
            profile_id=profile.profile_id,
            permissions=("READ",),
            created_by_account_id=owner,
            created_at=now - timedelta(days=1),
            expires_at=now.replace(microsecond=0) + timedelta(days=13),
        )
    )
    may = [c for c in catalogs if c.is_public_str == "true" or c.owner_account_id == owner]
    for year, days in enumerate((400, 35), start=1):
        opened = now - timedelta(days=days, minutes=dice.randrange(300))
        found += _season(profile, year, opened, now, dice.choice(may), dice)
    return found


def _season(
    profile: Profile,
    year: int,
    opened: datetime,
    now: datetime,
    catalog: Catalog,
    dice: random.Random,
) -> list[Entity]:
    season = Season(
        profile_id=profile.profile_id,
        season_id=f"s-{profile.profile_id[2:]}-{year}",
        season_name=f"{opened:%B %Y}",
        catalog_id=catalog.catalog_id,
        start_date=opened.date(),
        end_date=(opened + timedelta(days=60)).date(),
        created_at=opened,
    )
    found: list[Entity] = [season]
    count = dice.randrange(20, 60)
    pause = min(timedelta(days=60), now - opened) / count
    for number in range(count):
        moment = opened + number * pause + timedelta(minutes=dice.randrange(1, 31))
        lines = [
            LineItem(
                product_id=product.product_id,
                product_name=product.product_name,
                quantity=dice.choice((1, 1, 2, 2, 3, 5)),
                price_per_unit=product.price,
            )
            for product in dice.sample(catalog.products, dice.randrange(1, 4))
        ]
        found.append(
            Order(
                season_id=season.season_id,
                order_id=f"o-{season.season_id[2:]}-{number:03d}",
                profile_id=profile.profile_id,
                customer_name=f"{dice.choice(_FIRST)} {dice.choice(_LAST)}",
                customer_phone=f"555-01{dice.randrange(100):02d}",
                total_amount=sum((line.subtotal for line in lines), Decimal(0)),
                payment_method=dice.choice(get_args(PaymentMethod)),
                line_items=lines,
                order_date=moment.date(),
                created_at=moment,
            )
        )
    return found
