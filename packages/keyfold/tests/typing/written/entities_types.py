"""Written by `keyfold types`; do not edit. The types are in the .pyi file next to it."""


def __getattr__(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    found = globals()[name] = type(name, (), {"__module__": __name__, "__slots__": ()})
    return found
