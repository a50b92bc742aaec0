"""Which changes one UpdateTable may make together."""

from __future__ import annotations

from typing import Any

from keyfold_engine.errors import ValidationError, parameter_invalid

_NOTHING = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
    "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, "
    "WarmThroughput or TableClass is required"
)
# Changes that must be alone, in order of precedence.
_ALONE = {
    "SSESpecification": "Server-Side Encryption modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
    "ReplicaUpdates": "Replica modification",
    "WarmThroughput": "WarmThroughput",
}
_NO_CHANGES = ("TableName", "AttributeDefinitions")


def check_combination(request: dict[str, Any]) -> None:
    """Refuse an UpdateTable without a change, or with changes that cannot be combined."""
    changes = {name for name, value in request.items() if name not in _NO_CHANGES}
    indexes = request.get("GlobalSecondaryIndexUpdates")
    if not changes or (changes == {"GlobalSecondaryIndexUpdates"} and not indexes):
        raise ValidationError(_NOTHING)
    if indexes == []:
        raise parameter_invalid("List of GlobalSecondaryIndexUpdates is empty")
    others = changes - {"GlobalSecondaryIndexUpdates"}
    if "WarmThroughput" in changes and any("Create" in update for update in indexes or ()):
        raise parameter_invalid(
            "Create global secondary index cannot be specified when updating WarmThroughput"
        )
    for change, told in _ALONE.items():
        if change in changes and len(changes) > 1:
            raise parameter_invalid(f"{told} must be the only operation in the request")
    if "OnDemandThroughput" in changes and changes - {"OnDemandThroughput", "BillingMode"}:
        raise parameter_invalid(
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
        )
    moves = [update for update in indexes or () if "Update" not in update]
    if "ProvisionedThroughput" in others:
        if "StreamSpecification" in others:
            raise ValidationError("You cannot modify stream status while updating table IOPS")
        if moves and "BillingMode" not in others:
            raise ValidationError("You cannot create or delete index while updating table IOPS")
    if moves and "StreamSpecification" in others:
        raise ValidationError("You cannot create or delete index while changing stream status")
