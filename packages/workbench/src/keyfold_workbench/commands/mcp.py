"""`keyfold mcp`: a design's tools for assistants, by the Model Context Protocol."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyfold import settings
from keyfold.errors import KeyfoldError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

HELP = "Run an MCP server for assistants: read, check, try, run, cost, draft."
EXAMPLES = ("keyfold mcp app.design:design --backend app.db",)
LOOPBACK = "127.0.0.1"
SHUTDOWN_SECONDS = 3


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "target",
        nargs="?",
        help="package.module:design or FILE.yaml (default: the design in the settings)",
    )
    add("--write", action="store_true", help="let tools write, each with its plan first")
    add(
        "--folder",
        type=Path,
        metavar="DIR",
        help="the project's folder, where its design, settings and data are (default: here)",
    )
    add("--port", type=int, metavar="N", help="serve HTTP on loopback instead of stdin and stdout")
    settings.add_flags(parser, "design", "backend", "table_prefix", "table_names")


def run(args: argparse.Namespace) -> int:
    from keyfold_workbench.mcp import Workspace, create_server

    if args.folder is not None:
        _enter(args.folder)
    current = settings.from_arguments(args)
    target = args.target or current.design
    if args.write and not target:
        raise KeyfoldError("--write needs a design: keyfold mcp package.module:design --write")
    workspace = Workspace(
        target,
        current.backend,
        write=args.write,
        table_prefix=current.table_prefix,
        table_names=current.table_names,
    )
    try:
        server = create_server(workspace)
        if args.port is None:
            server.run("stdio")
        else:
            _serve(server, args.port)
    finally:
        workspace.close()
    return 0


def _enter(folder: Path) -> None:
    """Change to the project's directory: assistants start servers from anywhere."""
    try:
        os.chdir(folder)
    except OSError as problem:
        raise KeyfoldError(f"--folder {folder}: {problem.strerror}") from None


def _serve(server: MCPServer[Any], port: int) -> None:
    import uvicorn

    from keyfold_web.connections import BoundedConnection
    from keyfold_workbench.mcp.http import http_app

    token = secrets.token_urlsafe(24)
    print(f"http://{LOOPBACK}:{port}/mcp", file=sys.stderr)
    print(f"Authorization: Bearer {token}", file=sys.stderr, flush=True)
    uvicorn.run(
        http_app(server, token),
        host=LOOPBACK,
        port=port,
        log_level="warning",
        http=BoundedConnection,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
