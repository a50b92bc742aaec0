"""Whole systems, each from its design document, on the public names of keyfold alone.

A system is a package here. `keyfold demo` runs every one that has these modules:

design.py    `design`: the declaration.
service.py   `service(db) -> Service`: its operations on an `AsyncDb`.
demo.py      `async def fill(db) -> int`: writes believable data, the same each time, and gives
             how many items. It is called on empty tables.
             `USERS`: who can sign in, as `(id, name, groups)`; the printed example acts as the
             first of them.
             `TRY`: the REST path, below the service's own, of a query that the first user may
             ask, such as "/groups/oslo-hikers/feed" (without it: the OpenAPI document).

The first line of the package's docstring is its title.
"""
