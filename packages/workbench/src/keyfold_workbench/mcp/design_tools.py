"""Tools that read, check and change a design; nothing is written."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel, Field

from keyfold.design import file
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.migrations import diff
from keyfold.review.check import check
from keyfold.review.check.page import page
from keyfold.review.check.report import Finding
from keyfold.settings import nearest
from keyfold_workbench.mcp.tool import Excerpt, excerpt, tool
from keyfold_workbench.mcp.workspace import Workspace


class FoundProblem(BaseModel):
    """A finding of the reviewer."""

    code: str
    severity: str
    subject: str
    message: str
    suggestion: str
    place: str


class CheckedDesign(BaseModel):
    """The reviewer's result for a design."""

    design: str
    findings: list[FoundProblem]
    silenced: int = Field(description="Findings that the design accepts, with a reason each.")


class TriedChange(BaseModel):
    """The effects of a changed design."""

    new_findings: list[FoundProblem]
    ended_findings: list[FoundProblem]
    lost_patterns: list[str] = Field(description="Access patterns that are no longer served.")
    migration: list[str] = Field(description="The steps for the tables, in words.")
    dollars_before: float = Field(
        description="Dollars per month, on demand, under the same workload."
    )
    dollars_after: float


class DesignTools:
    """Reading, checking and trying."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool()
    def read_design(self, entity: str = "", offset: int = 0) -> Excerpt:
        """The design as a design file: tables, entities, keys, patterns, consequences.

        With `entity`, only what concerns that one.
        """
        schema = self._workspace.schema
        return excerpt(file.dumps(_part(schema, entity) if entity else schema), offset)

    @tool()
    def check_design(self, text: str = "") -> CheckedDesign:
        """The reviewer's findings for the design, or for a design file's `text`."""
        schema = self._schema_of(text)
        review = check(schema)
        return CheckedDesign(
            design=schema.name,
            findings=[_problem(one) for one in review.findings],
            silenced=len(review.silenced),
        )

    @tool()
    def try_change(self, text: str, workload: str = "") -> TriedChange:
        """The effects of a changed design file, before anything is changed.

        New and resolved findings, lost patterns, the required table changes, and the monthly cost
        under a workload file's text.
        """
        before, after = self._workspace.schema, _read(text)
        old = {one.fingerprint: one for one in check(before).findings}
        new = {one.fingerprint: one for one in check(after).findings}
        kept = {one.name for one in after.access_patterns}
        return TriedChange(
            new_findings=[_problem(one) for key, one in new.items() if key not in old],
            ended_findings=[_problem(one) for key, one in old.items() if key not in new],
            lost_patterns=[one.name for one in before.access_patterns if one.name not in kept],
            migration=[str(one) for one in diff(before, after)],
            dollars_before=month_of(before, workload),
            dollars_after=month_of(after, workload),
        )

    @tool()
    def explain_rule(self, code: str) -> Excerpt:
        """A rule of the reviewer: what it looks for, why, and how to fix it."""
        return excerpt(page(code).text, 0)

    def _schema_of(self, text: str) -> Schema:
        return _read(text) if text else self._workspace.schema


def month_of(schema: Schema, workload: str) -> float:
    """Dollars per month, on demand; ignores rates of patterns that the schema lacks."""
    from keyfold_workbench.cost import Workload, bill, loads

    stated = loads(workload, schema) if workload else Workload()
    return round(bill(schema, stated).dollars, 2)


def _read(text: str) -> Schema:
    return file.loads(text, file="the given text")


def _problem(one: Finding) -> FoundProblem:
    return FoundProblem(
        code=one.code,
        severity=one.severity,
        subject=one.subject,
        message=one.message,
        suggestion=one.suggestion,
        place=str(one.place),
    )


def _part(schema: Schema, name: str) -> Schema:
    if name not in schema.by_entity:
        raise KeyfoldError(f"the design has no entity {name!r}; {nearest(name, schema.by_entity)}")
    entity = schema.by_entity[name]
    return replace(
        schema,
        tables=tuple(one for one in schema.tables if one.name == entity.table),
        entities=(entity,),
        patterns=tuple(one for one in schema.patterns if name in one.entities),
        searches=tuple(one for one in schema.searches if one.entity == name),
        counters=tuple(one for one in schema.counters if name in (one.counts, one.target)),
        follows=tuple(one for one in schema.follows if name in (one.source, one.target)),
        operations=(),
        consumers=(),
        feeds=(),
    )
