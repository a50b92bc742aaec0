"""A season's report: totals by product and by payment, as data and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

from keyfold_systems.sellers.entities import Order, Season
from keyfold_web import Payload

Cell = str | int | Decimal
_CENT = Decimal("0.01")


class ProductTotal(Payload):
    """What was sold of one product."""

    product_id: str
    product_name: str
    quantity: int
    amount: Decimal


class PaymentTotal(Payload):
    """What was paid in one way."""

    payment_method: str
    orders: int
    amount: Decimal


class SeasonReport(Payload):
    """What a season brought."""

    season_id: str
    season_name: str
    orders: int
    total_amount: Decimal
    by_product: list[ProductTotal]
    by_payment: list[PaymentTotal]


def season_report(season: Season, orders: Sequence[Order]) -> SeasonReport:
    """Totals over all orders of a season."""
    products: dict[str, tuple[str, int, Decimal]] = {}
    payments: dict[str, tuple[int, Decimal]] = {}
    for order in orders:
        count, paid = payments.get(order.payment_method, (0, Decimal(0)))
        payments[order.payment_method] = (count + 1, paid + order.total_amount)
        for line in order.line_items:
            _, sold, amount = products.get(line.product_id, ("", 0, Decimal(0)))
            products[line.product_id] = (
                line.product_name,
                sold + line.quantity,
                amount + line.subtotal,
            )
    return SeasonReport(
        season_id=season.season_id,
        season_name=season.season_name,
        orders=len(orders),
        total_amount=sum((order.total_amount for order in orders), Decimal(0)),
        by_product=[
            ProductTotal(product_id=key, product_name=name, quantity=sold, amount=amount)
            for key, (name, sold, amount) in sorted(products.items())
        ],
        by_payment=[
            PaymentTotal(payment_method=method, orders=count, amount=amount)
            for method, (count, amount) in sorted(payments.items())
        ],
    )


_HEADING = (
    "Season",
    "Order date",
    "Customer",
    "Phone",
    "Product",
    "Quantity",
    "Unit price",
    "Amount",
    "Payment",
    "Notes",
)


def rows(season: Season, orders: Iterable[Order]) -> list[list[Cell]]:
    """One row for each line item, with a heading."""
    found: list[list[Cell]] = [list(_HEADING)]
    for order in orders:
        for line in order.line_items:
            found.append(
                [
                    season.season_name,
                    order.order_date.isoformat(),
                    order.customer_name,
                    order.customer_phone or "",
                    line.product_name,
                    line.quantity,
                    line.price_per_unit.quantize(_CENT),
                    line.subtotal.quantize(_CENT),
                    order.payment_method,
                    order.notes or "",
                ]
            )
    return found


def as_csv(table: Sequence[Sequence[Cell]]) -> bytes:
    """UTF-8 with a byte order mark, as spreadsheets expect it."""
    out = io.StringIO()
    csv.writer(out).writerows([_safe(cell) for cell in row] for row in table)
    return out.getvalue().encode("utf-8-sig")


def _safe(cell: Cell) -> Cell:
    """Text that a spreadsheet would run as a formula is shown as text."""
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{cell}"
    return cell
