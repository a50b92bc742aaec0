"""The `keyfold` command: the modules of this package, and what other distributions bring."""

from __future__ import annotations

from keyfold import __version__
from keyfold_engine.commands import Program

GROUPS: dict[str, tuple[str, ...]] = {
    "Run": ("demo", "serve", "api", "studio"),
    "Design": ("new", "import", "inspect", "adopt", "check", "rule", "docs", "types"),
    "Editors": ("lsp", "mcp"),
    "Advice": ("workload", "cost", "simulate", "advise", "export"),
    "Data": ("migrations", "backup", "doctor", "dump", "load", "sample"),
    "Upkeep": ("streams", "verify", "repair", "rebuild"),
    "About": ("guide",),
}

PARTS: dict[str, list[str]] = {
    "web": ["api"],
    "workbench": [
        "adopt",
        "advise",
        "cost",
        "export",
        "import",
        "inspect",
        "lsp",
        "mcp",
        "sample",
        "simulate",
        "studio",
        "workload",
    ],
}
"""Commands that other distributions bring, by the extra of keyfold that installs them."""


def _need(name: str) -> str:
    """What to do about a command of a part that is not installed."""
    from shlex import quote

    from keyfold.hooks import clone, installation

    if name == "demo":
        if (source := clone()) is None:
            return "runs in a clone of keyfold; run `make run` there"
        where = quote(str(source))
        return f"needs the systems, which pip does not install; run: make -C {where} run"
    for extra, names in PARTS.items():
        if name in names:
            return f"needs keyfold-{extra}; run: {installation(f'keyfold-{extra}')}"
    return ""


PROGRAM = Program(
    "keyfold",
    "Your DynamoDB design document, running.",
    __version__,
    (__name__, "keyfold_engine.commands"),
    GROUPS,
    others="keyfold.commands",
    need=_need,
)
main = PROGRAM.main
command_names = PROGRAM.command_names
command = PROGRAM.command
command_parser = PROGRAM.command_parser
