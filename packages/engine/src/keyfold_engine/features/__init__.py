"""What is built on the core of the engine: a folder for each feature that keyfold never calls.

A feature has its operations, request shapes and trees in the file. What it adds to the core is its
`EXTENSION` (see `engine.extensions`), in the module `extension` of its folder. The core imports it
when a definition or a request has one of the feature's members, and names no feature itself.
"""

from __future__ import annotations

from typing import Final

ALL: Final = ("replicas", "transfer", "backups", "vectors", "policies", "kinesis")
"""The features that add to the core, in the order in which they are asked."""

BY_MEMBER: Final = {
    # of stored definitions of tables
    "Backups": "backups",
    "Recovery": "backups",
    "RestoredFrom": "backups",
    "Destinations": "kinesis",
    "Replicas": "replicas",
    # of definitions, and of CreateTable
    "VectorIndexes": "vectors",
    # of CreateTable and UpdateTable
    "ResourcePolicy": "policies",
    "VectorIndexUpdates": "vectors",
    "ReplicaUpdates": "replicas",
    "MultiRegionConsistency": "replicas",
    "GlobalTableWitnessUpdates": "replicas",
    "GlobalTableSettingsReplicationMode": "replicas",
    "DisassociationProtectionEnabled": "replicas",
}
"""The feature that a member belongs to."""

BY_DOCUMENT: Final = {"backup": "backups", "bulk": "transfer"}
"""The feature that may have unfinished work, by the kind of its documents."""

GUARDS: Final = ("policies",)
"""The features that may refuse a caller."""
