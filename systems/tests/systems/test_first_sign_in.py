"""With an issuer, the first request of a caller makes their profile, if its claims fit one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from keyfold.errors import NotFound
from keyfold_demo.systems import find_systems
from keyfold_web import Identity, Missing, PageRequest, Service
from keyfold_web.dispatch import Caller, Dispatch

SYSTEMS = {one.name: one for one in find_systems() if one.name not in ("tamafriends", "gg_core")}
Asked = tuple[str, Callable[[str], dict[str, Any]]]
"""An operation, and what it is given for somebody."""
BY_NAME = {"inviter", "search_room"}
"""Systems whose profiles have no address."""


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
async def service(system: str) -> AsyncIterator[Service]:
    async with await SYSTEMS[system].design.open_async(":memory:") as db:
        yield SYSTEMS[system].serve(db)


OWN: dict[str, Asked] = {
    "inviter": ("user", lambda id: {"user_id": id}),
    "search-room": ("rooms", lambda id: {"user_id": id, "page": PageRequest(limit=1)}),
    "sellers": ("getMyAccount", lambda _: {}),
}
"""What gives a caller their own profile."""


async def profiles(service: Service, id: str, **claims: Any) -> int:
    """How many profiles a caller has after a request."""
    identity = Identity.from_claims({"sub": id, **claims})
    name, given = OWN[service.name]
    operation = service.operations[name]
    try:
        await Dispatch(service).call(operation, lambda: given(id), Caller(identity), "rest")
    except (NotFound, Missing):
        return 0
    return 1


async def test_a_first_request_makes_a_profile_and_another_process_no_second(
    service: Service,
) -> None:
    for _ in range(2):
        assert await profiles(service, "ada", email="ada@example.org", name="Ada") == 1


async def test_an_address_that_nobody_verified_is_not_taken(system: str, service: Service) -> None:
    found = await profiles(
        service, "eve", email="ada@example.org", email_verified=False, name="Eve"
    )
    assert found == (1 if system in BY_NAME else 0)
    assert await profiles(service, "ada", email="ada@example.org", name="Ada") == 1


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "x"},
        {"email": f"{'a' * 500}@example.org"},
        {"email": "#@example.org"},
        {"email": 5, "name": 5},
        {"email": "ada@example.org", "name": " "},
        {"email": "ada@example.org", "name": "x" * 5000},
        {"email": "ada@example.org", "preferred_username": "#"},
        {},
    ],
    ids=repr,
)
async def test_odd_claims_keep_nobody_out(service: Service, claims: dict[str, Any]) -> None:
    assert await profiles(service, "ada", **claims) in (0, 1)


async def test_a_long_id_keeps_nobody_out(service: Service) -> None:
    assert await profiles(service, "x" * 300, email="ada@example.org", name="Ada") in (0, 1)
