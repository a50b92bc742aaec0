"""Requests about resource policies."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Structure,
    at_least,
    at_most,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.words import FLAG

_RESOURCE = required(text(at_least(1), at_most(1283)))
_REVISION = text(at_least(1), at_most(255))

REQUESTS: dict[str, Structure] = {
    "PutResourcePolicy": structure(
        "PutResourcePolicyInput",
        ResourceArn=_RESOURCE,
        Policy=required(text()),
        ExpectedRevisionId=_REVISION,
        ConfirmRemoveSelfResourceAccess=FLAG,
    ),
    "GetResourcePolicy": structure("GetResourcePolicyInput", ResourceArn=_RESOURCE),
    "DeleteResourcePolicy": structure(
        "DeleteResourcePolicyInput", ResourceArn=_RESOURCE, ExpectedRevisionId=_REVISION
    ),
}
