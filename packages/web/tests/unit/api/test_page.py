"""The files of a service's page."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import keyfold_web
from keyfold_web import Service, anyone, query
from keyfold_web.app import ApiSettings, create_app

SERVICE = """
from keyfold_web import Service, anyone, query


class Shop(Service):
    @query("/wares", allow=anyone)
    async def wares(self) -> list[str]:
        return []
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Service]]:
    (tmp_path / "shop_with_page.py").write_text(SERVICE)
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text('<nav class="tabbar"><a href="#/">A</a></nav><p>Wares</p>')
    (folder / "page.css").write_text(":root { --accent: red; }")
    (folder / "notes.txt").write_text("not for the web")
    (tmp_path / "secret.js").write_text("not of the page")
    monkeypatch.syspath_prepend(str(tmp_path))
    import shop_with_page  # type: ignore[import-not-found]

    yield shop_with_page.Shop
    del sys.modules["shop_with_page"]


def asking(*services: Service, development: bool = False) -> httpx.AsyncClient:
    app = create_app(services, ApiSettings(development=development))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


async def test_the_page_is_framed_and_its_places_stand_in_the_bar(shop: type[Service]) -> None:
    async with asking(shop()) as client:
        answer = await client.get("/shop/app/")
        bar, _, content = answer.text.partition("<main")
        assert '<a href="#/">A</a>' in bar
        assert "<p>Wares</p>" in content
        assert "data-development" not in answer.text
        assert (await client.get("/shop/app")).headers["location"] == "app/"
        assert (await client.get("/app")).headers["location"] == "shop/app/"


@pytest.mark.parametrize("name", ["notes.txt", "../secret.js", "%2e%2e/secret.js", "none.js"])
async def test_nothing_but_the_page_s_own_files_is_served(shop: type[Service], name: str) -> None:
    async with asking(shop()) as client:
        assert (await client.get("/shop/app/page.css")).headers["content-type"].startswith("text/c")
        assert (await client.get(f"/shop/app/{name}")).status_code == 404


async def test_a_service_without_a_page_has_none() -> None:
    class Plain(Service):
        @query("/wares", allow=anyone)
        async def wares(self) -> list[str]:
            return []

    async with asking(Plain()) as client:
        assert (await client.get("/plain/app/")).status_code == 404


def test_colours_are_written_in_one_file_that_every_page_shares() -> None:
    assets = Path(keyfold_web.__file__).parent / "pages" / "assets"
    named = set(re.findall(r"^ *(--[\w-]+):", (assets / "colours.css").read_text(), re.MULTILINE))
    assert {"--bg", "--text", "--accent", "--bad", "--e8"} <= named
    others = [assets / "app.css", assets / "site.css"]
    for sheet in others:
        text = sheet.read_text()
        assert not named & set(re.findall(r"(--[\w-]+):", text)), sheet.name
        assert "light-dark(" not in text, sheet.name
