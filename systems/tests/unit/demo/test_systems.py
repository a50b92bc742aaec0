"""Which systems the demo finds, and how their data gets into the file."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from keyfold.errors import KeyfoldError
from keyfold_demo.data import fill, incomplete_systems, open_data
from keyfold_demo.systems import System, find_systems
from keyfold_engine.clients.embedded import AsyncEmbeddedClient

DESIGN = """
from keyfold.design import Entity, Id, Key
from keyfold.runtime import Design

design = Design("notes")
table = design.table("Notes")


class Note(Entity, table=table):
    note_id: Id
    text: str
    key = Key("NOTE#{note_id}", "NOTE")
"""
SERVICE = """
from keyfold_web import Service


class Notes(Service):
    def __init__(self, db):
        self.db = db


def service(db):
    return Notes(db)
"""
DEMO = """
from .design import Note

USERS = [("ada", "Ada", ["admin"])]
TRY = "/notes"
calls = []


async def fill(db):
    calls.append(len(calls))
    for number in range(3):
        await db.create(Note(note_id=str(number), text="hello"))
        if calls == [0]:
            raise RuntimeError("cut off")
    return 3
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of systems: one complete, one with only a design."""
    folder = tmp_path / "sample_systems"
    for name in ("notes", "drafts"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text('"""Notes, kept.\n\nMore."""\n')
        (folder / name / "design.py").write_text(DESIGN)
    (folder / "__init__.py").touch()
    (folder / "notes" / "service.py").write_text(SERVICE)
    (folder / "notes" / "demo.py").write_text(DEMO)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.startswith("sample_systems")]:
        del sys.modules[name]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AsyncEmbeddedClient]:
    client = AsyncEmbeddedClient(open_data(tmp_path / "data" / "demo.db"))
    yield client
    await client.close()


def the_system() -> System:
    (system,) = find_systems("sample_systems")
    return system


def test_a_package_with_service_and_demo_is_a_system(package: Path) -> None:
    system = the_system()
    assert (system.name, system.title) == ("notes", "Notes, kept")
    assert [(one.id, one.is_admin) for one in system.users] == [("ada", True)]


def test_a_demo_without_its_parts_is_explained(package: Path) -> None:
    demo = package / "notes" / "demo.py"
    demo.write_text(DEMO.replace("USERS", "USER"))
    with pytest.raises(KeyfoldError, match=r"sample_systems\.notes has no USERS"):
        find_systems("sample_systems")


async def test_a_system_is_filled_once_and_again_only_after_a_cut(
    package: Path, client: AsyncEmbeddedClient
) -> None:
    system = the_system()
    assert await incomplete_systems(client, [system]) == [system]
    with pytest.raises(RuntimeError, match="cut off"):
        await fill(client, system)
    assert await incomplete_systems(client, [system]) == [system]
    assert await fill(client, system) == 3
    assert await incomplete_systems(client, [system]) == []
    assert (await client.call("Scan", {"TableName": "Notes"}))["Count"] == 3
