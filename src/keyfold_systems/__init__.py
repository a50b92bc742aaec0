"""Whole systems, each from its design document, on the public names of keyfold alone.

A system is a package here. `keyfold demo` runs every one that has these modules:

design.py    `design`: the declaration.
service.py   One `keyfold.serve.Service` subclass, with `design = design`.
demo.py      `TITLE: str`, what the system is, in a few words.
             `VISITOR: str`, the user whom the printed examples act as.
             `TRY: str`, the REST path of a query that VISITOR may ask, below the service's own
             path, such as "/groups/oslo-hikers/feed".
             `async def fill(db: AsyncDb) -> None`, which writes believable data: a few thousand
             items, the same ones each time. It is called once, on empty tables.
"""
