"""Python declarations, analysed as they are typed.

A module is imported in a process that is forked for it, from one that has keyfold loaded:
half-written code is run once, in nobody's way, and what it declares is gone with its process.
"""

from __future__ import annotations

import ast
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

from keyfold.design.design import Declarations
from keyfold.design.source import Place
from keyfold.errors import DeclarationError, KeyfoldError
from keyfold.lsp.analysis import Analysis, TextProblem, analyse, declaration_problem

PATIENCE_SECONDS = 10.0
_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload(["keyfold", "keyfold.lsp.module", "keyfold.review.cost"])


def analyse_module(text: str, path: str) -> Analysis:
    """The analysis of a module's text, as it stands in the editor."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        column = getattr(error, "offset", None) or 0
        place = Place(path, line, column)
        return Analysis((TextProblem(place, "error", "", getattr(error, "msg", str(error))),))
    if "keyfold" not in text:
        return Analysis()
    ours, theirs = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_work, args=(theirs, text, path), daemon=True)
    process.start()
    theirs.close()
    try:
        if ours.poll(PATIENCE_SECONDS):
            found: Analysis = ours.recv()
            return found
        words = f"importing this takes more than {PATIENCE_SECONDS:g} seconds"
    except EOFError:
        words = "importing this ends the program"
    finally:
        process.kill()
        process.join()
        ours.close()
    return Analysis((TextProblem(Place(path, 1), "warning", "", words),))


def _work(answer: Connection, text: str, path: str) -> None:
    # What a module prints must not come between the messages to the editor.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    answer.send(_imported(text, path))
    answer.close()


def _imported(text: str, path: str) -> Analysis:
    root, name = _module_name(Path(path))
    sys.path.insert(0, str(root))
    sys.meta_path.insert(0, _EditorText(name, path, text))
    try:
        __import__(name)
    except DeclarationError as error:
        return Analysis((declaration_problem(error, path),))
    except BaseException as error:
        return Analysis((_raised(error, path),))
    design = next(
        (v for v in vars(sys.modules[name]).values() if isinstance(v, Declarations)), None
    )
    if design is None:
        return Analysis()
    try:
        return analyse(design.schema)
    except DeclarationError as error:
        return Analysis((declaration_problem(error, path),))
    except KeyfoldError as error:
        return Analysis((TextProblem(Place(path, 1), "error", "", str(error)),))


def _raised(error: BaseException, path: str) -> TextProblem:
    """What was raised, at the line of this file that it went through last."""
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return TextProblem(Place(path, line), "error", "", f"{type(error).__name__}: {error}")


def _module_name(path: Path) -> tuple[Path, str]:
    """The folder that Python finds the module from, and its name there."""
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if parts[-1] == "__init__":
        parts.pop()
    return folder, ".".join(parts)


class _EditorText(MetaPathFinder, Loader):
    """Gives one module the text of the editor instead of its file's."""

    def __init__(self, name: str, path: str, text: str) -> None:
        self._name, self._path, self._text = name, path, text

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != self._name:
            return None
        is_package = Path(self._path).name == "__init__.py"
        spec = spec_from_loader(name, self, origin=self._path, is_package=is_package)
        if spec is not None:
            spec.has_location = True
            if is_package:
                spec.submodule_search_locations = [str(Path(self._path).parent)]
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._text, self._path, "exec"), vars(module))
