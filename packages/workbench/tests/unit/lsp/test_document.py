"""The language server on a design document: its questions and contradictions at their lines."""

from keyfold_workbench.lsp.analysis import analyse_document

DOCUMENT = """# Shop

| Entity | PK | SK |
|---|---|---|
| Order | `ORDER#<orderId>` | `META` |
| Line | `ORDER#<id>` or `BOX#<id>` | `LINE` |
| Order | `BUY#<orderId>` | `META` |

We once had CART#<cartId> items.
"""


def test_lines_that_are_not_simply_read_are_marked() -> None:
    found = analyse_document(DOCUMENT, "DESIGN.md").problems
    assert [(each.place.line, each.severity) for each in found] == [
        (6, "note"),
        (7, "warning"),
        (9, "question"),
    ]


def test_another_document_has_no_marks() -> None:
    assert (
        analyse_document("# Notes\n\nQuery the database by PK = id.\n", "NOTES.md").problems == ()
    )


def test_a_wrong_answer_is_an_error_at_its_line() -> None:
    text = DOCUMENT + "\n- Box: PK=BOX#<id> <!-- keyfold: perhaps -->\n"
    [problem] = analyse_document(text, "DESIGN.md").problems
    assert (problem.place.line, problem.severity) == (11, "error")
