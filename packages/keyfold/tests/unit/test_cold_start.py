"""What a first query of a small program imports: nothing that its design does not declare."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from keyfold import Design, Entity, Key

design = Design("small")
table = design.table("notes")

class Note(Entity, table=table):
    note_id: str
    key = Key("NOTE#{note_id}", "NOTE")

db = design.open(":memory:")
db.create(Note(note_id="n"))
assert [note.note_id for note in db.read(Note.key.query(note_id="n"))] == ["n"]
print(*sys.modules)
"""
MOST_OF_OURS = 220
"""Modules: may only fall."""


def test_a_first_query_imports_no_event_loop_and_no_structure() -> None:
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert not loaded & {"asyncio", "ssl", "http.client", "yaml", "sqlite3", "keyfold.maintain"}
    ours = [name for name in loaded if name.partition(".")[0] in ("keyfold", "keyfold_engine")]
    assert len(ours) <= MOST_OF_OURS
