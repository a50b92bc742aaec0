"""DynamoDB's numbers: 38 significant digits between 1E-130 and 9.99...E+125, kept as text.

The canonical text is plain decimal notation without leading or trailing zeros, so two numbers
are equal exactly when their texts are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Context, Decimal

from keyfold_engine.errors import ValidationError
from keyfold_engine.limits import NUMBER_DIGITS, NUMBER_MAX_EXPONENT, NUMBER_MIN_EXPONENT

_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,37}").fullmatch
_NUMBER = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?", re.ASCII
).fullmatch

# Wide enough that a sum of any two numbers is exact before it is checked.
_EXACT = Context(prec=NUMBER_DIGITS + NUMBER_MAX_EXPONENT - NUMBER_MIN_EXPONENT + 2)

_OVERFLOW = (
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
)
_UNDERFLOW = (
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
)
_LARGEST_EXPONENT = 2**63 - 1
_LARGEST_DECIMAL_EXPONENT = 2**31 - 1


class TooManyDigits(ValidationError):
    """A number of valid magnitude with more digits than DynamoDB keeps."""


def normalise(text: str) -> str:
    """The canonical text of a number; raises DynamoDB's error for an invalid one."""
    if _PLAIN_INTEGER(text):
        return text
    sign, digits, exponent = _parts(text)
    return _plain(sign, digits, exponent)


def add(a: str, b: str) -> str:
    """The exact sum of two numbers, in canonical text."""
    if _PLAIN_INTEGER(a) and _PLAIN_INTEGER(b):
        return _result(str(int(a) + int(b)))
    return _result(str(_EXACT.add(Decimal(a), Decimal(b)) or 0))


def subtract(a: str, b: str) -> str:
    """The exact difference of two numbers, in canonical text."""
    if _PLAIN_INTEGER(a) and _PLAIN_INTEGER(b):
        return _result(str(int(a) - int(b)))
    return _result(str(_EXACT.subtract(Decimal(a), Decimal(b)) or 0))


def exact_sum(numbers: Iterable[int | float | Decimal]) -> Decimal:
    """The sum of numbers as DynamoDB stores them: exact, and refused beyond 38 digits.

    A float counts as the number that is stored for it: 0.1 is one tenth.
    """
    total = Decimal(0)
    for each in numbers:
        # repr is the shortest text that reads back as the same float.
        one = Decimal(repr(each)) if isinstance(each, float) else Decimal(each)
        total = _EXACT.add(total, one)
    return Decimal(_result(str(total or 0)))


def _result(text: str) -> str:
    try:
        return normalise(text)
    except TooManyDigits:
        # DynamoDB's message for a sum that it cannot store although its magnitude is valid.
        raise ValidationError(_OVERFLOW) from None


def significant(text: str) -> tuple[bool, str, int]:
    """Its sign, its significant digits, and the exponent of the first digit."""
    sign, digits, exponent = _parts(text)
    return sign == "-", digits, exponent + len(digits) - 1


def order_bytes(text: str) -> bytes:
    """Bytes that compare like the numbers; no encoding is a prefix of another."""
    negative, digits, exponent = significant(text)
    if digits == "0":
        return b"\x80"
    if len(digits) % 2:
        digits += "0"
    # Two digits per byte, from 1 to 100: the terminator 0 sorts below every pair.
    pairs = [int(digits[at : at + 2]) + 1 for at in range(0, len(digits), 2)]
    body = bytes([exponent - NUMBER_MIN_EXPONENT, *pairs, 0])
    if negative:
        return b"\x7f" + bytes(255 - byte for byte in body)
    return b"\x81" + body


def decimal_complaint(text: str) -> str | None:
    """The error, if any, for a number that is parsed like Java's BigDecimal.

    Exponent and scale have 32 bits, as has the magnitude that DynamoDB computes from them, which
    wraps round.
    """
    match = _NUMBER(text)
    if match is None:
        return _not_a_number(text)
    _sign, whole, fraction, power = match.groups(default="")
    exponent = _power(power, _LARGEST_DECIMAL_EXPONENT)
    if exponent is None or not _fits(len(fraction) - exponent, _LARGEST_DECIMAL_EXPONENT):
        return _not_a_number(text)
    digits = len((whole + fraction).lstrip("0")) or 1
    magnitude = (digits - len(fraction) + exponent + 2**31) % 2**32 - 2**31
    if magnitude > NUMBER_MAX_EXPONENT + 1:
        return _OVERFLOW
    return _UNDERFLOW if magnitude <= NUMBER_MIN_EXPONENT else None


def _not_a_number(text: str) -> str:
    detail = f": {text}" if text else ""
    return f"The parameter cannot be converted to a numeric value{detail}"


def _parts(text: str) -> tuple[str, str, int]:
    """Sign, digits without zeros at either end, and the exponent of the last digit."""
    match = _NUMBER(text)
    if match is None:
        raise ValidationError(_not_a_number(text))
    sign, whole, fraction, power = match.groups(default="")
    written = (whole + fraction).lstrip("0")
    digits = written.rstrip("0")
    power_of_ten = _power(power, _LARGEST_EXPONENT)
    if power_of_ten is None:
        raise ValidationError(_not_a_number(text))
    exponent = power_of_ten - len(fraction) + len(written) - len(digits)
    # Zero is measured by the exponent that it is written with.
    leading = exponent + max(len(digits), 1) - 1
    if leading > NUMBER_MAX_EXPONENT:
        raise ValidationError(_OVERFLOW)
    if leading < NUMBER_MIN_EXPONENT:
        raise ValidationError(_UNDERFLOW)
    if not digits:
        return "", "0", 0
    if len(digits) > NUMBER_DIGITS:
        raise TooManyDigits(
            f"Attempting to store more than {NUMBER_DIGITS} significant digits in a Number"
        )
    return ("-" if sign == "-" else ""), digits, exponent


def _power(text: str, largest: int) -> int | None:
    """An exponent; None if its absolute value is too large."""
    magnitude = text.lstrip("+-").lstrip("0")
    # Numbers of thousands of digits are not worth reading.
    if len(magnitude) > len(str(largest)):
        return None
    power = int(magnitude or "0") * (-1 if text.startswith("-") else 1)
    return power if _fits(power, largest) else None


def _fits(number: int, largest: int) -> bool:
    return -largest - 1 <= number <= largest


def _plain(sign: str, digits: str, exponent: int) -> str:
    if exponent >= 0:
        return sign + digits + "0" * exponent
    point = len(digits) + exponent
    if point > 0:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    return f"{sign}0.{'0' * -point}{digits}"
