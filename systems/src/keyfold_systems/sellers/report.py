"""A season's report: totals by product and by payment, as data, CSV and XLSX."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from decimal import Decimal
from xml.sax.saxutils import escape

from keyfold_web import Payload
from keyfold_systems.sellers.entities import Order, Season

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


def as_xlsx(table: Sequence[Sequence[Cell]], title: str = "Orders") -> bytes:
    """A workbook of one sheet: five small files in a zip, so nothing else is needed for it."""
    lines: list[str] = []
    for number, row in enumerate(table, 1):
        cells = "".join(_cell(f"{_column(place)}{number}", cell) for place, cell in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    sheet = f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
    name = escape(title[:31], {'"': "&quot;"})
    workbook = (
        f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>'
        f'<sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in (
            ("[Content_Types].xml", _CONTENT_TYPES),
            ("_rels/.rels", _relations("officeDocument", "xl/workbook.xml")),
            ("xl/workbook.xml", workbook),
            ("xl/_rels/workbook.xml.rels", _relations("worksheet", "worksheets/sheet1.xml")),
            ("xl/worksheets/sheet1.xml", sheet),
        ):
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), text)
    return out.getvalue()


def _cell(place: str, cell: Cell) -> str:
    if isinstance(cell, str):
        text = escape("".join(c for c in cell if c >= " " or c in "\t\n"))
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'


def _column(place: int) -> str:
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_CONTENT_TYPES = (
    f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/>'
    "</Types>"
)


def _relations(kind: str, target: str) -> str:
    return (
        f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_LINKS}/{kind}" Target="{target}"/></Relationships>'
    )
