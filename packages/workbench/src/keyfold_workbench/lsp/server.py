"""The language server: diagnostics, hovers, definitions, completion, fixes, lenses."""

from __future__ import annotations

import asyncio
import logging
import re
from importlib import metadata
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path
from pygls.workspace import TextDocument

from keyfold.design.source import Place
from keyfold.review.check import RULES
from keyfold.review.check.report import PAGES
from keyfold_workbench.lsp.analysis import (
    Analysis,
    Symbol,
    Tell,
    TextProblem,
    analyse_document,
    analyse_file,
)
from keyfold_workbench.lsp.edits import fixed_texts, name_at, renamed_text, silenced_text
from keyfold_workbench.lsp.module import ModuleProcess

logger = logging.getLogger(__name__)

SECONDS_AFTER_THE_LAST_KEY = 0.05
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
    "question": lsp.DiagnosticSeverity.Hint,
}
_KINDS = {
    "entity": lsp.CompletionItemKind.Class,
    "pattern": lsp.CompletionItemKind.Function,
    "index": lsp.CompletionItemKind.Property,
    "table": lsp.CompletionItemKind.Module,
}
_SYMBOLS = {
    "entity": lsp.SymbolKind.Class,
    "pattern": lsp.SymbolKind.Function,
    "index": lsp.SymbolKind.Property,
    "table": lsp.SymbolKind.Module,
}
_DESIGN = re.compile(r"^design\s*:", re.M)
_WORD = re.compile(r"\w+")
_IN_SLOT = re.compile(r"[<{]\w*$")
_IN_CODE = re.compile(r"(?:silence|select|ignore)\b[^\n]*$")


class DesignServer(LanguageServer):
    """Keeps the last analysis of each text, and the last valid one."""

    def __init__(self) -> None:
        super().__init__("keyfold", metadata.version("keyfold"))
        self.current: dict[str, Analysis] = {}
        self.readable: dict[str, Analysis] = {}
        self.modules = ModuleProcess()
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()
        self._looked: dict[str, str] = {}
        """The texts as they were looked at last."""

    def saved(self, uri: str) -> None:
        """A shared file was saved: analyse the texts that may depend on it again."""
        for other, document in self.workspace.text_documents.items():
            if other != uri or self._looked.get(uri) != document.source:
                self.changed(other)

    def changed(self, uri: str) -> None:
        """Analyse a text once typing pauses."""
        if (before := self._waiting.get(uri)) is not None:
            before.cancel()
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._look(uri))

    async def _look(self, uri: str) -> None:
        await asyncio.sleep(SECONDS_AFTER_THE_LAST_KEY)
        # One analysis at a time: a text that changed before its turn is skipped.
        async with self._turn:
            document = self.workspace.get_text_document(uri)
            version, text = document.version, document.source
            loop, told = asyncio.get_running_loop(), False

            def publish(problems: tuple[TextProblem, ...]) -> None:
                nonlocal told
                if document.version == version and not told:
                    told = True
                    self._publish(document, problems)

            def tell(problems: tuple[TextProblem, ...]) -> None:
                loop.call_soon_threadsafe(publish, problems)

            work = loop.create_task(asyncio.to_thread(self.analyse, text, document.path, tell))
            try:
                found = await asyncio.shield(work)
            except asyncio.CancelledError:
                self.modules.interrupt()
                await asyncio.wait({work})
                raise
            except Exception as error:
                logger.exception("cannot analyse %s", document.path)
                words = f"keyfold cannot analyse this: {type(error).__name__}: {error}"
                found = Analysis((TextProblem(Place(document.path, 1), "error", "", words),))
            self._looked[uri] = text
            self.current[uri] = found
            if found.symbols:
                self.readable[uri] = found
            publish(found.problems)

    def _publish(self, document: TextDocument, problems: tuple[TextProblem, ...]) -> None:
        ours = [one for one in problems if _is_of(one.place, document.path)]
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(
                document.uri,
                [_diagnostic(one, document) for one in ours],
                version=document.version,
            )
        )

    def analyse(self, text: str, path: str, tell: Tell = lambda _: None) -> Analysis:
        """The analysis of a design file, a design document or a Python module."""
        if path.endswith(".md"):
            return analyse_document(text, path)
        if path.endswith((".yaml", ".yml")):
            return analyse_file(text, path, tell) if _DESIGN.search(text) else Analysis()
        return self.modules.analyse(text, path, tell) if path.endswith(".py") else Analysis()

    async def analysis_of(self, uri: str) -> Analysis:
        """The last valid analysis; waits for the first one."""
        if uri not in self.readable:
            await self.settle(uri)
        return self.readable.get(uri, Analysis())

    async def settle(self, uri: str) -> None:
        """Wait until a text has been analysed as it is: problems are published before that."""
        while (task := self._waiting.get(uri)) is not None and not task.done():
            await asyncio.wait({task})


def create_server() -> DesignServer:
    """A server with all that it offers."""
    server = DesignServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(given: lsp.DidOpenTextDocumentParams) -> None:
        server.changed(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def typed(given: lsp.DidChangeTextDocumentParams) -> None:
        server.changed(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(given: lsp.DidSaveTextDocumentParams) -> None:
        server.saved(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(given: lsp.HoverParams) -> lsp.Hover | None:
        symbol = await _symbol_at(server, given.text_document.uri, given.position)
        if symbol is not None:
            return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, symbol.hover))
        known = await server.analysis_of(given.text_document.uri)
        found = _name_at(server, given.text_document.uri, given.position, known)
        if found is None:
            return None
        name = found[1]
        kind = known.fields.get(name)
        says = known.prefixes.get(name) or (f"`{name}`: {kind}" if kind else "")
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, says)) if says else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(given: lsp.DefinitionParams) -> lsp.Location | None:
        symbol = await _symbol_at(server, given.text_document.uri, given.position)
        if symbol is None or not symbol.place.file:
            return None
        uri = from_fs_path(str(Path(symbol.place.file).absolute()))
        return lsp.Location(uri, _range(symbol.place)) if uri else None

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=["<", "{", ":", " "]),
    )
    async def complete(given: lsp.CompletionParams) -> lsp.CompletionList:
        document = server.workspace.get_text_document(given.text_document.uri)
        line = document.lines[given.position.line] if document.lines else ""
        typed = line[: given.position.character]
        return lsp.CompletionList(
            is_incomplete=False,
            items=completions(typed, await server.analysis_of(given.text_document.uri)),
        )

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    async def actions(given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = given.text_document.uri
        await server.settle(uri)
        document = server.workspace.get_text_document(uri)
        here = range(given.range.start.line, given.range.end.line + 1)
        return [
            action
            for one in server.current.get(uri, Analysis()).problems
            if one.place.line - 1 in here and _is_of(one.place, document.path)
            for action in _quick_fixes(one, document, server.current[uri])
        ]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(given: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = server.workspace.get_text_document(given.text_document.uri)
        known = await server.analysis_of(given.text_document.uri)
        return [
            lsp.DocumentSymbol(one.name, _SYMBOLS[one.kind], at, at, detail=one.kind)
            for one in known.symbols
            if _is_of(one.place, document.path)
            for at in [_range(one.place)]
        ]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(given: lsp.PrepareRenameParams) -> lsp.Range | None:
        if not _is_file(given.text_document.uri):
            return None
        found = _name_at(
            server,
            given.text_document.uri,
            given.position,
            await server.analysis_of(given.text_document.uri),
        )
        if found is None:
            return None
        line, (start, name) = given.position.line, found
        return lsp.Range(lsp.Position(line, start), lsp.Position(line, start + len(name)))

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(given: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = given.text_document.uri
        found = (
            _name_at(server, uri, given.position, await server.analysis_of(uri))
            if _is_file(uri)
            else None
        )
        if found is None:
            return None
        document = server.workspace.get_text_document(uri)
        return _rewrite(document, renamed_text(document.source, found[1], given.new_name))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(given: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        document = server.workspace.get_text_document(given.text_document.uri)
        known = await server.analysis_of(given.text_document.uri)
        return [
            lsp.CodeLens(_range(one.place), lsp.Command(one.lens, ""))
            for one in known.symbols
            if one.lens and _is_of(one.place, document.path)
        ]

    return server


def completions(typed: str, known: Analysis) -> list[lsp.CompletionItem]:
    """The completions for a partial line."""
    if _IN_SLOT.search(typed):
        return [
            lsp.CompletionItem(name, kind=lsp.CompletionItemKind.Field, detail=kind)
            for name, kind in sorted(known.fields.items())
        ]
    if _IN_CODE.search(typed):
        return [
            lsp.CompletionItem(code, kind=lsp.CompletionItemKind.Constant, detail=rule.title)
            for code, rule in RULES.items()
        ]
    wanted = "index" if re.search(r'(?:index:\s*|On\(\s*")\w*$', typed) else ""
    return [
        lsp.CompletionItem(one.name, kind=_KINDS[one.kind], documentation=one.hover)
        for one in known.symbols
        if one.kind == (wanted or one.kind)
    ]


async def _symbol_at(server: DesignServer, uri: str, position: lsp.Position) -> Symbol | None:
    """The symbol under the cursor; pattern names may have several words."""
    document = server.workspace.get_text_document(uri)
    known = await server.analysis_of(uri)
    if position.line >= len(document.lines):
        return None
    line = document.lines[position.line]
    under = [one for one in known.symbols if _covers(line, one.name, position.character)]
    return max(under, key=lambda one: len(one.name), default=None)


def _covers(line: str, name: str, character: int) -> bool:
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return any(found.start() <= character <= found.end() for found in re.finditer(pattern, line))


def _quick_fixes(
    problem: TextProblem, document: TextDocument, known: Analysis
) -> list[lsp.CodeAction]:
    ours = [(place, fix) for place, fix in problem.fixes if _is_of(place, document.path)]
    offered = list(fixed_texts(problem, document.source, ours))
    if _is_file(document.uri) and problem.severity != "error":
        silenced = silenced_text(problem, document.source, known)
        offered += [] if silenced is None else [(f"Keep {problem.code}, with a reason", silenced)]
    return [
        lsp.CodeAction(title, kind=lsp.CodeActionKind.QuickFix, edit=_rewrite(document, text))
        for title, text in offered
    ]


def _rewrite(document: TextDocument, text: str) -> lsp.WorkspaceEdit:
    end = lsp.Position(len(document.lines) + 1, 0)
    whole = lsp.Range(lsp.Position(0, 0), end)
    return lsp.WorkspaceEdit(changes={document.uri: [lsp.TextEdit(whole, text)]})


def _name_at(
    server: DesignServer, uri: str, position: lsp.Position, known: Analysis
) -> tuple[int, str] | None:
    text = server.workspace.get_text_document(uri).source
    return name_at(text, position.line, position.character, known)


def _is_file(uri: str) -> bool:
    """Whether it is a design file; names of Python are renamed by its own server."""
    return uri.endswith((".yaml", ".yml"))


def _diagnostic(problem: TextProblem, document: TextDocument) -> lsp.Diagnostic:
    line = min(max(problem.place.line - 1, 0), max(len(document.lines) - 1, 0))
    text = document.lines[line].rstrip("\n") if document.lines else ""
    start = problem.place.column - 1 if problem.place.column else len(text) - len(text.lstrip())
    start = min(start, len(text))
    word = _WORD.match(text, start)
    end = word.end() if word else max(len(text), start)
    return lsp.Diagnostic(
        lsp.Range(lsp.Position(line, start), lsp.Position(line, end)),
        problem.message,
        severity=_SEVERITIES.get(problem.severity, lsp.DiagnosticSeverity.Warning),
        code=problem.code or None,
        code_description=(
            lsp.CodeDescription(f"{PAGES}/{problem.code}.md") if problem.code in RULES else None
        ),
        source="keyfold",
    )


def _range(place: Place) -> lsp.Range:
    at = lsp.Position(max(place.line - 1, 0), max(place.column - 1, 0))
    return lsp.Range(at, at)


def _is_of(place: Place, path: str) -> bool:
    return not place.file or Path(place.file).absolute() == Path(path).absolute()
