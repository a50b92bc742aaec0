"""Give somebody a role from the machine that the data is on: the first administrator.

python -m keyfold_systems.tamafriends.promotion --backend tama.db ada admin
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import get_args

from keyfold import create, new_ulid, update
from keyfold.errors import KeyfoldError
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Role
from keyfold_systems.tamafriends.oversight import AuditEntry
from keyfold_systems.tamafriends.patterns import profile_by_handle


def promote(backend: str, handle: str, role: Role, *, table_prefix: str = "") -> str:
    """Give the role, with an entry in the audit trail; gives whose it is now."""
    with design.open(backend, table_prefix=table_prefix, create_tables=False) as db:
        profile = profile_by_handle(db, handle.removeprefix("@"))
        if profile is None:
            raise KeyfoldError(f"Nobody is called {handle}; sign up first.")
        entry = AuditEntry(
            entry_id=new_ulid(),
            at=db.context.now(),
            by="machine",
            action="role",
            subject=f"user {profile.user_id}",
            note=f"{role}: given on the machine",
        )
        db.transact(update(profile.ref(), role=role), create(entry))
        return profile.user_id


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="promotion", description=__doc__)
    parser.add_argument("--backend", required=True, help="where the data is: a file or an address")
    parser.add_argument("--table-prefix", default="")
    parser.add_argument("handle")
    parser.add_argument("role", choices=get_args(Role))
    given = parser.parse_args(arguments)
    try:
        user_id = promote(given.backend, given.handle, given.role, table_prefix=given.table_prefix)
    except KeyfoldError as problem:
        parser.exit(2, f"{problem}\n")
    print(f"{given.handle} ({user_id}) is {given.role} now.")


if __name__ == "__main__":
    main()
