"""The plugin's fixtures in a project of somebody else."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

INI = "[pytest]\nasyncio_default_fixture_loop_scope = function\npythonpath = .\n"
DESIGN = """
from keyfold import Design, Entity, Id, Index, Key, On
design = Design("notes")
class Note(Entity, table=design.table("notes", indexes=[Index("GSI1", "GSI1PK")])):
    note_id: Id
    key = Key("NOTE#{note_id}", "NOTE")
    all_notes = On("GSI1", "NOTES")
"""
TESTS = """
import pytest
from keyfold.errors import Throttled
from notes_of_a_project import Note

def test_it_is_the_design_of_the_project(keyfold_db, keyfold_sandbox, sandbox):
    keyfold_db.create(Note(note_id="1"))
    assert sandbox is keyfold_sandbox
    assert len(keyfold_sandbox.items("notes")) == 1
    before = keyfold_db.context.now()
    keyfold_sandbox.clock.advance(60)
    assert (keyfold_db.context.now() - before).total_seconds() == 60

@pytest.mark.sandbox(index_lag="held")
def test_an_index_lags(keyfold_db):
    keyfold_db.create(Note(note_id="1"))
    assert keyfold_db.read(Note.all_notes.query()).items == []

@pytest.mark.sandbox(throttle=1.0)
def test_faults(keyfold_db):
    with pytest.raises(Throttled):
        keyfold_db.create(Note(note_id="1"))
"""


def test_a_project_names_its_design_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(notes_of_a_project=DESIGN, test_notes=TESTS)
    pytester.makeini(f"{INI}keyfold_design = notes_of_a_project:design\n")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_a_fixture_of_the_project_gives_the_design(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        other_notes=DESIGN, test_notes=TESTS.replace("notes_of_a_project", "other_notes")
    )
    pytester.makeini(INI)
    pytester.makeconftest(
        "import pytest\nfrom other_notes import design\n"
        "@pytest.fixture\ndef keyfold_design():\n    return design\n"
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=3)


def test_without_a_design_it_says_what_to_do(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(keyfold_db): pass")
    pytester.makeini(INI)
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    ran.stdout.fnmatch_lines(["*keyfold_db needs a design: set keyfold_design*"])
