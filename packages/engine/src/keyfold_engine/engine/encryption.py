"""Encryption settings of tables: validated and reported; nothing is encrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keyfold_engine.errors import parameter_invalid

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database


def check_encryption(specification: dict[str, Any] | None) -> None:
    """Refuse invalid encryption settings."""
    if not specification or not specification.get("Enabled"):
        return
    if specification.get("SSEType") == "AES256":
        raise parameter_invalid("SSEType AES256 is not supported")
    if specification.get("KMSMasterKeyId") is not None and specification.get("SSEType") is None:
        raise parameter_invalid("SSEType KMS is required if KMSMasterKeyId is specified")


def described(database: Database, specification: dict[str, Any]) -> dict[str, Any]:
    """The SSEDescription of a table with these settings."""
    key = specification.get("KMSMasterKeyId") or "alias/aws/dynamodb"
    arn = f"arn:aws:kms:{database.region}:{database.account}:{key}"
    return {
        "Status": "ENABLED",
        "SSEType": "KMS",
        "KMSMasterKeyArn": key if key.startswith("arn:") else arn,
    }
