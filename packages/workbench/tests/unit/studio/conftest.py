"""A small system with a copy, a counter, and names that are markup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest
from starlette.testclient import TestClient

from keyfold import Counter, Db, Design, Entity, Id, Index, Key, On, Pointer, Query, Version
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

SCRIPT = "<script>alert(1)</script>"
TOKEN = "a-token-of-the-tests"

design = Design("clubs", description=f"Clubs {SCRIPT}")
table = design.table(
    "Clubs", indexes=[Index("Mine", "mpk", "msk")], stream="NEW_AND_OLD_IMAGES", ttl="ttl"
)


class Member(Entity, table=table):
    """Somebody in a club."""

    club_id: Id
    member_id: Id
    name: str
    key = Key("CLUB#{club_id}", "MEMBER#{member_id}")
    mine = On("Mine", "MEMBER#{member_id}", "CLUB#{club_id}")


class Club(Entity, table=table):
    """A club."""

    club_id: Id
    name: str
    city_ids: set[str] = set()
    members: Annotated[int, Counter("Member")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("CLUB#{club_id}", "CLUB")


class CityClub(Pointer[Club], table=table, each="city_ids"):
    """A club as a city lists it."""

    city_id: Id
    club_id: Id
    name: str
    key = Key("CITY#{city_id}", "CLUB#{club_id}")


@design.pattern(requests=1)
def clubs_of_city(city_id: str, limit: int = 20) -> Query[CityClub]:
    """The clubs of a city."""
    return CityClub.key.query(city_id=city_id).limit(limit)


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Club(club_id="c1", name=f"Chess {SCRIPT}", city_ids={"paris", "rome"}))
        opened.create(Club(club_id="c2", name="Rowing", city_ids={"rome"}))
        opened.create(Member(club_id="c1", member_id="m1", name="Ada"))
        opened.client.call(
            "PutItem",
            {
                "TableName": "Clubs",
                "Item": {
                    "PK": {"S": "CLUB#c1"},
                    "SK": {"S": SCRIPT},
                    SCRIPT: {"S": f"note {SCRIPT}"},
                },
            },
        )
        yield opened


@pytest.fixture
def system(db: Db) -> StudioSystem:
    return StudioSystem(
        slug="clubs",
        title=f"Clubs {SCRIPT}",
        schema=design.schema,
        client=db.client,
        place="clubs.db",
        writable=True,
        design=design,
    )


@pytest.fixture
def gate() -> Gate:
    return Gate(token=TOKEN)


@pytest.fixture
def stranger(system: StudioSystem, gate: Gate) -> TestClient:
    """A browser without a cookie."""
    return TestClient(create_studio([system], gate), base_url="http://127.0.0.1:8090")


@pytest.fixture
def browser(stranger: TestClient) -> TestClient:
    """A browser that came by the printed address."""
    assert stranger.get(f"/?token={TOKEN}").status_code == 200
    return stranger
