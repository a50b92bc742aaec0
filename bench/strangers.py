"""Peers that live in environments of their own: `python bench/strangers.py KIND URL`.

For each number that is read, an item is got or updated so often, and the seconds of processor time
are written. It is run by the peer's interpreter, so it imports nothing of keyfold.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, cast

KEY = {"PK": "THING#t1", "SK": "THING"}
TITLES = map("title {}".format, count())
TEXTS = ("thingId", "ownerId", "title", "text", "status", "place", "createdAt", "updatedAt")


def pydynox_client(url: str) -> Callable[[int], None]:
    client = _pydynox(url)
    return _repeated(lambda: client.sync_get_item("typed", KEY))


def pydynox_client_async(url: str) -> Callable[[int], None]:
    client = _pydynox(url)
    return _repeated_async(lambda: client.get_item("typed", KEY))


def pydynox_model(url: str) -> Callable[[int], None]:
    thing = _pydynox_thing(url)
    return _repeated(lambda: thing.sync_get(**KEY))


def pydynox_model_update(url: str) -> Callable[[int], None]:
    thing = _pydynox_thing(url)
    return _repeated(lambda: thing.sync_update_by_key(**KEY, title=next(TITLES)))


def _pydynox_thing(url: str) -> Any:
    from pydynox import Model, ModelConfig
    from pydynox.attributes import (
        BooleanAttribute,
        NumberAttribute,
        StringAttribute,
        StringSetAttribute,
    )

    fields: dict[str, Any] = {name: StringAttribute() for name in TEXTS}
    fields |= {"count": NumberAttribute(), "likes": NumberAttribute(), "live": BooleanAttribute()}
    fields |= {"PK": StringAttribute(partition_key=True), "SK": StringAttribute(sort_key=True)}
    config = ModelConfig(table="typed", client=_pydynox(url), consistent_read=True)
    body = {**fields, "tags": StringSetAttribute(), "model_config": config}
    return type("Thing", (Model,), body)


def dyntastic_model(url: str) -> Callable[[int], None]:
    thing = _dyntastic_thing(url)
    return _repeated(lambda: thing.get(KEY["PK"], range_key=KEY["SK"], consistent_read=True))


def dyntastic_model_update(url: str) -> Callable[[int], None]:
    from dyntastic import A

    thing = _dyntastic_thing(url)
    found, title = thing.get(KEY["PK"], range_key=KEY["SK"]), cast("Any", A).title

    def update() -> None:
        found.update(title.set(next(TITLES)), refresh=False)
        found.ignore_unrefreshed()

    return _repeated(update)


def _dyntastic_thing(url: str) -> Any:
    from dyntastic import Dyntastic

    class Thing(Dyntastic):
        __table_name__ = "typed"
        __table_host__ = url
        __table_region__ = "us-east-1"
        __hash_key__ = "PK"
        __range_key__ = "SK"

        PK: str
        SK: str
        thingId: str
        ownerId: str
        title: str
        text: str
        status: str
        place: str
        createdAt: str
        updatedAt: str
        count: int
        likes: int
        live: bool
        tags: set[str]

    return Thing


def _pydynox(url: str) -> Any:
    from pydynox import DynamoDBClient

    return DynamoDBClient(
        region="us-east-1", access_key="keyfold", secret_key="keyfold", endpoint_url=url
    )


def _repeated(get: Callable[[], object]) -> Callable[[int], None]:
    def several(count: int) -> None:
        for _ in range(count):
            get()

    return several


def _repeated_async(get: Callable[[], Awaitable[object]]) -> Callable[[int], None]:
    loop = asyncio.new_event_loop()

    async def several(count: int) -> None:
        for _ in range(count):
            assert await get() is not None

    return lambda count: loop.run_until_complete(several(count))


KINDS = {
    made.__name__: made
    for made in (
        pydynox_client,
        pydynox_client_async,
        pydynox_model,
        pydynox_model_update,
        dyntastic_model,
        dyntastic_model_update,
    )
}


def main() -> None:
    several = KINDS[sys.argv[1]](sys.argv[2])
    several(1)
    print("ready", flush=True)
    for line in sys.stdin:
        before = time.process_time()
        several(int(line))
        print(time.process_time() - before, flush=True)


if __name__ == "__main__":
    main()
