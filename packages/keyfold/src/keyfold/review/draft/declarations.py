"""Loads an executable design: declared in Python, or built from a design file."""

from __future__ import annotations

import sys
from types import ModuleType

from keyfold.design.design import Declarations
from keyfold.design.schema import Schema
from keyfold.design.target import FILES, load_design, load_schema
from keyfold.errors import DeclarationError, KeyfoldError
from keyfold.review.draft.python import declaration
from keyfold.runtime import Design


def design_of(target: str) -> Declarations:
    """The design that `package.module:design` or `FILE.yaml` names, ready to decode items."""
    if not target.endswith(FILES):
        return load_design(target)
    return declarations_of(load_schema(target), target)


def running_design(target: str) -> Design:
    """The same, ready to be opened on a backend."""
    found = design_of(target)
    if not isinstance(found, Design):
        raise KeyfoldError(f"{target} cannot be opened: it is declared with keyfold.design alone")
    return found


def declarations_of(schema: Schema, source: str) -> Declarations:
    """The declarations that `keyfold new` would write, built in memory."""
    text, _ = declaration(schema)
    module = ModuleType("keyfold_adopted_design")
    # Pydantic looks up types in the module's namespace.
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, source, "exec"), module.__dict__)
    except DeclarationError as error:
        raise KeyfoldError(f"{source} cannot be declared: {error}") from None
    finally:
        del sys.modules[module.__name__]
    made: Declarations = module.__dict__["design"]
    made.complete()
    return made
