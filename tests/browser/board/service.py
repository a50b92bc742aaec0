"""A board that neighbours write notes on: the smallest service with a page for people."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from keyfold import Design, Entity, Key, Timestamp, new_ulid
from keyfold.streams import Change
from keyfold_web import (
    Identity,
    Payload,
    Service,
    anyone,
    authenticated,
    mutation,
    query,
    subscription,
)

design = Design("board")
table = design.table("Board", stream="NEW_AND_OLD_IMAGES")


class Note(Entity, table=table):
    """A note on a board."""

    board_id: str
    note_id: str
    author: str
    text: str
    thanks: int = 0
    key = Key("BOARD#{board_id}", "NOTE#{note_id}")


class NewNote(Payload):
    """What one writes."""

    text: Annotated[str, Field(min_length=3, max_length=140)]
    until: Timestamp | None = None


class NoteChange(Payload):
    """A note that is new or different, or the id of one that is gone."""

    note_id: str
    note: Note | None


class Board(Service):
    """Notes among neighbours."""

    design: ClassVar[Design] = design

    @query("/boards/{board_id}/notes", allow=anyone)
    async def notes(self, board_id: str) -> list[Note]:
        """What stands on a board."""
        return (await self.db.read(Note.key.query(board_id=board_id).descending().limit(50))).items

    @mutation("/boards/{board_id}/notes", allow=authenticated, status=201)
    async def write(self, board_id: str, input: NewNote, caller: Identity) -> Note:
        """Write a note."""
        note = Note(board_id=board_id, note_id=new_ulid(), author=caller.id, text=input.text)
        return await self.db.create(note)

    @mutation("/boards/{board_id}/notes/{note_id}", method="DELETE", allow=authenticated)
    async def take_down(self, board_id: str, note_id: str) -> None:
        """Take a note down."""
        await self.db.delete(Note.key(board_id=board_id, note_id=note_id))

    @subscription(Note, allow=anyone)
    async def note_changed(self, change: Change[Note], board_id: str) -> NoteChange:
        """What changes on a board."""
        note = change.new or change.old
        assert note is not None
        return NoteChange(note_id=note.note_id, note=change.new)
