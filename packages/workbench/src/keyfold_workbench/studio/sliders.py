"""Sliders that move a workload, and what the design costs under it then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from keyfold.design.schema import Schema
from keyfold.review.check import Review, check
from keyfold_workbench.cost import Bill, Workload, bill
from keyfold_workbench.studio.markup import Child, el
from keyfold_workbench.studio.parts import link
from keyfold_workbench.studio.view import PageView


@dataclass(frozen=True)
class Sliders:
    """By how much a workload is moved."""

    traffic: float = 1.0
    sizes: float = 1.0
    pages: float = 1.0
    followers: float = 1.0

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Sliders:
        found = {}
        for one in fields(cls):
            try:
                found[one.name] = min(100.0, max(0.1, float(given[one.name])))
            except (KeyError, ValueError):
                continue
        return cls(**found)

    def move(self, workload: Workload) -> Workload:
        """The workload with rates, sizes, pages and copies multiplied."""
        return replace(
            workload,
            entities={
                name: replace(
                    load,
                    bytes=None if load.bytes is None else round(load.bytes * self.sizes),
                    attributes={n: round(b * self.sizes) for n, b in load.attributes.items()},
                    copies=_times(load.copies, self.followers),
                )
                for name, load in workload.entities.items()
            },
            patterns={
                name: replace(
                    load,
                    rate=_times(load.rate, self.traffic),
                    peak=_times(load.peak, self.traffic),
                    page=_times(load.page, self.pages),
                    partitions=_times(load.partitions, self.followers),
                )
                for name, load in workload.patterns.items()
            },
            writes=tuple(
                replace(
                    load,
                    rate=_times(load.rate, self.traffic),
                    peak=_times(load.peak, self.traffic),
                    each=_times(load.each, self.followers),
                )
                for load in workload.writes
            ),
            feeds={
                name: replace(
                    load,
                    rate=_times(load.rate, self.traffic),
                    peak=_times(load.peak, self.traffic),
                    followers=_times(load.followers, self.followers),
                    sources=_times(load.sources, self.followers),
                )
                for name, load in workload.feeds.items()
            },
            views={
                name: replace(load, rate=_times(load.rate, self.traffic))
                for name, load in workload.views.items()
            },
        )

    def load(self, schema: Schema, workload: Workload) -> Schema:
        """The design with what the workload says of it, which rules then look at."""
        entities = tuple(
            replace(one, bytes=load.bytes)
            if (load := workload.entities.get(one.name)) and load.bytes
            else one
            for one in schema.entities
        )
        patterns = tuple(
            replace(one, rate=asked.rate)
            if (asked := workload.patterns.get(one.name)) and asked.rate
            else one
            for one in schema.patterns
        )
        return replace(schema, entities=entities, patterns=patterns)


SLIDERS: Final = (
    ("traffic", "Traffic", "calls and writes a second"),
    ("sizes", "Sizes", "bytes of an item"),
    ("pages", "Pages", "items that a call reads"),
    ("followers", "Followers", "copies, partitions of a merge"),
)


def _times(number: float | None, factor: float) -> float | None:
    return None if number is None else number * factor


def reckon(view: PageView) -> tuple[Bill, Review]:
    """The bill and the review as the sliders stand; where they began, it is known."""
    system, given = view.system, Sliders.read(view.query)
    if given in system.reckoned:
        return system.reckoned[given]
    assert system.workload is not None, "a cost needs a workload"
    moved = given.move(system.workload)
    made = bill(system.schema, moved), check(given.load(system.schema, moved))
    if given == Sliders():
        system.reckoned[given] = made
    return made


def slider_panel(view: PageView) -> Child:
    if view.system.workload is None:
        return None
    given = Sliders.read(view.query)
    rows = (
        el(
            "div",
            el("label", words, for_=name),
            el("output", f"× {getattr(given, name):g}", id=f"o-{name}", for_=name),
            el(
                "input",
                type="range",
                id=name,
                name=name,
                min="0.1",
                max="20",
                step="0.1",
                value=f"{getattr(given, name):g}",
                data_slide=True,
            ),
            el("small", says),
            class_="slider",
        )
        for name, words, says in SLIDERS
    )
    again = el("noscript", el("button", "Reckon", class_="btn", type="submit"))
    form = el("form", rows, again, method="get", class_="pad sliders", id="sliders")
    reset = link(view.at("review"), "As the workload says", class_="btn quiet")
    return el(
        "section", el("header", el("h2", "If the workload changes"), reset), form, class_="panel"
    )
