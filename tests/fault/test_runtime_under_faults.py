"""Every fault of the engine against the runtime: random histories end as a plain model says."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest
from tests.fault.troubles import LOST, REFUSALS, Trouble, in_every_trouble, insistently

from keyfold import Counter, Db, Design, Entity, Id, Key, Ref, Unique, add
from keyfold.errors import AlreadyExists, NotFound, UniqueTaken
from keyfold.maintain.verify import verify
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine

HISTORIES = int(os.environ.get("FAULT_HISTORIES", "2"))
STEPS = 40
design = Design("faulty")
table = design.table("Faulty")


class Room(Entity, table=table):
    room_id: Id
    posts: Annotated[int, Counter("Post")] = 0
    key = Key("ROOM#{room_id}", "ROOM")


class Post(Entity, table=table):
    room_id: Id
    post_id: Id
    slug: str
    likes: int = 0
    key = Key("ROOM#{room_id}", "POST#{post_id}")
    one_slug = Unique("slug")


class Note(Entity, table=table):
    note_id: Id
    text: str
    key = Key("NOTE#{note_id}", "NOTE")


ROOMS, POSTS, SLUGS, NOTES = ("a", "b"), ("1", "2", "3"), ("x", "y", "z"), "0123456789"
POST_REFS = [Post.key(room_id=room, post_id=post) for room in ROOMS for post in POSTS]
NOTE_REFS = [Note.key(note_id=note) for note in NOTES]


class World:
    """A database that fails now and then, and what it has to hold."""

    def __init__(self, db: Db, chance: random.Random) -> None:
        self.db, self.chance = db, chance
        self.posts: dict[int, Post] = {}
        self.notes: dict[str, Note] = {}

    def step(self) -> None:
        self.chance.choice(
            (self.create, self.create, self.like, self.rename, self.delete, self.put_notes)
        )()
        self.read()

    def create(self) -> None:
        at = self._place()
        room, post = divmod(at, len(POSTS))
        new = Post(room_id=ROOMS[room], post_id=POSTS[post], slug=self.chance.choice(SLUGS))
        if at in self.posts:
            self._refused(AlreadyExists, lambda: self.db.create(new))
        elif self._is_taken(new.slug):
            self._refused(UniqueTaken, lambda: self.db.create(new))
        else:
            self._done(at, new, lambda: self.db.create(new))

    def like(self) -> None:
        at = self._place()
        if at not in self.posts:
            self._refused(NotFound, lambda: self.db.update(POST_REFS[at], likes=add(1)))
            return
        liked = self.posts[at].model_copy(update={"likes": self.posts[at].likes + 1})
        self._done(at, liked, lambda: self.db.update(POST_REFS[at], likes=add(1)))

    def rename(self) -> None:
        at, slug = self._place(), self.chance.choice(SLUGS)
        if at not in self.posts or self.posts[at].slug == slug:
            return
        if self._is_taken(slug):
            self._refused(UniqueTaken, lambda: self.db.update(POST_REFS[at], slug=slug))
            return
        renamed = self.posts[at].model_copy(update={"slug": slug})
        self._done(at, renamed, lambda: self.db.update(POST_REFS[at], slug=slug))

    def delete(self) -> None:
        at = self._place()
        self._done(at, None, lambda: self.db.delete(POST_REFS[at]))

    def put_notes(self) -> None:
        text = str(self.chance.random())
        chosen = [Note(note_id=one, text=text) for one in self.chance.sample(NOTES, 5)]
        # A put can be repeated: whatever the first one left, the last one is what counts.
        insistently(lambda: self.db.put_many(chosen))
        self.notes |= {note.note_id: note for note in chosen}

    def read(self) -> None:
        refs = self.chance.sample(NOTE_REFS, 6)
        notes = insistently(lambda: self.db.get_many(refs))
        assert notes == [self.notes.get(NOTES[NOTE_REFS.index(ref)]) for ref in refs]
        at = self._place()
        assert self._found(POST_REFS[at]) == self.posts.get(at)

    def _place(self) -> int:
        return self.chance.randrange(len(POST_REFS))

    def _is_taken(self, slug: str) -> bool:
        return any(post.slug == slug for post in self.posts.values())

    def _found(self, ref: Ref[Post]) -> Post | None:
        return insistently(lambda: self.db.find(ref))

    def _refused(self, refusal: type[Exception], work: Callable[[], object]) -> None:
        with pytest.raises(refusal):
            insistently(work)

    def _done(self, at: int, after: Post | None, work: Callable[[], object]) -> None:
        """Work until it is done once; after a timeout only a read can tell whether it was."""
        before = self.posts.get(at)
        done = False
        while not done:
            try:
                insistently(work, REFUSALS)
                done = True
            except LOST:
                found = self._found(POST_REFS[at])
                assert found in (before, after)
                done = found == after
        if after is None:
            self.posts.pop(at, None)
        else:
            self.posts[at] = after


@in_every_trouble
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_under_faults_ends_right(trouble: Trouble, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "faulty.db"
    with Engine.open(path, durability="memory") as engine:
        db = design.open(EmbeddedClient(engine))
        db.create_tables()
        for name in ROOMS:
            db.create(Room(room_id=name))
    with trouble.client(path, seed) as client:
        world = World(design.open(client, create_tables=False), random.Random(seed))
        for _ in range(STEPS):
            world.step()
    with Engine.open(path) as engine:
        db = design.open(EmbeddedClient(engine))
        assert db.get_many(POST_REFS) == [world.posts.get(at) for at in range(len(POST_REFS))]
        for room in db.get_many([Room.key(room_id=name) for name in ROOMS]):
            assert room is not None
            held = [post for post in world.posts.values() if post.room_id == room.room_id]
            assert room.posts == len(held)
        assert verify(db).drifts == []
