"""Requests that are sent twice: the same id gives the same answer and has one effect.

Each step is sent with an Idempotency-Key, sent again, and sent once more with other input under the
same key. `{name}` in a path or a body is what an earlier step kept of its answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
from tests.systems.conftest import Recorder, Web


@dataclass(frozen=True)
class Step:
    """One mutation as it is sent, what differs in the refused one, what is kept of the answer."""

    operation: str
    who: str
    method: str
    path: str
    body: Any = None
    other: Any = None
    """Another body, or another path where there is no body."""
    keep: str = ""


async def check_repeats(web: Web, client: Recorder, steps: list[Step]) -> None:
    kept: dict[str, str] = {}
    for number, step in enumerate(steps):
        headers = {"idempotency-key": f"step-{number}"}

        async def send(path: str, body: Any, step: Step = step, headers: Any = headers) -> Any:
            sent = {} if body is None else {"json": filled(body, kept)}
            place = filled(path, kept)
            return await web[step.who].request(step.method, place, headers=headers, **sent)

        first = await send(step.path, step.body)
        assert first.is_success, (step, first.text)
        after = await stored(client)
        again = await send(step.path, step.body)
        assert shown(again) == shown(first), step
        assert await stored(client) == after, step
        in_path = step.body is None
        reused = await send(step.other if in_path else step.path, None if in_path else step.other)
        assert (reused.status_code, reused.json()["code"]) == (422, "REQUEST_REUSED"), step
        assert await stored(client) == after, step
        if step.keep:
            kept[step.keep] = first.json()[step.keep]


async def stored(client: Recorder) -> list[dict[str, Any]]:
    """The system's items, without the notes of what was done."""
    return [one for one in await client.items() if not one["PK"]["S"].startswith("ONCE#")]


def shown(answer: httpx.Response) -> tuple[int, Any, str | None]:
    body = _settled(answer.json()) if answer.content else None
    return answer.status_code, body, answer.headers.get("etag")


def _settled(value: Any) -> Any:
    """Sets are lists in JSON, and have no order."""
    if isinstance(value, dict):
        return {name: _settled(one) for name, one in value.items()}
    return sorted(map(str, value)) if isinstance(value, list) else value


def filled(given: Any, kept: dict[str, str]) -> Any:
    if isinstance(given, dict):
        return {name: filled(value, kept) for name, value in given.items()}
    if isinstance(given, list):
        return [filled(one, kept) for one in given]
    return given.format(**kept) if isinstance(given, str) else given
