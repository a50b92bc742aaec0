"""Codes of import-time errors that have no design rule.

Errors that match a rule use its code: K1, K2, K3, K4, K6, K8, K12, Q10.
"""

from __future__ import annotations

from typing import Final

PATTERN_BRANCHES: Final = "E1"
NAME_TAKEN: Final = "E2"
MARKER_MISUSED: Final = "E3"
UNKNOWN_REFERENCE: Final = "E4"
TYPE_UNSUPPORTED: Final = "E5"
PATTERN_WITHOUT_KEY: Final = "E6"
TABLE_REFUSED: Final = "E7"
PATTERN_REFUSED: Final = "E8"
CALL_REFUSED: Final = "E9"

TITLES: Final[dict[str, str]] = {
    PATTERN_BRANCHES: "An access pattern looks at a parameter's value",
    NAME_TAKEN: "Two declarations have the same name",
    MARKER_MISUSED: "A marker is on a field that it cannot apply to",
    UNKNOWN_REFERENCE: "A declaration names something that the design does not have",
    TYPE_UNSUPPORTED: "A field's type cannot be stored",
    PATTERN_WITHOUT_KEY: "An access pattern does not give its key",
    TABLE_REFUSED: "DynamoDB does not accept a table, an index or a search as declared",
    PATTERN_REFUSED: "An access pattern's signature or budget does not agree with its plan",
    CALL_REFUSED: "A declaration is given an argument that it does not take",
}
