"""The demo's event sink: keeps the newest domain events and shows them on a page."""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.streams import Event
from keyfold_web import pages

KEPT: Final = 500
PATH: Final = "/events"


class Journal:
    """A sink in memory."""

    name = "journal"

    def __init__(self) -> None:
        self._newest: deque[Event] = deque(maxlen=KEPT)
        self._counts: Counter[tuple[str, str]] = Counter()

    def deliver(self, context: Context, event: Event) -> Flow[None]:  # noqa: ARG002
        self._newest.appendleft(event)
        self._counts[event.source, event.name] += 1
        return
        yield

    def routes(self) -> list[Route]:
        """The page and its JSON; `?source=inviter` selects one system."""
        return [Route(PATH, self._page), Route(f"{PATH}.json", self._list)]

    async def _page(self, _request: Request) -> Response:
        return HTMLResponse(pages.events())

    async def _list(self, request: Request) -> Response:
        source = request.query_params.get("source", "")
        newest = [one for one in self._newest if source in ("", one.source)]
        body = {
            "taken": sum(self._counts.values()),
            "counts": [
                {"source": of, "name": name, "count": count}
                for (of, name), count in sorted(self._counts.items())
            ],
            "events": [orjson.Fragment(one.body()) for one in newest[:100]],
        }
        return Response(orjson.dumps(body), media_type="application/json")
