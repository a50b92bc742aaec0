"""A server that lacks what a design needs is refused before the first write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Annotated

import pytest

from keyfold import Counter, Design, Entity, Id, Key
from keyfold.errors import Unreachable, Unsupported
from keyfold_engine.engine import Engine

clubs = Design("clubs")
table = clubs.table("Clubs", ttl="expires_at")


class Club(Entity, table=table):
    club_id: Id
    members: Annotated[int, Counter("Member")] = 0
    visits: Annotated[int, Counter("Visit", sync="stream")] = 0
    key = Key("CLUB#{club_id}", "CLUB")


class Member(Entity, table=table):
    club_id: Id
    member_id: Id
    key = Key("CLUB#{club_id}", "MEMBER#{member_id}")


class Visit(Entity, table=table):
    club_id: Id
    visit_id: Id
    key = Key("CLUB#{club_id}", "VISIT#{visit_id}")


notes = Design("notes")


class Note(Entity, table=notes.table("Notes")):
    note_id: Id
    key = Key("NOTE#{note_id}", "NOTE")


@contextmanager
def server(*unknown: str) -> Iterator[tuple[str, list[str]]]:
    """A server with all operations but some, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            asked.append(operation)
            status, answer = 200, b"{}"
            if operation in unknown:
                status, answer = 400, b'{"__type": "x#UnknownOperationException"}'
            elif operation in ("TransactWriteItems", "DescribeTimeToLive"):
                status, answer = 400, b'{"__type": "x#ValidationException", "message": "no"}'
            else:
                answer = engine.call_bytes(operation, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    with Engine.open(":memory:") as engine, ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}", asked
        http.shutdown()


def test_a_server_with_everything_is_asked_three_questions_and_changes_nothing() -> None:
    with server() as (url, asked):
        clubs.open(url).close()
        assert asked == ["TransactWriteItems", "ListStreams", "DescribeTimeToLive"]


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        ("TransactWriteItems", "has no transactions .*, which counter Club.members needs"),
        ("ListStreams", "has no streams .*, which counter Club.visits needs"),
        ("DescribeTimeToLive", "has no time to live .*, which Clubs needs"),
    ],
)
async def test_what_it_lacks_is_refused_with_what_needs_it(operation: str, says: str) -> None:
    with server(operation) as (url, asked):
        with pytest.raises(Unsupported, match=says):
            clubs.open(url, create_tables=True)
        with pytest.raises(Unsupported, match=says):
            await clubs.open_async(url, create_tables=True)
        assert "CreateTable" not in asked


def test_a_design_that_needs_none_of_it_asks_nothing() -> None:
    with server("TransactWriteItems", "ListStreams", "DescribeTimeToLive") as (url, asked):
        notes.open(url).close()
        assert asked == []


def test_a_server_that_does_not_answer_is_not_judged() -> None:
    with clubs.open("http://127.0.0.1:9") as db, pytest.raises(Unreachable):
        db.get(Club.key(club_id="a"))
