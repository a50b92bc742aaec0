"""Who is calling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ADMIN_GROUP = "admin"


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller: the subject of a verified token and its groups; no id means no token."""

    id: str
    groups: frozenset[str] = frozenset()
    claims: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    is_admin: bool = False

    @classmethod
    def of(cls, id: str, *groups: str, name: str = "") -> Identity:
        """An identity like that of a token with these groups."""
        claims = {"name": name} if name else {}
        return cls(id, frozenset(groups), claims, is_admin=ADMIN_GROUP in groups)

    @classmethod
    def from_claims(cls, claims: Mapping[str, Any], *, admin_group: str = ADMIN_GROUP) -> Identity:
        """The identity from verified claims, including Cognito's group claim."""
        groups = frozenset(_texts(claims.get("groups")) | _texts(claims.get("cognito:groups")))
        return cls(str(claims["sub"]), groups, dict(claims), is_admin=admin_group in groups)

    @property
    def name(self) -> str:
        """The name from the token, or the id."""
        name = self.claims.get("name")
        return name if isinstance(name, str) and name else self.id

    @property
    def email(self) -> str | None:
        """The address from the token, unless its issuer says that it is not verified."""
        email = self.claims.get("email")
        # API Gateway passes claims as text.
        unverified = self.claims.get("email_verified") in (False, "false")
        return email if isinstance(email, str) and not unverified else None

    @property
    def is_anonymous(self) -> bool:
        return not self.id


ANONYMOUS = Identity("")
"""The identity of a caller without a token."""


def _texts(value: object) -> set[str]:
    if isinstance(value, str):
        # API Gateway flattens list claims into "[a b]".
        return set(value.strip("[]").replace(",", " ").split())
    if isinstance(value, Iterable):
        return {str(one) for one in value}
    return set()
