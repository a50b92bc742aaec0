"""Finding a service by its name on the command line."""

from __future__ import annotations

from importlib import import_module

from keyfold.design.target import importing
from keyfold.errors import KeyfoldError
from keyfold_web.service import Service


def load_service(target: str) -> type[Service]:
    """The service class that `module` or `module:Class` names; imports from the working
    directory too.
    """
    module_name, _, class_name = target.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise KeyfoldError(
            f"{target!r} is not a service: give package.module or package.module:Class"
        )
    with importing(target):
        module = import_module(module_name)
    found = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Service) and value is not Service
    }
    if class_name:
        if class_name not in found:
            raise KeyfoldError(f"{module_name} has no service {class_name!r}; {_listing(found)}")
        return found[class_name]
    own = [value for value in found.values() if value.__module__ == module.__name__]
    if len(own) != 1:
        raise KeyfoldError(f"{target!r} must name one service; {_listing(found)}")
    return own[0]


def _listing(found: dict[str, type[Service]]) -> str:
    return f"it has {', '.join(sorted(found))}" if found else "it has none"
