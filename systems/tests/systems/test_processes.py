"""`keyfold api` as a user starts it: what the stream does arrives, or it is said why not."""

from __future__ import annotations

import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

PATIENCE = 90
SYSTEMS = ("inviter", "search_room", "gg_core", "sellers", "tamafriends")
KEYFOLD = [sys.executable, "-m", "keyfold"]


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@contextmanager
def started(folder: Path, name: str, *command: str) -> Iterator[Path]:
    """A command that runs meanwhile, and where it prints."""
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen([*KEYFOLD, *command], cwd=folder, stdout=out, stderr=out)
    try:
        yield log
    finally:
        process.terminate()
        process.wait()


def awaited(look: Callable[[], Any], log: Path) -> Any:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if found := look():
                return found
        except httpx.TransportError:
            pass  # not there yet
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


@contextmanager
def api(folder: Path, backend: str, *systems: str) -> Iterator[tuple[str, Path]]:
    """The services, ready, and what they print."""
    port = free_port()
    targets = [f"keyfold_systems.{one}.service" for one in systems]
    options = ["--backend", backend, "--development", "--port", port]
    with started(folder, "api", "api", *targets, *options) as log:
        url = f"http://127.0.0.1:{port}"
        awaited(lambda: httpx.get(f"{url}/ready").status_code == 200, log)
        yield url, log


class Person:
    """Somebody with a browser."""

    def __init__(self, url: str, name: str) -> None:
        token = httpx.post(f"{url}/sign-in", json={"user": name}).json()["token"]
        self._web = httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"})
        self.name = name

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._web.request(method, path, json=body)
        assert answer.is_success, (path, answer.text)
        return answer.json() if answer.content else None


Look = Callable[[], bool]
"""Whether the stream has done its work."""


def _answer(ada: Person, ben: Person) -> Look:
    for one in (ada, ben):
        one.ask("PUT", f"/inviter/users/{one.name}", {"name": one.name.title()})
    hangout = ada.ask(
        *("POST", "/inviter/hangouts"),
        {
            "title": "Run",
            "startTimestamp": "2091-05-01T10:00:00Z",
            "invitedUsers": ["ben"],
        },
    )
    path = f"/inviter/hangouts/{hangout['hangoutId']}"
    ben.ask("PUT", f"{path}/answer", {"answer": "going"})
    return lambda: bool(ada.ask("GET", path)["going"] == 1)


def _sell(ada: Person, _: Person) -> Look:
    ada.ask("POST", "/sellers/accounts", {"email": "ada@example.org", "givenName": "Ada"})
    product = {"productId": "mint", "productName": "Thin mint", "price": "5.50"}
    catalog = ada.ask("POST", "/sellers/catalogs", {"catalogName": "All", "products": [product]})
    profile = ada.ask("POST", "/sellers/profiles", {"sellerName": "Cookies"})["profileId"]
    season = ada.ask(
        *("POST", "/sellers/seasons"),
        {
            "profileId": profile,
            "seasonName": "Spring",
            "catalogId": catalog["catalogId"],
            "startDate": "2091-05-01",
        },
    )
    order = {
        "seasonId": season["seasonId"],
        "customerName": "Ms. Doe",
        "lineItems": [{"productId": "mint", "quantity": 1}],
        "paymentMethod": "CASH",
        "orderDate": "2091-05-02",
    }
    ada.ask("POST", "/sellers/orders", order)
    assert len(ada.ask("GET", f"/sellers/profiles/{profile}/orders")["items"]) == 1
    ada.ask("DELETE", f"/sellers/seasons/{season['seasonId']}")
    orders = f"/sellers/profiles/{profile}/orders"
    return lambda: ada.ask("GET", orders)["items"] == []


def _clear(ada: Person, _: Person) -> Look:
    room = ada.ask("POST", "/search-room/rooms", {"name": "Flat", "searchType": "rent"})["roomId"]
    for number in range(110):
        ada.ask("POST", f"/search-room/rooms/{room}/messages", {"text": str(number)})
    ada.ask("DELETE", f"/search-room/rooms/{room}")
    rooms = "/search-room/users/ada/rooms"
    return lambda: ada.ask("GET", rooms)["items"] == []


def _follow(ada: Person, ben: Person) -> Look:
    for one in (ada, ben):
        person = {"nickname": one.name, "email": f"{one.name}@x.org", "fullName": one.name.title()}
        one.ask("POST", "/gg-core/users", person)
    ada.ask("POST", "/gg-core/following/ben")
    return lambda: bool(ben.ask("GET", "/gg-core/users/ben")["followers"] == 1)


STORIES: dict[str, Callable[[Person, Person], Look]] = {
    "inviter": _answer,
    "sellers": _sell,
    "search-room": _clear,
    "gg-core": _follow,
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    with api(tmp_path_factory.mktemp("api"), "data.db", *SYSTEMS) as running:
        yield running


@pytest.mark.parametrize("system", STORIES)
def test_the_stream_is_followed_without_another_process(
    served: tuple[str, Path], system: str
) -> None:
    url, log = served
    awaited(STORIES[system](Person(url, "ada"), Person(url, "ben")), log)
    assert "streams run" not in log.read_text()


def test_elsewhere_the_command_that_is_needed_is_said_and_it_works(tmp_path: Path) -> None:
    port = free_port()
    with (
        started(tmp_path, "serve", "serve", "--port", port) as serving,
        api(tmp_path, _ready(f"http://127.0.0.1:{port}", serving), "inviter") as (url, log),
    ):
        counted = _answer(Person(url, "ada"), Person(url, "ben"))
        assert not counted()
        said = log.read_text()
        _, _, command = said.partition("while this runs: keyfold ")
        with started(tmp_path, "streams", *shlex.split(command.splitlines()[0])) as following:
            assert awaited(counted, following)


def _ready(url: str, log: Path) -> str:
    awaited(lambda: httpx.get(url).status_code, log)
    return url
