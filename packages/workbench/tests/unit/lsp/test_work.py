"""What a look costs: nothing is run that nobody waits for any more."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp

from keyfold_workbench.lsp.analysis import TextProblem, analyse_file
from keyfold_workbench.lsp.module import ModuleProcess

from .test_server import FILE, MODULE, Editor, editor

__all__ = ["editor"]

NOTED = 'from pathlib import Path\nwith Path(__file__ + ".runs").open("a") as noted:\n'
COUNTED = f"{NOTED}    noted.write('x')\n{MODULE}"


def runs(path: Path) -> str:
    return Path(f"{path}.runs").read_text()


async def test_a_save_of_what_was_looked_at_runs_nothing(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "notes_design.py"
    assert await editor.open(path, COUNTED) == []
    document = lsp.TextDocumentIdentifier(path.as_uri())
    editor.text_document_did_save(lsp.DidSaveTextDocumentParams(document))
    editor.type(COUNTED + "\n")
    assert await editor.diagnostics() == []
    assert runs(path) == "xx"


async def test_texts_that_are_overtaken_are_not_run(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "notes_design.py"
    assert await editor.open(path, COUNTED) == []
    for number in range(100):
        editor.type(f"{COUNTED}# {number}\n")
    assert await editor.diagnostics() == []
    assert len(runs(path)) <= 10


async def test_a_slow_module_is_ended_when_somebody_types_on(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "notes_design.py"
    begun, ended = (f"{NOTED}    noted.write('{word}')\n" for word in ("begun", "ended"))
    editor.begin(path, f"{begun}import time\ntime.sleep(8)\n{ended}{MODULE}")
    for _ in range(1_000):
        if Path(f"{path}.runs").exists():
            break
        await editor.settle()
    editor.type(MODULE)
    assert await editor.diagnostics() == []
    assert runs(path) == "begun"


async def test_a_saved_file_renews_what_is_said_of_the_texts_that_import_it(
    editor: Editor, tmp_path: Path
) -> None:
    tables = tmp_path / "tables.py"
    tables.write_text(
        "from keyfold import Design\ndesign = Design('d')\ntable = design.table('T')\n"
    )
    using = MODULE.replace('design = Design("notes")', "from tables import design, table")
    using = using.replace('table = design.table("Notes")\n', "")
    assert await editor.open(tmp_path / "notes_design.py", using) == []
    tables.write_text("from keyfold import Design\ndesign = Design('d')\n")
    document = lsp.TextDocumentIdentifier(tables.as_uri())
    editor.text_document_did_save(lsp.DidSaveTextDocumentParams(document))
    (wrong,) = await editor.diagnostics()
    assert "table" in wrong.message


async def test_docstrings_of_fields_are_those_of_the_editor(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "notes_design.py"
    path.write_text(MODULE)
    told = MODULE.replace("    text: str\n", '    text: str\n    """What it says."""\n')
    holds = 'assert Note.model_fields["text"].description == "What it says."\n'
    assert await editor.open(path, told + holds) == []


def test_problems_are_told_before_the_names_are_explained() -> None:
    told: list[tuple[TextProblem, ...]] = []
    found = analyse_file(FILE, "design.yaml", told.append)
    assert told == [found.problems]
    assert found.symbols


def test_problems_of_a_module_are_told_before_its_names_are_explained(tmp_path: Path) -> None:
    modules = ModuleProcess()
    told: list[tuple[TextProblem, ...]] = []
    try:
        found = modules.analyse(MODULE, str(tmp_path / "notes_design.py"), told.append)
    finally:
        modules.close()
    assert told == [found.problems]
    assert found.symbols
