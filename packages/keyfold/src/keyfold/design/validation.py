"""Which fields the validators of an entity depend on, beyond each field's own type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic import ValidationError as Invalid


@dataclass(frozen=True)
class Validators:
    """`whole`: a validator looks at several fields; `fields` have validators of their own."""

    whole: bool
    fields: frozenset[str]


def read_validators(model: type[BaseModel]) -> Validators:
    """The validators declared in a model, without keyfold's own."""
    declared = model.__pydantic_decorators__
    whole = any(_is_foreign(one.func) for one in declared.model_validators.values())
    fields: set[str] = set()
    for one in declared.field_validators.values():
        if not _is_foreign(one.func):
            continue
        fields |= set(model.model_fields if "*" in one.info.fields else one.info.fields)
        whole = whole or _takes_info(one.func)
    return Validators(whole, frozenset(fields))


def complaints(problem: Invalid) -> dict[str, str]:
    """The errors by field; under "" those that concern no single field."""
    found: dict[str, str] = {}
    for error in problem.errors(include_url=False):
        name = ".".join(map(str, error["loc"]))
        found[name] = f"{found[name]}; {error['msg']}" if name in found else error["msg"]
    return found


def in_one_line(found: Mapping[str, str]) -> str:
    """The errors in one line."""
    return "; ".join(f"{name}: {text}" if name else text for name, text in found.items())


def _is_foreign(function: Callable[..., Any]) -> bool:
    return not getattr(function, "__module__", "").startswith("keyfold.")


def _takes_info(function: Callable[..., Any]) -> bool:
    """Whether a field validator can see other fields."""
    taken = inspect.signature(function).parameters.values()
    return len([one for one in taken if one.default is one.empty]) > 1
