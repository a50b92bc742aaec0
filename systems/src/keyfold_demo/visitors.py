"""Authorisation in the demo: a user's name is their token, so that examples can be typed."""

from __future__ import annotations

from collections.abc import Iterable

from keyfold_web.development import DevelopmentTokens
from keyfold_web.identity import Identity


class VisitorTokens(DevelopmentTokens):
    """Accepts `Bearer ada` as ada, besides the tokens that its pages get."""

    def __init__(self, people: Iterable[Identity]) -> None:
        super().__init__()
        self._people = {one.id: one for one in people}

    async def identity(self, token: str) -> Identity:
        if (known := self._people.get(token)) is not None:
            return known
        # A JWT's first part is base64 of a JSON object: "eyJ" is `{"`.
        if token.startswith("eyJ") and token.count(".") == 2:
            return await super().identity(token)
        return Identity.of(token)
