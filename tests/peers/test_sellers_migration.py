"""Sellers' restructuring on other people's servers, while the sellers work.

dynalite has no transactions, and moto opens no stream again that was closed: it does not run there.
"""

from __future__ import annotations

import pytest
from tests.systems.sellers.changeover import Place, restructure

from keyfold_engine.clients import connect, connect_async

SELLERS, RECORDS = 2, 42
"""A profile for each of them."""


@pytest.mark.parametrize("other_server", ["dynoxide", "ministack"], indirect=True)
async def test_the_restructuring_of_sellers_runs_there(other_server: tuple[str, str]) -> None:
    url = other_server[1]
    client = connect(url)
    place = Place(client, connect_async(url), url, kills=False, settle=0.5)
    town = await restructure(place, RECORDS, sellers=SELLERS, pause=0.2)
    assert town.reads > 0
    await place.calls.close()
    client.close()
