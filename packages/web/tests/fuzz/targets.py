"""What strangers can send, each as a function of bytes that answers or refuses as documented.

Whatever else a target raises is a finding: `python -m tests.fuzz` looks for inputs that do it, and
`test_corpus.py` replays those that were found, with those that reach far into the code.
"""

from __future__ import annotations

import asyncio
import re
import socket
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import orjson

from keyfold.design.file import loads
from keyfold.errors import CursorRefused, InternalFailure, KeyfoldError, OperationError
from keyfold.runtime.cursor import CursorKey, unseal
from keyfold_engine.clients.signer import Credentials
from keyfold_engine.clock import ManualClock, SystemClock
from keyfold_engine.engine import Engine
from keyfold_engine.expressions import keys, parser
from keyfold_engine.features.transfer import exports
from keyfold_engine.wire import BackgroundServer
from keyfold_engine.wire.settings import ServerSettings
from keyfold_engine.wire.sigv4 import SignatureVerifier
from keyfold_web.development import DevelopmentTokens
from keyfold_web.problems import NotAuthenticated

Target = Callable[[bytes], object]

KEY: Final = CursorKey((b"k" * 32,), SystemClock())
ACCESS: Final = [Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")]
MOMENT: Final = 1_700_000_000.0
TABLE: Final = {
    "TableName": "tab",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "g", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}
ITEM: Final = {
    "pk": {"S": "p"},
    "sk": {"N": "1"},
    "g": {"S": "g"},
    "m": {"M": {"l": {"L": [{"N": "1"}, {"NULL": True}]}, "s": {"SS": ["a", "b"]}}},
}
_CHANGES_TABLES: Final = re.compile("(Create|Update|Delete|Restore|Import).*")
_CHANGES_ITEMS: Final = frozenset({"UpdateItem", "DeleteItem"})


def expression(data: bytes) -> None:
    """The first letter says which kind of expression follows."""
    kind, text = data[:1], data[1:].decode(errors="replace")
    try:
        if kind == b"u":
            parser.update(text)
        elif kind == b"p":
            parser.projection(text)
        elif kind == b"k":
            keys.KeyCondition(parser.condition(text, "KeyConditionExpression")).terms({})
        else:
            parser.condition(text)
    except KeyfoldError:
        return


def partiql(data: bytes) -> None:
    """A statement; its parameters follow a line `--`."""
    statement, _, rest = data.partition(b"\n--\n")
    request: dict[str, object] = {"Statement": statement.decode(errors="replace")}
    if rest:
        request["Parameters"] = _json_or(rest, [])
    _asked("ExecuteStatement", orjson.dumps(request))


def wire(data: bytes) -> None:
    """An operation's name on a line, then a request body."""
    operation, _, body = data.partition(b"\n")
    _asked(operation.decode(errors="replace"), body)


def http(data: bytes) -> None:
    """All that a client sends on one connection."""
    with socket.create_connection(("127.0.0.1", _server().port), timeout=20) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:
            # The server need not hear abuse to its end.
            return
    assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:100]
    assert b"HTTP/1.1 5" not in answer, answer[:300]


def cursor(data: bytes) -> None:
    """A page's cursor, a statement's token, a shard's iterator."""
    text = data.decode(errors="replace")
    try:
        unseal(KEY, "scope", text)
    except CursorRefused:
        pass
    else:
        raise AssertionError("a cursor that nobody sealed was opened")
    _asked(
        "ExecuteStatement",
        orjson.dumps({"Statement": "SELECT * FROM tab", "NextToken": text or "-"}),
    )
    _asked("GetRecords", orjson.dumps({"ShardIterator": text or "-"}))


def token(data: bytes) -> None:
    """A bearer token."""
    try:
        asyncio.run(_tokens().identity(data.decode(errors="replace")))
    except NotAuthenticated:
        return
    raise AssertionError("a token that nobody issued was believed")


def design(data: bytes) -> None:
    """A design file."""
    try:
        loads(data.decode(errors="replace"), file="fuzz.yaml")
    except KeyfoldError as refused:
        if str(refused):
            return
        raise AssertionError("refused without a reason") from refused


def signature(data: bytes) -> None:
    """A request to verify: the URL, then headers, a line each."""
    url, *lines = data.split(b"\n")
    headers = {name.lower(): value for name, _, value in (line.partition(b":") for line in lines)}
    try:
        SignatureVerifier(ACCESS, "us-east-1", ManualClock(MOMENT)).verify(
            "POST", url, headers, b"{}"
        )
    except OperationError:
        return
    raise AssertionError("a signature that nobody made was believed")


def export(data: bytes) -> None:
    """A file of an export; the first byte says whether items, gzipped items or a manifest."""
    with tempfile.TemporaryDirectory() as folder:
        names = {b"z": "data/items.json.gz", b"m": exports.FILES}
        path = Path(folder) / names.get(data[:1], "data/items.json")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data[1:])
        try:
            for _ in exports.read(Path(folder)):
                pass
        except KeyfoldError:
            return


TARGETS: Final[dict[str, Target]] = {
    each.__name__: each
    for each in (expression, partiql, wire, http, cursor, token, design, signature, export)
}


def _asked(operation: str, body: bytes) -> None:
    engine = _engine()
    try:
        engine.call_bytes(operation, body)
    except InternalFailure:
        raise
    except OperationError:
        return
    finally:
        if _CHANGES_TABLES.match(operation) and operation not in _CHANGES_ITEMS:
            # Tables may have come or gone; the next input finds what this one found.
            engine.close()
            _engine.cache_clear()


@cache
def _engine() -> Engine:
    return _filled()


def _filled() -> Engine:
    engine = Engine.open(clock=ManualClock(MOMENT))
    engine.call("CreateTable", TABLE)
    engine.call("PutItem", {"TableName": "tab", "Item": ITEM})
    return engine


@cache
def _server() -> BackgroundServer:
    server = BackgroundServer(_filled(), ServerSettings(port=0))
    return server.__enter__()


@cache
def _tokens() -> DevelopmentTokens:
    return DevelopmentTokens("secret-of-at-least-thirty-two-bytes!")


def _json_or(text: bytes, otherwise: object) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return otherwise
