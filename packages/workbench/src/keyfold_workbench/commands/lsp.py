"""`keyfold lsp`: findings, hovers and completion in an editor."""

from __future__ import annotations

import argparse

HELP = "Run a language server for editors: findings, hover, completion, fixes (LSP on stdio)."
EXAMPLES = ("keyfold lsp",)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="accepted for editors; stdio is always used"
    )


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    import os

    from keyfold_workbench.lsp.server import create_server

    server = create_server()
    try:
        # The server closes what it is given; the command's own output must stay open.
        with os.fdopen(os.dup(0), "rb") as taken, os.fdopen(os.dup(1), "wb") as given:
            server.start_io(taken, given)
    finally:
        server.modules.close()
    return 0
