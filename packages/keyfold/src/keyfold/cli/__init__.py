"""The `keyfold` command: the modules of this package, and what other distributions bring."""

from __future__ import annotations

from keyfold_engine.commands import Program

GROUPS: dict[str, tuple[str, ...]] = {
    "Run": ("demo", "serve", "api", "client", "studio"),
    "Design": ("new", "import", "inspect", "adopt", "check", "rule", "docs", "types"),
    "Editors": ("lsp", "schema", "mcp"),
    "Advice": ("workload", "cost", "simulate", "advise", "export"),
    "Data": ("migrations", "backup", "doctor", "dump", "load", "sample"),
    "Upkeep": ("streams", "deadletter", "verify", "repair", "rebuild"),
    "About": ("guide", "settings", "completion", "bench"),
}

PROGRAM = Program(
    "keyfold", "Your DynamoDB design document, running.", (__name__, "keyfold_engine.commands"), GROUPS,
    "keyfold.commands",
)
main = PROGRAM.main
command_names = PROGRAM.command_names
command = PROGRAM.command
command_parser = PROGRAM.command_parser
