"""The shape of criteria: open, as the document has it, and as it was before.

Before, spans were bounds (`priceMax`), places were `locations`, and what a home must have was
listed as `features`. Now a span, words and a yes stand each under a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Shaped = tuple[dict[str, Any], dict[str, Any]]
"""Criteria and their weights."""

SPANS = ("price", "rooms", "surface")
BOUNDS = {f"{name}{side.capitalize()}": (name, side) for name in SPANS for side in ("min", "max")}


@dataclass(frozen=True)
class Form:
    """How values are written: as they are, or as a table stores them."""

    span: Callable[[dict[str, Any]], Any]
    words: Callable[[list[str]], Any]
    read_words: Callable[[Any], list[str]]
    yes: Any
    is_null: Callable[[Any], bool]


PLAIN = Form(dict, list, sorted, True, lambda value: value is None)
WIRE = Form(
    lambda bounds: {"M": bounds},
    lambda words: {"L": [{"S": word} for word in words]},
    lambda wire: sorted(wire.get("SS") or [one["S"] for one in wire["L"]]),
    {"BOOL": True},
    lambda wire: "NULL" in wire,
)


def opened(values: Any) -> Any:
    """What criteria are made of, in the open shape; what has that shape is left alone."""
    if not isinstance(values, Mapping) or not isinstance(values.get("criteria"), Mapping):
        return values
    weights = values.get("weights") or {}
    if not isinstance(weights, Mapping):
        return values
    criteria, weights = open_shape(values["criteria"], weights, PLAIN)
    return {**values, "criteria": criteria, "weights": weights}


def open_shape(criteria: Mapping[str, Any], weights: Mapping[str, Any], form: Form) -> Shaped:
    """Criteria and weights of before in the open shape."""
    found: dict[str, Any] = {}
    spans: dict[str, dict[str, Any]] = {}
    weighed = {"location" if name == "locations" else name: x for name, x in weights.items()}
    for name, wish in criteria.items():
        if name not in BOUNDS and name not in ("locations", "features"):
            found[name] = wish
        elif form.is_null(wish):
            continue
        elif name in BOUNDS:
            about, side = BOUNDS[name]
            spans.setdefault(about, {})[side] = wish
        elif words := form.read_words(wish):
            if name == "locations":
                found["location"] = form.words(words)
            else:
                found |= dict.fromkeys(words, form.yes)
                weighed |= {one: weights[name] for one in words if name in weights}
    if "features" in criteria:
        weighed.pop("features", None)
    return {**{name: form.span(bounds) for name, bounds in spans.items()}, **found}, weighed


def stored_flat(criteria: Mapping[str, Any], weights: Mapping[str, Any]) -> Shaped:
    """The way back, as it is stored; what had no place before becomes a feature in words.

    By name: a backend may give a map in any order.
    """
    found: dict[str, Any] = {}
    features: list[str] = []
    for name, wish in sorted(criteria.items()):
        if name in SPANS and ("M" in wish or "N" in wish):
            bounds = wish.get("M") or {"min": wish, "max": wish}
            found |= {f"{name}{side.capitalize()}": bound for side, bound in bounds.items()}
        elif name == "location" and "L" in wish:
            found["locations"] = wish
        elif "BOOL" in wish:
            features.append(name if wish["BOOL"] else f"no {name}")
        else:
            features.append(f"{name} {_text(wish)}")
    if features:
        found["features"] = WIRE.words(features)
    known = {name: weights[name] for name in SPANS if name in weights}
    places = {"locations": weights["location"]} if "location" in weights else {}
    return found, {**known, **places}


def _text(wire: Mapping[str, Any]) -> str:
    """A stored value in words."""
    ((kind, value),) = wire.items()
    if kind == "L":
        return ", ".join(map(_text, value))
    if kind in ("SS", "NS"):
        return ", ".join(sorted(value))
    if kind == "M":
        return ", ".join(f"{name} {_text(one)}" for name, one in sorted(value.items()))
    return str(value)
