"""The MCP tools `read_document` and `answer`."""

import pytest

from keyfold.errors import KeyfoldError
from keyfold_workbench.mcp.draft_tools import DraftTools
from keyfold_workbench.mcp.workspace import Workspace

DOCUMENT = """# Shop

| Entity | PK | SK |
|---|---|---|
| Order | `ORDER#<orderId>` | `META` |
| Line | `ORDER#<orderId>` or `BOX#<boxId>` | `LINE#<n>` |
"""


@pytest.fixture
def tools() -> DraftTools:
    return DraftTools(Workspace.__new__(Workspace))


def test_a_document_is_read_by_line(tools: DraftTools) -> None:
    found = tools.read_document(DOCUMENT)
    assert [(line.line, line.mark) for line in found.lines] == [(5, "read"), (6, "question")]
    assert found.lines[0].statements == [
        "Order: PK = ORDER#<orderId>",
        "Order: SK = META",
    ]
    assert "ORDER#{orderId}" in found.design.text


def test_an_answer_is_read_at_once(tools: DraftTools) -> None:
    found = tools.answer(DOCUMENT, 6, "Line: PK=BOX#<boxId>, SK=LINE#<n>")
    assert found.line.mark == "read"
    assert found.line.questions == []
    assert tools.read_document(found.text).lines[1].statements == found.line.statements


def test_an_answer_that_says_nothing_is_refused(tools: DraftTools) -> None:
    with pytest.raises(KeyfoldError, match="unknown answer 'perhaps'"):
        tools.answer(DOCUMENT, 6, "perhaps")
