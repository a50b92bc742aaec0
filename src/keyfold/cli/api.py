"""`keyfold api`: services over REST and GraphQL."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from keyfold.errors import KeyfoldError
from keyfold.settings import add_flags, from_arguments

DEVELOPMENT_MEDIA = ".keyfold/media"
HELP = "Serve services over REST and GraphQL, with their documentation."


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="+", help="a service: its module, or module:Class")
    add_flags(parser, "backend", "table_prefix", "table_names")
    add(
        "--migration",
        action="append",
        default=[],
        metavar="PLAN",
        help="a migration that is under way: a plan by its name or file, or module:name; "
        "may be given several times",
    )
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, default=8080, help="port (default: %(default)s)")
    add("--workers", type=int, default=1, help="processes sharing the port (default: %(default)s)")
    add("--reload", action="store_true", help="restart when a Python file here changes")
    add(
        "--development",
        action="store_true",
        help="accept tokens of this machine only, and give one to anybody at /sign-in",
    )
    add(
        "--token-secret-file",
        type=Path,
        metavar="FILE",
        help="file of secrets that sign tokens, one per line, newest first; "
        "for services that check passwords",
    )
    add("--issuer", metavar="URL", help="who signs the tokens (their iss claim)")
    add("--audience", metavar="NAME", help="whom the tokens are for (their aud claim)")
    add(
        "--jwks",
        metavar="URL",
        help="where the issuer's keys are (default: its /.well-known/jwks.json)",
    )
    add(
        "--admin-group",
        default="admin",
        metavar="NAME",
        help="the group claim of administrators (default: %(default)s)",
    )
    add(
        "--rate",
        type=float,
        metavar="N",
        help="requests per second and caller (default: 20, in development and with 0 no limit)",
    )
    add("--burst", type=int, metavar="N", help="requests at once (default: ten seconds' worth)")
    add(
        "--media",
        type=Path,
        metavar="FOLDER",
        help=f"keep uploads in this folder (in development: {DEVELOPMENT_MEDIA})",
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
        help="show documentation, designs and metrics to everybody, not to administrators only",
    )
    add(
        "--cursor-secret-file",
        type=Path,
        metavar="FILE",
        help="file of secrets that seal cursors, one per line, newest first",
    )
    add(
        "--consume",
        action=argparse.BooleanOptionalAction,
        help="also follow the streams of what is served (default: on an embedded engine)",
    )
    add("--tracing", action="store_true", help="record operations as OpenTelemetry spans")


def run(args: argparse.Namespace) -> int:
    try:
        from keyfold.api.process import ApiOptions, targets_without_consumer
        from keyfold.api.process import run as serve
    except ModuleNotFoundError as missing:
        raise KeyfoldError(
            f"serving needs {missing.name}; install it with: pip install 'keyfold[web]'"
        ) from None
    settings = from_arguments(args)
    options = ApiOptions(
        targets=args.target,
        backend=settings.backend,
        host=args.host,
        port=args.port,
        workers=args.workers,
        reload=args.reload,
        table_prefix=settings.table_prefix,
        table_names=settings.table_names,
        migrations=args.migration,
        development_key=secrets.token_hex(32) if args.development else None,
        token_secret=_secrets("--token-secret-file", args.token_secret_file),
        issuer=args.issuer,
        audience=args.audience,
        jwks=args.jwks,
        admin_group=args.admin_group,
        rate=args.rate,
        burst=args.burst,
        media=str(args.media) if args.media else DEVELOPMENT_MEDIA if args.development else None,
        media_secret=secrets.token_hex(32),
        cursor_secret=_secrets("--cursor-secret-file", args.cursor_secret_file),
        origins=args.cors_origin,
        tracing=args.tracing,
        open_pages=args.open_pages,
        consume=args.consume,
    )
    options.check()
    print(f"Serving on http://{args.host}:{args.port} (Ctrl-C stops)", flush=True)
    for target in targets_without_consumer(options):
        print(
            f"Copies, counters and events of {target} that follow the stream stand still until "
            f"this runs too: keyfold streams run {target} --backend {settings.backend}",
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
