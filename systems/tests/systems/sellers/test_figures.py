"""The measured figures on their page are those of today."""

from __future__ import annotations

import re
from pathlib import Path

from keyfold.design.file import load
from keyfold_engine.clients import connect_async
from keyfold_systems.sellers import figures, sample
from keyfold_systems.sellers.service import Sellers
from keyfold_web import Identity, PageRequest

PAGE = Path(__file__).parents[4] / "docs" / "guide" / "sellers.md"
AS_WRITTEN = Path(figures.__file__).parent / "as_written.yaml"


def without_times(page: str) -> str:
    return re.sub(r"[\d.]+ ms", "some ms", page)


async def test_the_page_of_figures_shows_what_is_measured() -> None:
    """Otherwise: python -m keyfold_systems.sellers.figures > docs/guide/sellers.md"""
    assert without_times(PAGE.read_text("utf-8")) == without_times(await figures.page())


def test_the_page_has_every_read_of_the_service() -> None:
    reads = {name for name, one in Sellers.operations.items() if one.kind == "query"}
    measured = {name for name in sample.READS if "," not in name}
    assert len(measured) == 20
    assert reads == measured


def test_the_indexes_are_ten_before_and_six_after() -> None:
    assert len(figures.indexes(figures.BEFORE)) == 10
    assert len(figures.indexes(figures.AFTER)) == 6
    assert figures.indexes(figures.AFTER, local=True) == ["createdAt-index"] * 3


def test_the_documents_own_tables_have_ten_indexes_and_ten_patterns_on_them() -> None:
    written = load(AS_WRITTEN)
    assert [len(one.indexes) for one in written.tables] == [1, 1, 1, 1, 2, 2, 2]
    assert len(written.patterns) == 18
    assert sum(one.index is not None for one in written.patterns) == 10


async def test_the_service_makes_the_requests_of_the_page_and_one_for_names() -> None:
    page, _ = await figures.measured(figures.AFTER)
    client = figures.Metered(connect_async(":memory:"), frozenset(figures.indexes(figures.AFTER)))
    db = await figures.AFTER.open_async(client)
    await sample.World(db, before=False).fill()
    asked = Sellers(db)
    owner, helper, first = Identity.of("owner"), Identity.of("helper"), PageRequest()
    calls: sample.Calls = {
        "getMyAccount": lambda: asked.get_my_account(owner),
        "getAccount": lambda: asked.get_account("owner"),
        "getAccountByEmail": lambda: asked.get_account_by_email("owner@example.org"),
        "getProfile": lambda: asked.get_profile("p0", owner),
        "listMyProfiles": lambda: asked.list_my_profiles(first, owner),
        "getShare": lambda: asked.get_share("p1", "helper", helper),
        "listSharesByProfile": lambda: asked.list_shares_by_profile("p1", first, owner),
        "listSharedProfiles": lambda: asked.list_shared_profiles(first, helper),
        "getInviteDetails": lambda: asked.get_invite_details("CODE0"),
        "listInvitesByProfile": lambda: asked.list_invites_by_profile("p0", first, owner),
        "getSeason": lambda: asked.get_season("s0", owner),
        "listSeasonsByProfile": lambda: asked.list_seasons_by_profile("p0", first, owner),
        "listCatalogUsage": lambda: asked.list_catalog_usage("c0", first, owner),
        "getOrder": lambda: asked.get_order("o00", owner),
        "getOrder, its season known": lambda: asked.get_order("o00", owner, "s0"),
        "listOrdersBySeason": lambda: asked.list_orders_by_season("s0", first, owner),
        "listOrdersByProfile": lambda: asked.list_orders_by_profile("p0", first, owner),
        "getSeasonReport": lambda: asked.get_season_report("s0", owner),
        "getCatalog": lambda: asked.get_catalog("c0", owner),
        "listMyCatalogs": lambda: asked.list_my_catalogs(first, owner),
        "listPublicCatalogs": lambda: asked.list_public_catalogs(first),
    }
    assert set(calls) == set(sample.READS)
    for name, call in calls.items():
        client.cost = figures.Cost()
        await call()
        names = int(name in sample.NAMED)
        told = (name, page[name].requests + names, page[name].reads + names)
        assert (name, client.cost.requests, client.cost.reads) == told
    await client.close()
