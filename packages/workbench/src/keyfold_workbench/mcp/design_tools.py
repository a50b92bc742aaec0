"""Tools that read, check and change a design; nothing is written."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from keyfold.design import file
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.migrations import diff
from keyfold.review.check import check
from keyfold.review.check.page import page
from keyfold.review.check.report import Finding
from keyfold.review.draft.python import declaration
from keyfold.settings import nearest
from keyfold_workbench import infra
from keyfold_workbench.mcp.language import Topic, chapter
from keyfold_workbench.mcp.tool import Excerpt, ToolAnswer, excerpt, fitting, tool
from keyfold_workbench.mcp.workspace import Workspace

Target = Literal["cloudformation", "terraform", "cdk", "iam", "python"]


class FoundProblem(BaseModel):
    """A finding of the reviewer."""

    code: str
    severity: str
    subject: str
    message: str
    suggestion: str
    place: str


class CheckedDesign(ToolAnswer):
    """The reviewer's result for a design."""

    design: str
    findings: list[FoundProblem]
    counts: dict[str, int] = Field(description="All findings by severity.")
    next_offset: int | None = Field(None, description="The next finding; null at the end.")
    silenced: int = Field(description="Findings that the design accepts, with a reason each.")


class TriedChange(ToolAnswer):
    """The effects of a changed design."""

    new_findings: list[FoundProblem]
    ended_findings: list[str] = Field(description="Their codes and subjects.")
    left_out: int = Field(description="New findings beyond these: see check_design.")
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

    @tool(then="Write the design file and pass its text to check_design.")
    def guide(self, topic: Topic = "design file", offset: int = 0) -> Excerpt:
        """How to write a design file or a workload file, declare in Python, and all rules."""
        return excerpt(chapter(topic), offset)

    @tool(then="Review it with check_design, or price it with estimate_cost.")
    def read_design(self, entity: str = "", text: str = "", offset: int = 0) -> Excerpt:
        """The design as a design file: tables, entities, keys, patterns, consequences.

        With `entity`, only what concerns that one; with `text`, of that design file.
        """
        schema = self._workspace.schema_of(text)
        return excerpt(file.dumps(_part(schema, entity) if entity else schema), offset)

    @tool(then="Fix what is true, say why the rest stays, and check again; then draft_workload.")
    def check_design(self, text: str = "", offset: int = 0) -> CheckedDesign:
        """The reviewer's findings for the design, or for a design file's `text`."""
        schema = self._workspace.schema_of(text)
        review = check(schema)
        found, rest = fitting([_problem(one) for one in review.findings], offset)
        return CheckedDesign(
            design=schema.name,
            findings=found,
            counts=dict(Tally(one.severity for one in review.findings)),
            next_offset=rest,
            silenced=len(review.silenced),
        )

    @tool(then="If it is better, show it with the steps of its migration: draft_migration.")
    def try_change(self, text: str, workload: str = "") -> TriedChange:
        """The effects of a changed design file, before anything is changed.

        New and resolved findings, lost patterns, the required table changes, and the monthly cost
        under a workload file's text.
        """
        before, after = self._workspace.schema, _read(text)
        old = {one.fingerprint: one for one in check(before).findings}
        new = {one.fingerprint: one for one in check(after).findings}
        kept = {one.name for one in after.access_patterns}
        added = [_problem(one) for key, one in new.items() if key not in old]
        shown, _ = fitting(added, 0, 1_600)
        ended = [f"{one.code} {one.subject}" for key, one in old.items() if key not in new]
        lost = [one.name for one in before.access_patterns if one.name not in kept]
        return TriedChange(
            new_findings=shown,
            left_out=len(added) - len(shown),
            ended_findings=fitting(ended, 0, 500)[0],
            lost_patterns=fitting(lost, 0, 400)[0],
            migration=fitting([str(one) for one in diff(before, after)], 0, 900)[0],
            dollars_before=month_of(before, workload),
            dollars_after=month_of(after, workload),
        )

    @tool(then="Apply the fix to the design file, or keep it with a reason.")
    def explain_rule(self, code: str, offset: int = 0) -> Excerpt:
        """A rule of the reviewer: what it looks for, why, and how to fix it."""
        return excerpt(page(code).text, offset)

    @tool(then="Write it to a file; deploy it with its own tool.")
    def export(self, to: Target, text: str = "", offset: int = 0) -> Excerpt:
        """The design, or a design file's `text`, for deployment, or as the Python that runs it."""
        schema = self._workspace.schema_of(text)
        if to != "python":
            return excerpt(infra.FORMATS[to](schema), offset)
        written, unserved = declaration(schema)
        left = "".join(f"# Left out, since no key serves it: {name}\n" for name in unserved)
        return excerpt(left + written, offset)


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
