"""What a server must be able to do for a design, asked before the first write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

from keyfold.design.design import Declarations
from keyfold.errors import OperationError, TransportError, Unsupported
from keyfold.runtime.flow import Call, Flow
from keyfold_engine.clients.address import Remote, parse
from keyfold_engine.clients.request import ClientOptions
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.errors import UnknownOperation

ONCE = ClientOptions(retries=RetryPolicy(attempts=1), connect_seconds=1.0, answer_seconds=3.0)
"""A server that does not answer now is not waited for."""


class Need(NamedTuple):
    """A request that changes nothing, and what a server lacks that does not know its operation."""

    operation: str
    request: dict[str, Any]
    lacks: str
    needed_by: str


def needs(design: Declarations) -> Iterator[Need]:
    """What a design needs of its server that not every server has."""
    schema = design.schema
    together = [one.name for one in schema.follows if one.sync == "transaction"]
    later = [one.name for one in schema.follows if one.sync == "stream"]
    streams = [name for name, table in design.tables.items() if table.schema.stream is not None]
    expiring = [name for name, table in design.tables.items() if table.schema.ttl is not None]
    near = [name for name, table in design.tables.items() if table.schema.vectors]
    if together:
        yield Need("TransactWriteItems", {"TransactItems": []}, "transactions", together[0])
    if later or streams:
        yield Need("ListStreams", {"Limit": 1}, "streams", (later or streams)[0])
    if expiring:
        of = {"TableName": expiring[0]}
        yield Need("DescribeTimeToLive", of, "time to live", expiring[0])
    if near:
        yield Need("SearchVectors", {"TableName": near[0]}, "vector search", near[0])


def refuse_lacking(design: Declarations, server: str) -> Flow[None]:
    """Refuse a server that lacks what the design needs.

    A server that does not answer is not judged: the first request to it says so.
    """
    for need in needs(design):
        try:
            yield Call(need.operation, need.request)
        except UnknownOperation:
            raise Unsupported(
                f"{server} has no {need.lacks} ({need.operation}), which "
                f"{need.needed_by} needs; open the design on a server that has it"
            ) from None
        except OperationError:
            continue
        except TransportError:
            return


def is_asked(backend: object) -> TypeGuard[str]:
    """Amazon and the embedded engine have everything; a boto3 client's endpoint is its owner's."""
    if not isinstance(backend, str):
        return False
    address = parse(backend)
    return isinstance(address, Remote) and not address.is_amazon
