"""Tools that draft a design: from a table in use, a document, or files of other tools."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.document.statements import DocumentReading
from keyfold_workbench.mcp.tool import Excerpt, ToolAnswer, excerpt, fitting, tool
from keyfold_workbench.mcp.workspace import Workspace


class DocumentLine(BaseModel):
    """A line of a design document that speaks of keys, indexes, reads or attributes."""

    line: int
    mark: str = Field(description="read, question, contradicts or not understood")
    statements: list[str]
    questions: list[str]


class ReadDocument(ToolAnswer):
    """What a design document says, line by line, and the design file made of it."""

    lines: list[DocumentLine]
    next_line: int | None = Field(None, description="Where the rest begins; null at the end.")
    design: Excerpt


class AnsweredDocument(ToolAnswer):
    """A document with an answer in it."""

    text: str
    line: DocumentLine


class DraftTools:
    """Design files drafted from existing sources."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @tool(then="Pass the whole text to check_design, and answer the questions in its comments.")
    def draft_from_table(self, table: str, sample: int = 500, offset: int = 0) -> Excerpt:
        """A design file drafted from a sample of a table's items."""
        from keyfold_workbench.adopt import item_sample
        from keyfold_workbench.adopt.description import live_table
        from keyfold_workbench.adopt.inspection import inspect

        wanted = min(sample, 5_000)
        with self._workspace.client() as client:
            described = live_table(client, table)
            items = item_sample.Sample(table)
            item_sample.read(client, items, wanted)
            return excerpt(inspect(described, items).text(), offset)

    @tool(then="Pass the whole text to check_design.")
    def draft_from_files(
        self, files: dict[str, str], table: str = "", name: str = "", offset: int = 0
    ) -> Excerpt:
        """A design file from the texts of other tools' files, by their names.

        CloudFormation, SAM and Terraform, serverless.yml, NoSQL Workbench, ElectroDB, other design
        files; several are merged. `table` names the table of models that do not say theirs.
        """
        from keyfold_workbench.adopt.merged_sources import merge
        from keyfold_workbench.adopt.sources.detection import read_texts

        if not files:
            raise KeyfoldError('give at least one file, as {"template.yaml": "Resources: ..."}')
        return excerpt(merge(read_texts(files, table=table), name=name).text(), offset)

    @tool(then="Ask the author the questions, and put what they say into it with answer.")
    def read_document(self, text: str, from_line: int = 1, offset: int = 0) -> ReadDocument:
        """What a design document in Markdown says: statements, questions and marks by line.

        `from_line` and `offset` ask for the rest of the lines and of the design file.
        """
        from keyfold.design.file import dumps
        from keyfold_workbench.adopt.document.design import design_of

        found = design_of(text, "document.md")
        marked = [line for line in sorted(found.reading.marks) if line >= from_line]
        lines, left = fitting([_line(found.reading, line) for line in marked], 0, HALF_BYTES)
        rest = None if left is None else marked[left]
        design = excerpt(dumps(found.schema), offset, HALF_BYTES)
        return ReadDocument(lines=lines, next_line=rest, design=design)

    @tool(then="Keep this text, and go on with the next question of read_document.")
    def answer(self, text: str, line: int, said: str) -> AnsweredDocument:
        """A design document with an answer to the question of a line.

        An answer is `entity NAME`, `yes`, `ignore`, or a statement in place of the line, as
        `Order: PK=ORDER#<orderId>, SK=META`. It is read at once; one that says nothing is refused.
        """
        from keyfold_workbench.adopt.document.answers import with_answer
        from keyfold_workbench.adopt.document.design import design_of

        answered = with_answer(text, line, said)
        added = answered.count("\n") - text.count("\n")
        reading = design_of(answered, "document.md").reading
        return AnsweredDocument(text=answered, line=_line(reading, line + added))


HALF_BYTES = 1_700
"""What lines, and the design beside them, may take of one answer."""


def _line(reading: DocumentReading, line: int) -> DocumentLine:
    return DocumentLine(
        line=line,
        mark=reading.marks.get(line, ""),
        statements=[str(said) for said in reading.statements if said.line == line],
        questions=reading.questions.get(line, []),
    )
