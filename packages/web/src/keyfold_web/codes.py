"""Codes of import-time errors in services."""

from __future__ import annotations

from typing import Final

TITLES: Final[dict[str, str]] = {
    "O1": "An operation is not an `async def` method",
    "O2": "A related field does not return a list",
    "O3": "A path names something that is not a parameter",
    "O4": "A parameter or a result has no type",
    "O5": "A paged operation does not return a page",
    "O6": "A path does not start with a slash, or ends with one",
    "O7": "A path belongs to the service's own pages",
    "O8": "An operation without a body takes a model",
    "O9": "A model is the whole body, so other parameters cannot be in it",
    "O10": "Two operations share a name or a route",
    "O11": "Two types share a name",
    "O12": "A service's name is taken, by another service or the application's own pages",
    "O14": "A subscription is declared incorrectly",
    "O16": "A field of a nested model has no public name",
    "O19": "An operation's rule is missing, is no rule, or names what is not a parameter",
    "O20": "A decorator of an operation has an option, a method or a status that does not exist",
}
