"""Where a listing stands, and which way it can go from there."""

from __future__ import annotations

from enum import StrEnum

from keyfold import States


class Status(StrEnum):
    """Where a listing stands on the way to a home."""

    UNSEEN = "UNSEEN"
    SEEN = "SEEN"
    VISIT_PLANNED = "VISIT_PLANNED"
    VISITED = "VISITED"
    APPLIED = "APPLIED"
    REJECTED = "REJECTED"
    ACCEPTED = "ACCEPTED"


STEPS = States[Status](
    {
        Status.UNSEEN: {
            Status.SEEN: "look at it",
            Status.VISIT_PLANNED: "plan a visit",
            Status.REJECTED: "drop it",
        },
        Status.SEEN: {
            Status.VISIT_PLANNED: "plan a visit",
            Status.APPLIED: "apply",
            Status.REJECTED: "drop it",
        },
        Status.VISIT_PLANNED: {
            Status.SEEN: "call the visit off",
            Status.VISITED: "visit it",
            Status.REJECTED: "drop it",
        },
        Status.VISITED: {
            Status.VISIT_PLANNED: "plan a visit",
            Status.APPLIED: "apply",
            Status.REJECTED: "drop it",
        },
        Status.APPLIED: {
            Status.ACCEPTED: "get it",
            Status.REJECTED: "drop it",
        },
        Status.REJECTED: {Status.SEEN: "reconsider"},
    }
)
