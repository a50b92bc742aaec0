"""`keyfold lsp`: findings, hovers and completion in an editor."""

from __future__ import annotations

import argparse

from keyfold.errors import KeyfoldError

HELP = "Run a language server for editors: findings, hover, completion, fixes (LSP on stdio)."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="accepted for editors; stdio is always used"
    )


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    try:
        from keyfold_workbench.lsp.server import create_server
    except ModuleNotFoundError as missing:
        raise KeyfoldError(
            f"this needs {missing.name}; install it with: pip install 'keyfold[lsp]'"
        ) from None
    server = create_server()
    try:
        server.start_io()
    finally:
        server.modules.close()
    return 0
