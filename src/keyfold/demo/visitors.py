"""Who may do what in the demo: a user's name is their token, so that examples can be typed."""

from __future__ import annotations

from collections.abc import Iterable

from keyfold.api.auth import DevelopmentTokens
from keyfold.api.identity import Identity


class VisitorTokens(DevelopmentTokens):
    """Takes `Bearer ada` as ada, beside the tokens of the sign-in page."""

    def __init__(self, people: Iterable[Identity]) -> None:
        super().__init__()
        self._people = {one.id: one for one in people}

    async def identity(self, token: str) -> Identity:
        if "." in token:
            return await super().identity(token)
        return self._people.get(token) or Identity.of(token)
