"""Stores policies, and authorises requests."""

from __future__ import annotations

from typing import Any, NamedTuple

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.principal import Principal
from keyfold_engine.engine.storage import Session
from keyfold_engine.errors import AccessDenied
from keyfold_engine.features.policies import action, decision, document

_KIND = "policy"


class StoredPolicy(NamedTuple):
    policy: document.ResourcePolicy
    revision: str


def find(session: Session, arn: str) -> StoredPolicy | None:
    kept = session.document(_KIND, arn)
    if kept is None:
        return None
    return StoredPolicy(document.stored(kept["Document"]), kept["Revision"])


def keep(
    database: Database, session: Session, arn: str, policy: document.ResourcePolicy, revision: str
) -> None:
    database.expect_policies()
    kept = {"Document": policy.text, "Revision": revision}
    session.keep_document(_KIND, arn, kept)


def drop(session: Session, arn: str) -> None:
    session.drop_document(_KIND, arn)


def authorize(
    database: Database, caller: Principal, operation: str, request: dict[str, Any]
) -> None:
    """Refuse a request that the policies of its resources do not allow.

    Callers of the account may do everything that is not denied; others need a permission.
    """
    is_own = caller.account == database.account
    if not any_kept(database) and is_own:
        return
    if operation == "DeleteResourcePolicy" and is_own and caller.principal.endswith(":root"):
        return
    for wish in action.actions(database, operation, request, caller.address):
        resource = wish.resource.partition("/index/")[0]
        with database.read() as session:
            found = find(session, resource)
        statements = () if found is None else found.policy.statements
        effect = decision.effect(statements, caller.principal, wish)
        told = (
            f"User: {caller.principal} is not authorized to perform: dynamodb:{wish.name} on "
            f"resource: {wish.resource}"
        )
        if effect == "Deny":
            raise AccessDenied(f"{told} with an explicit deny in a resource-based policy")
        if effect is None and not is_own:
            raise AccessDenied(
                f"{told} because no resource-based policy allows the dynamodb:{wish.name} action"
            )


def any_kept(database: Database) -> bool:
    """Whether any policies exist; a negative answer is cached until one is created."""
    changes = database.policy_changes
    with database.read() as session:
        found = bool(session.documents(_KIND, 1))
    if not found and changes == database.policy_changes:
        database.has_policies = False
    return found
