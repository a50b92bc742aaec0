"""A small service on dictionaries: clubs, their members and their posts."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, ClassVar, Literal

import httpx
import pytest
from pydantic import Field

from keyfold import errors
from keyfold.design import Page
from keyfold_web import (
    Arguments,
    Conflict,
    Identity,
    Missing,
    PageRequest,
    Payload,
    Service,
    admin,
    anyone,
    authenticated,
    itself,
    mutation,
    query,
    related,
    rule,
)
from keyfold_web.development import DevelopmentTokens
from keyfold_web.dispatch import Dispatch
from keyfold_web.rest import rest_app


class Mood(Enum):
    CALM = "calm"
    LOUD = "loud"


class Club(Payload):
    """A club."""

    __version_field__: ClassVar[str] = "version"

    club_id: str
    title: str
    owner_id: str
    mood: Mood = Mood.CALM
    created_at: datetime
    version: int = 0


class NewClub(Payload):
    title: Annotated[str, Field(min_length=1, max_length=80, examples=["Chess"])]
    mood: Mood = Mood.CALM
    tags: frozenset[str] = frozenset()


class Post(Payload):
    club_id: str
    post_id: str
    author_id: str
    text: str
    kind: Literal["note", "question"] = "note"
    millis: int = 0


class Author(Payload):
    user_id: str
    display_name: str


@dataclass
class Store:
    clubs: dict[str, Club] = field(default_factory=dict)
    members: set[tuple[str, str]] = field(default_factory=set)
    posts: dict[str, list[Post]] = field(default_factory=dict)
    answered: dict[str, Club] = field(default_factory=dict)
    author_loads: list[list[str]] = field(default_factory=list)


@rule
async def member_of_club(service: Clubs, caller: Identity, arguments: Arguments) -> bool:
    return (arguments["club_id"], caller.id) in service.store.members


@rule
async def owner_of_club(service: Clubs, caller: Identity, arguments: Arguments) -> bool:
    club = service.store.clubs.get(arguments["club_id"])
    return club is not None and club.owner_id == caller.id


class Clubs(Service):
    """Clubs, their members and what they say."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def club(self, club_id: str) -> Club:
        if club_id not in self.store.clubs:
            raise Missing("Club not found.")
        return self.store.clubs[club_id]

    @query("/clubs/{club_id}", allow=anyone, name="club")
    async def get_club(self, club_id: str) -> Club:
        """One club."""
        return self.club(club_id)

    @query("/clubs/newest", allow=anyone)
    async def newest_clubs(self, limit: int = 3, tags: list[str] | None = None) -> list[Club]:
        """The newest clubs."""
        return list(self.store.clubs.values())[: max(0, min(limit, 100))]

    @mutation(
        "/clubs",
        allow=authenticated,
        status=201,
    )
    async def create_club(
        self, input: NewClub, caller: Identity, request_id: str | None = None
    ) -> Club:
        """Create a club; you own it."""
        if request_id in self.store.answered:
            return self.store.answered[request_id]
        club_id = f"c{len(self.store.clubs)}"
        now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        club = Club(
            club_id=club_id,
            title=input.title,
            owner_id=caller.id,
            mood=input.mood,
            created_at=now,
        )
        self.store.clubs[club_id] = club
        self.store.members.add((club_id, caller.id))
        if request_id is not None:
            self.store.answered[request_id] = club
        return club

    @mutation("/clubs/{club_id}/title", allow=owner_of_club | admin, method="PUT")
    async def rename_club(
        self, club_id: str, title: str, expected_version: int | None = None
    ) -> Club:
        """Rename a club."""
        club = self.club(club_id)
        if expected_version is not None and expected_version != club.version:
            raise errors.VersionConflict(f"SECRET key CLUB#{club_id}")
        renamed = club.model_copy(update={"title": title, "version": club.version + 1})
        self.store.clubs[club_id] = renamed
        return renamed

    @mutation("/clubs/{club_id}", allow=owner_of_club & authenticated, method="DELETE")
    async def delete_club(self, club_id: str) -> None:
        """Delete a club."""
        del self.store.clubs[club_id]

    @mutation("/clubs/{club_id}/members/{user_id}", allow=itself("user_id") | admin)
    async def join_club(self, club_id: str, user_id: str) -> None:
        """Join a club."""
        self.club(club_id)
        if (club_id, user_id) in self.store.members:
            raise Conflict("You are a member already.", code="ALREADY_MEMBER")
        self.store.members.add((club_id, user_id))

    @query("/clubs/{club_id}/posts", allow=member_of_club)
    async def posts(self, club_id: str, page: PageRequest) -> Page[Post]:
        """What was said in a club."""
        start = 0
        if page.cursor is not None:
            try:
                start = int(base64.urlsafe_b64decode(page.cursor))
            except ValueError:
                raise errors.CursorRefused("SECRET") from None
        posts = self.store.posts.get(club_id, [])
        end = start + page.limit
        cursor = base64.urlsafe_b64encode(str(end).encode()).decode() if end < len(posts) else None
        return Page(posts[start:end], cursor)

    @mutation("/clubs/{club_id}/posts", allow=member_of_club, status=201)
    async def say(self, club_id: str, text: str, caller: Identity) -> Post:
        """Say something in a club."""
        posts = self.store.posts.setdefault(club_id, [])
        post = Post(
            club_id=club_id,
            post_id=f"p{len(posts)}",
            author_id=caller.id,
            text=text,
            millis=1_700_000_000_000,
        )
        posts.append(post)
        return post

    @query("/failures/{kind}", allow=admin)
    async def fail(self, kind: str) -> Club:
        """Fail in the named way."""
        if kind == "unforeseen":
            raise RuntimeError("SECRET")
        error = getattr(errors, kind)
        if kind == "UniqueTaken":
            raise errors.UniqueTaken("SECRET", field="display_name", holder={"PK": "SECRET"})
        raise error("SECRET")

    @related(Post)
    async def author(self, parents: list[Post]) -> list[Author | None]:
        """Who said it."""
        self.store.author_loads.append([post.author_id for post in parents])
        return [
            Author(user_id=post.author_id, display_name=post.author_id.title()) for post in parents
        ]


@pytest.fixture
def store() -> Store:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    club = Club(club_id="chess", title="Chess", owner_id="olga", created_at=now, version=3)
    posts = [
        Post(
            club_id="chess",
            post_id=f"p{n}",
            author_id=("olga", "mia")[n % 2],
            text=f"Move {n}",
            millis=1_700_000_000_000 + n,
        )
        for n in range(5)
    ]
    members = {("chess", "olga"), ("chess", "mia")}
    return Store({"chess": club}, members, {"chess": posts})


@pytest.fixture
def clubs(store: Store) -> Clubs:
    return Clubs(store)


@pytest.fixture
def tokens() -> DevelopmentTokens:
    return DevelopmentTokens()


@pytest.fixture
def people(tokens: DevelopmentTokens) -> dict[str, dict[str, str]]:
    """Request headers by who sends them."""
    signed_in = {"stranger": (), "mia": (), "olga": (), "root": ("admin",)}
    headers = {
        who: {"authorization": f"Bearer {tokens.issue(who, *groups)}"}
        for who, groups in signed_in.items()
    }
    return {"anonymous": {}, **headers}


@pytest.fixture
async def rest(clubs: Clubs, tokens: DevelopmentTokens) -> AsyncIterator[httpx.AsyncClient]:
    app = rest_app(Dispatch(clubs), tokens)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
