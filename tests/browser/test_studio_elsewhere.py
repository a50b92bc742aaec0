"""`keyfold studio` on tables that keyfold did not write, on a server that is slow or dies."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import EndpointConnectionError
from playwright.sync_api import Browser, Page, expect


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(folder: Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "keyfold", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


@contextmanager
def server(folder: Path, port: int) -> Iterator[str]:
    address = f"http://127.0.0.1:{port}"
    with running(folder, "serve", "--data", "foreign.db", "--port", str(port)):
        deadline = time.monotonic() + 60
        while True:
            try:
                tables(address).list_tables()
                break
            except EndpointConnectionError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield address


class SlowLine:
    """A TCP proxy in front of a server; it holds answers back while `answers` is not set."""

    def __init__(self, port: int) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self._server = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.answers.set()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._server)
            except OSError:
                return
            for given in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._pass_on, args=given, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(65_536):
                if is_answer:
                    self.answers.wait()
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


def tables(address: str):  # type: ignore[no-untyped-def]  # boto3 has no types
    return boto3.client(
        "dynamodb",
        endpoint_url=address,
        region_name="eu-west-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=5),
    )


def fill(address: str) -> None:
    """Two tables by boto3: one with two kinds of items and a numeric sort key, one empty."""
    client = tables(address)
    client.create_table(
        TableName="rides",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "who", "KeyType": "HASH"},
            {"AttributeName": "at", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "who", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
        ],
    )
    client.create_table(
        TableName="nothing",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "B"}],
    )
    for number in range(120):
        client.put_item(
            TableName="rides",
            Item={
                "who": {"S": f"rider:{number % 7}"},
                "at": {"N": str(1_700_000_000 + number)},
                "km": {"N": str(number)},
                "note": {"S": "<img src=x onerror=alert(1)>"},
            },
        )


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    expect.set_options(timeout=30_000)
    context.set_default_timeout(30_000)
    made = context.new_page()
    errors: list[str] = []
    made.on("pageerror", lambda error: errors.append(str(error)))
    yield made
    context.close()
    assert errors == []


@contextmanager
def studio(folder: Path, address: str) -> Iterator[str]:
    """The address that the studio of all tables prints."""
    with running(folder, "studio", "--backend", address, "--port", "0") as process:
        assert process.stdout is not None
        yield next(line for line in process.stdout if line.startswith("Studio:")).split()[1]


def test_tables_of_others_are_drafted_shown_and_left_alone(tmp_path: Path, page: Page) -> None:
    with server(tmp_path, free_port()) as address:
        fill(address)
        with studio(tmp_path, address) as start:
            base = start.partition("/?token=")[0]

            # Every table is there, drafted from its items, and read-only.
            page.goto(start)
            expect(page.locator("table.systems tbody tr")).to_have_count(2)
            page.click("table.systems >> text=rides")
            expect(page.locator(".where")).to_contain_text("read-only")
            expect(page.locator(".map .node").first).to_be_visible()

            # A partition with a numeric sort key, with the item beside it; markup is text.
            page.goto(f"{base}/s/rides/data?table=rides&pk=rider%3A3")
            expect(page.locator(".rows .row")).to_have_count(17)
            page.locator(".rows .row").nth(2).click()
            expect(page.locator("#detail")).to_contain_text("<img src=x onerror=alert(1)>")
            assert re.search(r"isk=17000000\d\d", page.url)

            # Nothing can be written.
            expect(page.locator("#detail >> text=Edit…")).to_have_count(0)
            page.goto(f"{base}/s/rides/streams")
            expect(page.locator("main")).to_contain_text("No copies, counters or jobs.")
            page.goto(f"{base}/s/nothing/data")
            expect(page.locator("main")).to_contain_text("No items")

            # Pages of all kinds answer, of a table with items and of an empty one.
            for name in ("map", "data", "patterns", "review", "migrations"):
                for table in ("rides", "nothing"):
                    answer = page.goto(f"{base}/s/{table}/{name}")
                    assert answer is not None
                    assert answer.status == 200, (table, name)


def test_a_slow_server_leaves_the_pages_usable_and_says_so(tmp_path: Path, page: Page) -> None:
    port = free_port()
    late = "has not answered yet"
    with server(tmp_path, port) as address, closing(SlowLine(port)) as line:
        fill(address)
        with studio(tmp_path, line.address) as start:
            base = start.partition("/?token=")[0]
            page.goto(start)
            page.goto(f"{base}/s/rides/data?table=rides&pk=rider%3A3")
            expect(page.locator(".rows .row")).to_have_count(17)

            # The detail says that it waits, and comes.
            line.answers.clear()
            page.locator(".rows .row").nth(3).click()
            expect(page.locator("#detail .banner")).to_contain_text(late)
            line.answers.set()
            expect(page.locator("#detail")).to_contain_text("onerror")

            # A page arrives in its frame before its data, and leads to pages that need none.
            line.answers.clear()
            answer = page.goto(f"{base}/s/rides/data?table=rides&pk=rider%3A4")
            assert answer is not None
            assert answer.status == 202
            expect(page.locator("main .banner")).to_contain_text(late)
            page.click(".side >> text=Map")
            expect(page.locator(".map .node").first).to_be_visible()
            page.click(".side >> text=Review")
            expect(page.locator("h1")).to_have_text("Review")

            # The list of systems is there too, and the page comes by itself.
            page.click(".brand")
            expect(page.locator("main")).to_contain_text("nothing")
            page.goto(f"{base}/s/rides/data?table=rides&pk=rider%3A5")
            expect(page.locator("main .banner")).to_contain_text(late)
            line.answers.set()
            expect(page.locator(".rows .row")).to_have_count(17)


def test_a_server_that_dies_leaves_the_design_and_comes_back(tmp_path: Path, page: Page) -> None:
    port = free_port()
    partition = "/s/rides/data?table=rides&pk=rider%3A3"
    with ExitStack() as alive:
        address = alive.enter_context(server(tmp_path, port))
        fill(address)
        with studio(tmp_path, address) as start:
            base = start.partition("/?token=")[0]
            page.goto(start)
            page.goto(base + partition)
            expect(page.locator(".rows .row")).to_have_count(17)
            alive.close()

            # Dead: what needs data says so, what does not goes on.
            page.locator(".rows .row").nth(3).click()
            expect(page.locator("#detail")).to_contain_text("The backend does not answer")
            answer = page.goto(base + partition)
            assert answer is not None
            assert answer.status == 503
            expect(page.locator(".banner.bad")).to_contain_text("The backend does not answer")
            page.click(".side >> text=Map")
            expect(page.locator(".map .node").first).to_be_visible()
            page.click(".side >> text=Review")
            expect(page.locator("h1")).to_have_text("Review")
            page.click(".brand")
            expect(page.locator("table.systems")).to_contain_text("away")

            # Back: the next page is whole again.
            with server(tmp_path, port):
                page.goto(base + partition)
                expect(page.locator(".rows .row")).to_have_count(17)
