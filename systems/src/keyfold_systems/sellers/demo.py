"""A cookie season in one town: sellers, their helpers, seasons and hundreds of orders."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
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

_FIRST = [
    "Mara",
    "Jonas",
    "Ines",
    "Theo",
    "Nora",
    "Luca",
    "Aylin",
    "Finn",
    "Zoe",
    "Omar",
    "Sara",
    "Emil",
    "Lina",
    "Noah",
    "Ida",
    "Paul",
]
_LAST = [
    "Lindqvist",
    "Adeyemi",
    "Rossi",
    "Haas",
    "Kaya",
    "Weber",
    "Costa",
    "Novak",
    "Larsen",
    "Dubois",
    "Meier",
    "Silva",
]
_TROOPS = ("Northside", "Riverbank", "Oak Hill", "Harbour", "Old Town", "Meadow")
_COOKIES = (
    ("mint", "Thin mint", "5.50"),
    ("oat", "Oat and raisin", "4.75"),
    ("caramel", "Caramel crunch", "6.00"),
    ("lemon", "Lemon wafer", "5.00"),
    ("short", "Shortbread", "4.50"),
    ("peanut", "Peanut butter", "6.25"),
)
_START = datetime(2025, 1, 10, 9, tzinfo=UTC)


async def fill(db: AsyncDb) -> int:
    """Write everything; gives how many items."""
    found = records()
    await db.bulk(found)
    return len(found)


def records(profiles: int = 12) -> list[Entity]:
    """The town, the same each time."""
    chance = random.Random(4)
    people = [f"u-{first.lower()}" for first in _FIRST]
    found: list[Entity] = []
    for number, (who, name) in enumerate(zip(people, _FIRST, strict=True)):
        email = f"{name}.{_LAST[number % len(_LAST)]}@example.org"
        found.append(Account(account_id=who, email=email, given_name=name))
    catalogs = [_catalog(number, people[number % 4], chance) for number in range(6)]
    found += catalogs
    for number in range(profiles):
        found += _profile(number, people, catalogs, chance)
    return found


def _catalog(number: int, owner: str, chance: random.Random) -> Catalog:
    chosen = sorted(chance.sample(_COOKIES, 5))
    return Catalog(
        catalog_id=f"c-{number}",
        owner_account_id=owner,
        catalog_name=f"{_TROOPS[number]} cookies",
        is_public=number < 4,
        products=[Product(product_id=i, product_name=n, price=Decimal(p)) for i, n, p in chosen],
        created_at=_START + timedelta(hours=number),
    )


def _profile(
    number: int, people: list[str], catalogs: list[Catalog], chance: random.Random
) -> list[Entity]:
    owner = people[number % 8]
    founded = _START + timedelta(days=number, minutes=chance.randrange(600))
    name = f"{_FIRST[(number * 5) % 16]}'s {_TROOPS[number % 6]} stand"
    profile = Profile(
        profile_id=f"p-{number:03d}", owner_account_id=owner, seller_name=name, created_at=founded
    )
    found: list[Entity] = [profile]
    for helper in chance.sample([p for p in people if p != owner], 2):
        found.append(
            Share(
                profile_id=profile.profile_id,
                target_account_id=helper,
                permissions=("READ", "WRITE") if chance.random() < 0.5 else ("READ",),
                owner_account_id=owner,
                seller_name=name,
                profile_created_at=founded,
                created_at=founded + timedelta(hours=chance.randrange(1, 90)),
                created_by_account_id=owner,
            )
        )
    found.append(
        Invite(
            invite_code=f"{chance.getrandbits(40):010X}",
            profile_id=profile.profile_id,
            permissions=("READ",),
            created_by_account_id=owner,
            created_at=founded,
            expires_at=datetime(2035, 1, 1, tzinfo=UTC),
        )
    )
    for year in (2025, 2026):
        found += _season(profile, year, chance.choice(catalogs), chance)
    return found


def _season(profile: Profile, year: int, catalog: Catalog, chance: random.Random) -> list[Entity]:
    opened = max(datetime(year, 2, 1, 8, tzinfo=UTC), profile.created_at)
    season = Season(
        season_id=f"s-{profile.profile_id[2:]}-{year}",
        profile_id=profile.profile_id,
        season_name=f"Spring {year}",
        catalog_id=catalog.catalog_id,
        start_date=opened.date(),
        end_date=(opened + timedelta(days=60)).date(),
        created_at=opened,
    )
    found: list[Entity] = [season]
    for number in range(chance.randrange(20, 60)):
        moment = opened + timedelta(minutes=37 * number + chance.randrange(30))
        lines = [
            LineItem(
                product_id=product.product_id,
                product_name=product.product_name,
                quantity=chance.choice((1, 1, 2, 2, 3, 5)),
                price_per_unit=product.price,
            )
            for product in chance.sample(catalog.products, chance.randrange(1, 4))
        ]
        found.append(
            Order(
                order_id=f"o-{season.season_id[2:]}-{number:03d}",
                season_id=season.season_id,
                profile_id=profile.profile_id,
                customer_name=f"{chance.choice(_FIRST)} {chance.choice(_LAST)}",
                customer_phone=f"555-01{chance.randrange(100):02d}",
                line_items=lines,
                total_amount=sum((line.subtotal for line in lines), Decimal(0)),
                payment_method=chance.choice(get_args(PaymentMethod)),
                order_date=moment.date(),
                created_at=moment,
            )
        )
    return found
