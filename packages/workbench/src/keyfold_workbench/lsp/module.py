"""Analyses Python declarations while they are typed.

A module is imported in a process forked for it from one that has keyfold loaded. Half-written code
runs in isolation, and its declarations end with the process.
"""

from __future__ import annotations

import ast
import gc
import linecache
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from keyfold.design.design import Declarations
from keyfold.design.entity import Entity
from keyfold.design.source import Place
from keyfold.errors import DeclarationError, KeyfoldError
from keyfold_workbench.lsp.analysis import Analysis, Tell, TextProblem, analyse, declaration_problem

PATIENCE_SECONDS = 10
_TEXT_BYTES = struct.Struct(">Q")


class ModuleProcess:
    """The process that has keyfold loaded and forks one per module."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._busy = False

    def analyse(self, text: str, path: str, tell: Tell = lambda _: None) -> Analysis:
        """The analysis of a module's text in the editor; problems are reported first."""
        try:
            ast.parse(text)
        except (SyntaxError, ValueError) as error:
            place = Place(path, getattr(error, "lineno", 0) or 1, getattr(error, "offset", 0) or 0)
            return Analysis((TextProblem(place, "error", "", getattr(error, "msg", str(error))),))
        if "keyfold" not in text:
            return Analysis()
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                command = [sys.executable, "-m", __name__]
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            assert self._process.stdin
            assert self._process.stdout
            self._busy = True
            try:
                _send(self._process.stdin, (text, path))
                while not isinstance(found := _receive(self._process.stdout), Analysis):
                    tell(found)
            finally:
                self._busy = False
            return found

    def interrupt(self) -> None:
        """Cancel the analysis in progress, because the text has changed."""
        if self._busy and self._process is not None:
            self._process.send_signal(signal.SIGUSR1)

    def close(self) -> None:
        if self._process is not None:
            with self._process:
                self._process.kill()


def answer_requests() -> None:
    """Analyse one module after another, each in a forked process."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # Output or input of a module must not mix with the messages.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    child = 0

    def end(*_: object) -> None:
        if child:
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGUSR1, end)
    gc.freeze()
    while True:
        try:
            text, path = _receive(requests)
        except EOFError:
            return
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGUSR1, signal.SIG_DFL)
            signal.alarm(PATIENCE_SECONDS)
            gc.disable()  # Nothing in a process this short-lived is worth collecting.
            with os.fdopen(writing, "wb") as told:
                _send(told, _import(text, path, partial(_send, told)))
            os._exit(0)
        os.close(writing)
        try:
            with os.fdopen(reading, "rb") as answer:
                while not isinstance(found := _receive(answer), Analysis):
                    _send(answers, found)
        except EOFError:
            words = (
                "importing this module ends the process, or takes more than "
                f"{PATIENCE_SECONDS} seconds"
            )
            found = Analysis((TextProblem(Place(path, 1), "warning", "", words),))
        ended, child = child, 0
        os.waitpid(ended, 0)
        _send(answers, found)


def _send(to: IO[bytes], value: object) -> None:
    data = pickle.dumps(value)
    to.write(_TEXT_BYTES.pack(len(data)) + data)
    to.flush()


def _receive(source: IO[bytes]) -> Any:
    head = source.read(_TEXT_BYTES.size)
    if len(head) < _TEXT_BYTES.size:
        raise EOFError
    data = source.read(*_TEXT_BYTES.unpack(head))
    return pickle.loads(data)


def _import(text: str, path: str, tell: Tell) -> Analysis:
    root, name = _module_name(Path(path))
    sys.path.insert(0, str(root))
    sys.meta_path.insert(0, _EditorText(name, path, text))
    try:
        __import__(name)
    except DeclarationError as error:
        return Analysis((declaration_problem(error, path),))
    except BaseException as error:
        return Analysis((_problem_of(error, path),))
    design = next(
        (v for v in vars(sys.modules[name]).values() if isinstance(v, Declarations)), None
    )
    if design is None:
        return Analysis()
    try:
        return analyse(design.schema, path, tell)
    except DeclarationError as error:
        return Analysis((declaration_problem(error, path),))
    except KeyfoldError as error:
        return Analysis((TextProblem(Place(path, 1), "error", "", str(error)),))


def _problem_of(error: BaseException, path: str) -> TextProblem:
    """The exception as a problem, at the last line of this file in its traceback."""
    line, trace = 1, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return TextProblem(Place(path, line), "error", "", f"{type(error).__name__}: {error}")


def _module_name(path: Path) -> tuple[Path, str]:
    """The directory that Python imports the module from, and its name there."""
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if parts[-1] == "__init__":
        parts.pop()
    return folder, ".".join(parts)


class _EditorText(MetaPathFinder, Loader):
    """Serves the editor's text of one module in place of its file."""

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
        tree = ast.parse(self._text)
        # Pydantic looks for field docstrings in the class source, slowly if there are none.
        Entity.model_config["use_attribute_docstrings"] = _tells_of_fields(tree)
        lines = self._text.splitlines(keepends=True)
        linecache.cache[self._path] = (len(self._text), None, lines, self._path)
        exec(compile(tree, self._path, "exec"), vars(module))


def _tells_of_fields(tree: ast.Module) -> bool:
    """Whether a field of a class has a docstring."""
    return any(
        isinstance(field, ast.AnnAssign)
        and isinstance(told, ast.Expr)
        and isinstance(told.value, ast.Constant)
        for one in ast.walk(tree)
        if isinstance(one, ast.ClassDef)
        for field, told in pairwise(one.body)
    )


if __name__ == "__main__":
    answer_requests()
