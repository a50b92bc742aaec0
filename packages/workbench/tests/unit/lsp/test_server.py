"""`keyfold lsp`, as an editor uses it: a real client over stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

FILE = """\
design: rooms
tables:
  rooms:
    key: [PK, SK]
    indexes:
      ByStatus: {key: [GSI1PK, GSI1SK]}
entities:
  Room:
    key: {PK: ROOM#<roomId>, SK: ROOM}
    attributes: {roomId: id, name: string}
  Listing:
    key: {PK: ROOM#<roomId>, SK: LISTING#<listingId>}
    indexes:
      ByStatus: {GSI1PK: ROOM#<roomId>, GSI1SK: PRICE#<price>}
    attributes: {roomId: id -> Room, listingId: id, price: number}
patterns:
  Room by id: {get: Room, where: "PK=ROOM#<roomId>, SK=ROOM"}
  Listings by price: {query: Listing, index: ByStatus, where: GSI1PK=ROOM#<roomId>, limit: 20}
"""
MODULE = """\
from keyfold import Design, Entity, Key, Query

print("nothing of this may reach the editor")
design = Design("notes")
table = design.table("Notes")


class Note(Entity, table=table):
    owner_id: str
    note_id: str
    text: str
    key = Key("OWNER#{owner_id}", "NOTE#{note_id}")


@design.pattern(requests=1)
def notes_of(owner_id: str) -> Query[Note]:
    return Note.key.query(owner_id=owner_id).limit(20)
"""


class Editor(LanguageClient):
    """Opens, types and looks at what comes back."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.said: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def published(given: lsp.PublishDiagnosticsParams) -> None:
            self.said.put_nowait(given)

    async def open(self, path: Path, text: str) -> list[lsp.Diagnostic]:
        self.begin(path, text)
        return await self.diagnostics()

    async def settle(self) -> None:
        """Let the server work for a moment."""
        await asyncio.sleep(0.05)

    def begin(self, path: Path, text: str) -> None:
        self._uri, self._version = path.as_uri(), 1
        language = "yaml" if path.suffix == ".yaml" else "python"
        item = lsp.TextDocumentItem(self._uri, language, 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def type(self, text: str) -> None:
        self._version += 1
        self.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self._version, self._uri),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        """What is said of the newest version."""
        while True:
            said = await asyncio.wait_for(self.said.get(), 60)
            if said.version == self._version:
                return list(said.diagnostics)

    def at(self, text: str, words: str) -> dict[str, Any]:
        line = next(n for n, one in enumerate(text.splitlines()) if words in one)
        character = text.splitlines()[line].index(words) + len(words)
        return {
            "text_document": lsp.TextDocumentIdentifier(self._uri),
            "position": lsp.Position(line, character),
        }


@pytest.fixture
async def editor() -> AsyncIterator[Editor]:
    client = Editor()
    await client.start_io(sys.executable, "-m", "keyfold", "lsp", "--stdio")
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    yield client
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]


def sent(**message: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_a_proper_shutdown_ends_with_code_zero_and_says_nothing() -> None:
    begin: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
    done = subprocess.run(
        [sys.executable, "-m", "keyfold", "lsp"],
        input=sent(id=1, method="initialize", params=begin)
        + sent(method="initialized", params={})
        + sent(id=2, method="shutdown")
        + sent(method="exit"),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")


@pytest.mark.parametrize(
    ("name", "text", "words", "said"),
    [
        ("design.yaml", FILE, "query: Listing", "LISTING#{listingId}"),
        ("notes_design.py", MODULE, "Query[Note", "OWNER#{owner_id}"),
    ],
)
async def test_who_asks_before_a_text_is_analysed_is_answered_then(
    editor: Editor, tmp_path: Path, name: str, text: str, words: str, said: str
) -> None:
    editor.begin(tmp_path / name, text)
    hover = await editor.text_document_hover_async(lsp.HoverParams(**editor.at(text, words)))
    assert hover
    assert said in hover.contents.value  # type: ignore[union-attr]


async def test_a_design_file_is_reviewed_explained_completed_and_fixed(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "design.yaml"
    (tmp_path / "workload.yaml").write_text("patterns: {Room by id: {rate: 3}}")
    found = {one.code: one for one in await editor.open(path, FILE)}
    unpadded = found["K8"]
    assert unpadded.range.start.line == 13
    assert unpadded.severity == lsp.DiagnosticSeverity.Warning

    hover = await editor.text_document_hover_async(
        lsp.HoverParams(**editor.at(FILE, "query: Listing"))
    )
    assert hover
    assert "LISTING#{listingId}" in hover.contents.value  # type: ignore[union-attr]
    target = await editor.text_document_definition_async(
        lsp.DefinitionParams(**editor.at(FILE, "id -> Room"))
    )
    assert isinstance(target, lsp.Location)
    assert target.range.start.line == 7
    slots = await editor.text_document_completion_async(
        lsp.CompletionParams(**editor.at(FILE, "PRICE#<"))
    )
    assert {"price", "roomId"} <= {one.label for one in slots.items}  # type: ignore[union-attr]
    indexes = await editor.text_document_completion_async(
        lsp.CompletionParams(**editor.at(FILE, "index: By"))
    )
    assert [one.label for one in indexes.items] == ["ByStatus"]  # type: ignore[union-attr]
    document = lsp.TextDocumentIdentifier(path.as_uri())
    lenses = await editor.text_document_code_lens_async(lsp.CodeLensParams(document))
    assert lenses
    told = [one.command.title for one in lenses if one.command]
    assert any("units" in one for one in told)
    assert any("a month at 3 a second" in one for one in told)

    actions = await editor.text_document_code_action_async(
        lsp.CodeActionParams(document, unpadded.range, lsp.CodeActionContext([unpadded]))
    )
    assert actions
    edit = actions[0].edit  # type: ignore[union-attr]
    assert edit
    assert edit.changes
    (change,) = edit.changes[path.as_uri()]
    editor.type(change.new_text)
    assert "K8" not in {one.code for one in await editor.diagnostics()}


async def test_a_python_declaration_is_reviewed_as_it_stands_in_the_editor(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "notes_design.py"
    assert await editor.open(path, MODULE) == []
    editor.type(MODULE.replace('"NOTE#{note_id}"', '"NOTE#{noteid}"'))
    (wrong,) = await editor.diagnostics()
    assert "noteid" in wrong.message
    assert wrong.range.start.line == 11
    editor.type(MODULE + "class Broken(")
    (broken,) = await editor.diagnostics()
    assert broken.range.start.line == 17
    editor.type(MODULE + "raise SystemExit(3)\n")
    (ended,) = await editor.diagnostics()
    assert "SystemExit" in ended.message
    editor.type(MODULE)
    assert await editor.diagnostics() == []
    hover = await editor.text_document_hover_async(
        lsp.HoverParams(**editor.at(MODULE, "def notes_of"))
    )
    assert hover
    assert "OWNER#{owner_id}" in hover.contents.value  # type: ignore[union-attr]
    assert not path.exists()


async def test_typing_character_by_character_ends_with_the_last_text(
    editor: Editor, tmp_path: Path
) -> None:
    await editor.open(tmp_path / "design.yaml", "design: x\n")
    for end in range(len(FILE) - 200, len(FILE) + 1):
        editor.type(FILE[:end])
    assert "K8" in {one.code for one in await editor.diagnostics()}


async def changed_text(editor: Editor, path: Path, edit: lsp.WorkspaceEdit | None) -> str:
    assert edit
    assert edit.changes
    (change,) = edit.changes[path.as_uri()]
    return change.new_text


async def test_a_finding_is_kept_with_a_reason_and_leads_to_the_page_of_its_rule(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "design.yaml"
    found = {one.code: one for one in await editor.open(path, FILE)}
    unpadded = found["K8"]
    assert unpadded.code_description
    assert unpadded.code_description.href.endswith("/K8.md")
    document = lsp.TextDocumentIdentifier(path.as_uri())
    actions = await editor.text_document_code_action_async(
        lsp.CodeActionParams(document, unpadded.range, lsp.CodeActionContext([unpadded]))
    )
    assert actions
    (keep,) = [one for one in actions if one.title == "Keep K8, with a reason"]
    text = await changed_text(editor, path, keep.edit)  # type: ignore[union-attr]
    assert "silence: [{code: K8, reason: say why it stays}]" in text
    editor.type(text)
    assert "K8" not in {one.code for one in await editor.diagnostics()}


async def test_what_was_meant_is_offered(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "design.yaml"
    wrong = FILE.replace("attributes: {roomId: id, name", "atributes: {roomId: id, name")
    (said,) = await editor.open(path, wrong)
    document = lsp.TextDocumentIdentifier(path.as_uri())
    actions = await editor.text_document_code_action_async(
        lsp.CodeActionParams(document, said.range, lsp.CodeActionContext([said]))
    )
    assert actions
    assert actions[0].title == "Change to attributes"
    edit = actions[0].edit  # type: ignore[union-attr]
    assert await changed_text(editor, path, edit) == FILE


async def test_names_are_listed_renamed_and_prefixes_of_keys_explained(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "design.yaml"
    await editor.open(path, FILE)
    document = lsp.TextDocumentIdentifier(path.as_uri())
    listed = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert {"Room", "Listing", "ByStatus", "Room by id"} <= {one.name for one in listed or ()}

    async def renamed(words: str, new: str) -> str:
        at = editor.at(FILE, words)
        edit = await editor.text_document_rename_async(lsp.RenameParams(**at, new_name=new))
        return await changed_text(editor, path, edit)

    entity = await renamed("id -> Room", "House")
    assert "  House:" in entity
    assert "id -> House" in entity
    assert "{get: House" in entity
    assert "ROOM#<roomId>" in entity, "neither its prefix nor its id"
    field = await renamed("ROOM#<roomId", "houseId")
    assert "roomId" not in field
    assert field.count("houseId") == FILE.count("roomId")
    prefix = await renamed("{PK: ROOM", "HOUSE#")
    assert prefix.count("HOUSE#") == FILE.count("ROOM#")
    hover = await editor.text_document_hover_async(lsp.HoverParams(**editor.at(FILE, "{PK: ROOM")))
    assert hover
    says = hover.contents.value  # type: ignore[union-attr]
    assert "Listing: partition key of rooms" in says
    assert "read by Room by id" in says
