"""Finds a design by its name on the command line: a Python object or a design file."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from keyfold.design.design import Declarations
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.settings import nearest

FILES = (".yaml", ".yml")
_DOCUMENTS = (".md", ".markdown", ".json")


def load_schema(target: str) -> Schema:
    """The design that `package.module:design` or `FILE.yaml` names."""
    if target.endswith(FILES):
        from keyfold.design.file import load

        return load(target)
    module, name = _module(target)
    return _schema_of(module, name)


def load_design(target: str) -> Declarations:
    """The executable design that `package.module:design` names."""
    module, name = _module(target)
    found = getattr(module, name, None)
    if not isinstance(found, Declarations):
        raise _missing(module, name, lambda value: isinstance(value, Declarations))
    return found


def _module(target: str) -> tuple[ModuleType, str]:
    module_name, _, name = target.partition(":")
    if module_name.endswith(".py"):
        dotted = ".".join(Path(module_name).with_suffix("").parts)
        raise KeyfoldError(
            f"{target!r} is a file; name its module, as {dotted}:{name or 'design'}, from the "
            "directory where Python finds it"
        )
    document = not name and target.endswith(_DOCUMENTS)
    if document or not all(part.isidentifier() for part in module_name.split(".")):
        raise KeyfoldError(
            f"{target!r} is not a design: give package.module:design, or a file that ends in .yaml"
        )
    return _import(module_name, target), name or "design"


def _import(name: str, target: str) -> ModuleType:
    with importing(target):
        return import_module(name)


@contextmanager
def importing(target: str) -> Iterator[None]:
    """Import with the working directory on the path; errors in the file become clear messages."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        yield
    except ModuleNotFoundError as missing:
        raise KeyfoldError(f"{target!r}: unknown module {missing.name!r}") from None
    except SyntaxError as error:
        raise KeyfoldError(f"{error.filename}:{error.lineno}: {error.msg}") from None
    except KeyfoldError:
        raise
    except SystemExit as ended:
        raise KeyfoldError(
            f"{target!r} ends the program when it is imported (exit code {ended.code}); guard "
            "that with if __name__ == '__main__'"
        ) from None
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        kind = type(error).__name__
        raise KeyfoldError(f"{last.filename}:{last.lineno}: {kind}: {error}") from error


def _schema_of(module: ModuleType, name: str) -> Schema:
    found = getattr(module, name, None)
    if isinstance(found, Schema):
        return found
    schema = getattr(found, "schema", None)
    if isinstance(schema, Schema):
        return schema
    raise _missing(module, name, _is_design)


def _missing(module: ModuleType, name: str, is_design: Callable[[object], bool]) -> KeyfoldError:
    known = [word for word, value in vars(module).items() if is_design(value)]
    hint = nearest(name, known) if known else "no design is declared there"
    return KeyfoldError(f"{module.__name__} has no design {name!r}; {hint}")


def _is_design(value: object) -> bool:
    return isinstance(value, Schema) or (
        not isinstance(value, type) and isinstance(getattr(value, "schema", None), Schema)
    )
