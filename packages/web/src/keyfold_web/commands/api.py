"""`keyfold api`: services over REST and GraphQL."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from keyfold.cli._target import reachable
from keyfold.cli._watch import import_uncached
from keyfold.errors import KeyfoldError
from keyfold.settings import add_flags, from_arguments

HELP = "Serve services over REST and GraphQL, with their documentation."
EXAMPLES = ("keyfold api app.service --development",)


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="+", help="a service: its module, or module:Class")
    add_flags(parser, "backend", "table_prefix", "table_names")
    add(
        "--migration",
        action="append",
        default=[],
        metavar="PLAN",
        help="a migration in progress: the name or file of a plan, or module:name; repeat for "
        "several",
    )
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=8080, help="port (default: %(default)s)")
    add("--workers", type=int, default=1, help="processes sharing the port (default: %(default)s)")
    add("--reload", action="store_true", help="restart when a Python file here changes")
    add(
        "--development",
        action="store_true",
        help="accept only tokens issued by this process, and issue one to anyone at /sign-in",
    )
    add("--issuer", metavar="URL", help="issuer of the tokens (iss claim)")
    add("--audience", metavar="NAME", help="audience of the tokens (aud claim)")
    add(
        "--jwks",
        metavar="URL",
        help="URL of the issuer's keys (default: its /.well-known/jwks.json)",
    )
    add(
        "--admin-group",
        default="admin",
        metavar="NAME",
        help="group of administrators (default: %(default)s)",
    )
    add(
        "--rate",
        type=float,
        metavar="N",
        help="requests per second and caller (default: 20; no limit in development or with 0)",
    )
    add(
        "--burst",
        type=int,
        metavar="N",
        help="burst size in requests (default: ten seconds' worth)",
    )
    add(
        "--cors-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="allow browsers to call from this origin; repeat for several, * for all",
    )
    add(
        "--open-pages",
        action="store_true",
        help="make documentation, designs and metrics public, not only for administrators",
    )
    add(
        "--cursor-secret-file",
        type=Path,
        metavar="FILE",
        help="file of secrets that encrypt cursors, one per line, newest first",
    )
    add(
        "--consume",
        action=argparse.BooleanOptionalAction,
        help="also consume the streams of the served designs (default: on an embedded engine)",
    )
    add("--tracing", action="store_true", help="record operations as OpenTelemetry spans")


def run(args: argparse.Namespace) -> int:
    from keyfold_engine.addresses import open_port
    from keyfold_web.process import ApiOptions, targets_without_consumer
    from keyfold_web.process import run as serve

    if args.reload:
        import_uncached()
    settings = from_arguments(args)
    options = ApiOptions(
        targets=args.target,
        backend=reachable(settings.backend),
        host=args.host,
        port=args.port,
        workers=args.workers,
        reload=args.reload,
        table_prefix=settings.table_prefix,
        table_names=settings.table_names,
        migrations=args.migration,
        development_key=secrets.token_hex(32) if args.development else None,
        issuer=args.issuer,
        audience=args.audience,
        jwks=args.jwks,
        admin_group=args.admin_group,
        rate=args.rate,
        burst=args.burst,
        cursor_secret=_secrets("--cursor-secret-file", args.cursor_secret_file),
        origins=args.cors_origin,
        tracing=args.tracing,
        open_pages=args.open_pages,
        consume=args.consume,
    )
    options.check()
    # Only whether it is free: uvicorn opens it, or its supervisor of several processes.
    open_port(args.host, args.port).close()
    print(f"Serving on http://{args.host}:{args.port} (Ctrl-C stops)", flush=True)
    for target in targets_without_consumer(options):
        print(
            f"Copies, counters and events of {target} that follow the stream are updated only "
            f"while this runs: keyfold streams run {target} --backend {settings.backend}",
            flush=True,
        )
    serve(options)
    return 0


def _secrets(flag: str, file: Path | None) -> str:
    if file is None:
        return ""
    try:
        lines = file.read_text(encoding="utf-8").split()
    except OSError as problem:
        raise KeyfoldError(f"{flag} {file}: {problem.strerror}") from None
    if not lines:
        raise KeyfoldError(f"{flag} {file} is empty.")
    return ",".join(lines)
