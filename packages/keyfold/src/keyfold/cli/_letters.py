"""`keyfold streams letters`: look at records whose effect failed, try them again, drop them."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from keyfold.cli._output import add_format, print_json
from keyfold.cli._target import add_target

if TYPE_CHECKING:
    from keyfold.runtime.db import Db
    from keyfold.streams import DeadLetter

FAILED = 1
EVERY = "all"


def configure(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "List dead letters: records that failed permanently, oldest first."
    letters = commands.add_parser("letters", help=text, description=text)
    add_target(letters)
    add_format(letters)
    one = letters.add_mutually_exclusive_group()
    for name, says in (
        ("show", "show this letter with its record and traceback"),
        ("replay", "process this record again and delete the letter; `all` for each"),
        ("drop", "delete this letter; `all` for each"),
    ):
        one.add_argument(f"--{name}", metavar="ID", help=says)


def run(db: Db, args: argparse.Namespace) -> int:
    if args.show:
        return _show(_one(db, args.show))
    if args.replay or args.drop:
        return _decide(db, args.replay or args.drop, dropping=bool(args.drop))
    return _list(db, args.format)


def _list(db: Db, form: str) -> int:
    from keyfold.streams import letters

    found = db.run(letters(db.context))
    if form == "json":
        names = ("id", "at", "effect", "reason")
        print_json([{name: getattr(one, name) for name in names} for one in found])
        return 0
    for letter in found:
        at = datetime.fromtimestamp(letter.at, UTC)
        print(f"{letter.id}  {at:%Y-%m-%d %H:%M:%S}  {letter.effect}  {letter.reason}")
    return 0


def _one(db: Db, id: str) -> DeadLetter:
    """A letter by its id, or the first characters of it."""
    from keyfold.errors import KeyfoldError
    from keyfold.streams import letter, letters

    begun = [one for one in db.run(letters(db.context)) if one.id.startswith(id)]
    if len(begun) > 1 and all(one.id != id for one in begun):
        raise KeyfoldError(f"{len(begun)} dead letters start with {id}; give more characters")
    return begun[0] if len(begun) == 1 else db.run(letter(db.context, id))


def _show(letter: DeadLetter) -> int:
    import orjson

    print(f"{letter.effect} failed {letter.attempts} times for a record of {letter.table}")
    if letter.record is None:
        print("the record was too large to store")
    else:
        print(orjson.dumps(letter.record, option=orjson.OPT_INDENT_2).decode())
    print(letter.trace)
    return 0


def _decide(db: Db, id: str, *, dropping: bool) -> int:
    from keyfold.streams import drop, letters, replay

    chosen = db.run(letters(db.context)) if id == EVERY else [_one(db, id)]
    failed = 0
    for letter in chosen:
        if dropping:
            db.run(drop(db.context, letter.id))
            print(f"{letter.id}  dropped")
            continue
        try:
            db.run(replay(db, letter))
            print(f"{letter.id}  done")
        except Exception as problem:
            failed += 1
            print(f"{letter.id}  {type(problem).__name__}: {problem}")
    return FAILED if failed else 0
