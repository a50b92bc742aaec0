"""A relational schema and its queries as a draft of a design."""

from __future__ import annotations

import pytest

from keyfold_workbench.adopt.sql import design_from_sql
from keyfold.design.file import loads
from keyfold.errors import KeyfoldError
from keyfold.review.check import check

SHOP = """
CREATE TABLE customers (id uuid PRIMARY KEY, email text NOT NULL UNIQUE, name varchar(80));
CREATE TABLE orders (
  id bigserial PRIMARY KEY,
  customer_id uuid NOT NULL REFERENCES customers (id),
  status text NOT NULL CHECK (status IN ('new', 'paid')),
  due date,
  created_at timestamptz NOT NULL
);
CREATE TABLE products (id int PRIMARY KEY, title text, details jsonb);
CREATE TABLE order_lines (
  order_id bigint, product_id int, quantity int NOT NULL,
  PRIMARY KEY (order_id, product_id),
  FOREIGN KEY (order_id) REFERENCES orders (id),
  FOREIGN KEY (product_id) REFERENCES products (id)
);
"""
QUERIES = """\
120\tSELECT * FROM orders WHERE customer_id = $1 ORDER BY created_at DESC LIMIT 20
50\tSELECT * FROM orders WHERE status = $1 AND created_at > $2
9\tSELECT * FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.name LIKE $1
7\tSELECT * FROM orders WHERE due = $1
5\tSELECT * FROM customers WHERE id = $1
"""


def test_tables_become_entities_with_keys_references_and_values() -> None:
    design = loads(design_from_sql(SHOP))
    assert [one.name for one in design.entities] == ["Customer", "Order", "Product", "OrderLine"]
    order = design.by_entity["Order"]
    assert str(order.key) == "ORDER#{id} / ORDER"
    attributes = {one.name: one for one in order.attributes}
    assert attributes["customer_id"].refers == "Customer"
    assert attributes["status"].values == ("new", "paid")
    assert attributes["due"].optional
    line = design.by_entity["OrderLine"]
    assert str(line.key) == "ORDER#{order_id} / PRODUCT#{product_id}"


def test_queries_become_patterns_with_the_indexes_they_need() -> None:
    design = loads(design_from_sql(SHOP, QUERIES))
    newest = design.by_pattern["Order by customer_id, by created_at"]
    assert (newest.index, newest.descending, newest.limit) == ("GSI1", True, 20)
    ranged = design.by_pattern["Order by status, by created_at"]
    assert (ranged.index, ranged.condition.operator, ranged.paged) == ("GSI2", "ge", True)
    sparse = next(p for p in design.by_entity["Order"].placements if p.index == "GSI3")
    assert sparse.when is not None
    assert not [one for one in check(design).findings if one.severity == "error"]


def test_what_no_key_answers_is_asked() -> None:
    text = design_from_sql(SHOP, QUERIES)
    questions = [line for line in text.splitlines() if line.startswith("#")]
    assert any("joins customers" in one for one in questions)
    assert any("has a condition on name that no key can serve" in one for one in questions)
    assert any("No query reads Product, OrderLine" in one for one in questions)
    assert "Which queries does the application run?" in design_from_sql(SHOP)


def test_names_with_quotes_and_markup_stay_data() -> None:
    design = loads(design_from_sql('CREATE TABLE "we\'re: #1 {x}" ("a: b" text PRIMARY KEY)'))
    assert [one.name for one in design.entities] == ["WeRe1X"]


@pytest.mark.parametrize(
    ("ddl", "dialect", "words"),
    [
        ("CREATE TABLE (", "postgres", r"line 1, column \d+"),
        ("SELECT 1", "postgres", "no CREATE TABLE"),
        ("CREATE TABLE a (id int)", "klingon", "unknown SQL dialect 'klingon'"),
    ],
)
def test_bad_sql_is_refused_with_its_place(ddl: str, dialect: str, words: str) -> None:
    with pytest.raises(KeyfoldError, match=words):
        design_from_sql(ddl, dialect=dialect)
