from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.errors import ValidationError
from keyfold_engine.values.number import (
    add,
    decimal_complaint,
    exact_sum,
    normalise,
    order_bytes,
    subtract,
)


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Texts of valid numbers, in every notation."""
    digits = draw(st.text("0123456789", min_size=1, max_size=38)).lstrip("0") or "0"
    sign = draw(st.sampled_from(("", "-", "+")))
    # The first digit's exponent must stay between -130 and 125.
    exponent = draw(st.integers(-130, 125)) - (len(digits) - 1)
    if draw(st.booleans()) and -30 < exponent < 0 and len(digits) > -exponent:
        return f"{sign}{digits[:exponent]}.{digits[exponent:]}"
    return f"{sign}{digits}E{exponent:+d}" if exponent else sign + digits


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0.000", "0"),
        ("0E125", "0"),
        ("00042", "42"),
        ("+1.50", "1.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1.5E2", "150"),
        ("-12.300", "-12.3"),
        ("1e-3", "0.001"),
        ("1E-130", "0." + "0" * 129 + "1"),
        ("9.9E+125", "99" + "0" * 124),
    ],
)
def test_numbers_have_one_canonical_text(text: str, canonical: str) -> None:
    assert normalise(text) == canonical


@pytest.mark.parametrize(
    "text", ["abc", "1.2.3", "--1", "e5", ".", "1e", "0x10", " 1", "1 ", "NaN"]
)
def test_texts_that_are_no_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        normalise(text)
    assert caught.value.message == f"The parameter cannot be converted to a numeric value: {text}"


def test_an_empty_number_is_refused_without_quoting_it() -> None:
    with pytest.raises(ValidationError) as caught:
        normalise("")
    assert caught.value.message == "The parameter cannot be converted to a numeric value"


@pytest.mark.parametrize("text", ["1E+126", "-1E126", "1" + "0" * 126, "1E9999999999", "0E126"])
def test_numbers_too_large_overflow(text: str) -> None:
    with pytest.raises(ValidationError, match=r"^Number overflow. Attempting to store a number"):
        normalise(text)


@pytest.mark.parametrize("text", ["1E-131", "-0." + "0" * 130 + "1", "1E-9999999999", "0E-131"])
def test_numbers_too_small_underflow(text: str) -> None:
    with pytest.raises(ValidationError, match=r"^Number underflow. Attempting to store a number"):
        normalise(text)


def test_more_than_38_digits_are_refused_and_zeros_at_the_ends_do_not_count() -> None:
    assert normalise("0" * 50 + "1" * 38 + "0" * 50) == "1" * 38 + "0" * 50
    with pytest.raises(ValidationError) as caught:
        normalise("1" * 39)
    assert caught.value.message == "Attempting to store more than 38 significant digits in a Number"


@given(numbers())
def test_normalising_keeps_the_value_and_is_idempotent(text: str) -> None:
    canonical = normalise(text)
    assert Decimal(canonical) == Decimal(text)
    assert normalise(canonical) == canonical


@given(numbers(), numbers())
def test_equal_values_have_equal_texts(a: str, b: str) -> None:
    assert (normalise(a) == normalise(b)) == (Decimal(a) == Decimal(b))


@given(numbers(), numbers())
def test_order_bytes_compare_as_the_numbers_do(a: str, b: str) -> None:
    assert (order_bytes(a) < order_bytes(b)) == (Decimal(a) < Decimal(b))
    assert (order_bytes(a) == order_bytes(b)) == (Decimal(a) == Decimal(b))


@given(numbers(), numbers())
def test_no_order_encoding_is_a_prefix_of_another(a: str, b: str) -> None:
    if Decimal(a) != Decimal(b):
        assert not order_bytes(a).startswith(order_bytes(b))


@given(st.integers(-(10**37), 10**37), st.integers(-(10**37), 10**37))
def test_sums_and_differences_of_integers_are_exact(a: int, b: int) -> None:
    assert add(str(a), str(b)) == str(a + b)
    assert subtract(str(a), str(b)) == str(a - b)


def test_a_sum_that_needs_more_than_38_digits_is_refused() -> None:
    with pytest.raises(ValidationError, match="Number overflow"):
        add("1E30", "1E-30")


def test_a_sum_of_decimals_is_exact() -> None:
    assert add("0.1", "0.2") == "0.3"
    assert subtract("0.3", "0.1") == "0.2"


def test_exponents_have_64_bits() -> None:
    assert _complaint("1e9223372036854775807").startswith("Number overflow")
    text = "1e9223372036854775808"
    assert _complaint(text) == f"The parameter cannot be converted to a numeric value: {text}"


def _complaint(text: str) -> str:
    with pytest.raises(ValidationError) as caught:
        normalise(text)
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1e125", None),
        ("1e126", "Number overflow"),
        ("1e-130", None),
        ("1e-131", "Number underflow"),
        ("0e126", "Number overflow"),
        ("1e2147483646", "Number overflow"),
        # Its magnitude, one more than the exponent, wraps round.
        ("1e2147483647", "Number underflow"),
        ("1e2147483648", "The parameter cannot be converted to a numeric value: 1e2147483648"),
        ("1.5e-2147483648", "The parameter cannot be converted to a numeric value"),
        ("", "The parameter cannot be converted to a numeric value"),
    ],
)
def test_numbers_as_javas_bigdecimal_reads_them(text: str, complaint: str | None) -> None:
    found = decimal_complaint(text)
    assert found is None if complaint is None else str(found).startswith(complaint)


def test_a_difference_of_nothing_is_zero_however_small_its_parts() -> None:
    small = "1." + "1" * 37 + "E-130"
    assert subtract(normalise(small), normalise(small)) == "0"


def test_ten_tenths_are_one_as_floats_too() -> None:
    assert exact_sum([0.1] * 10) == Decimal(1)
    assert str(exact_sum([0.1] * 3)) == "0.3"


def test_a_small_amount_is_not_lost_beside_a_large_one() -> None:
    assert exact_sum([Decimal("1e29"), 1]) == 10**29 + 1
    assert exact_sum([Decimal("1e37"), 1, Decimal("-1e37")]) == 1
    assert exact_sum([]) == 0


@pytest.mark.parametrize("numbers", [[10**38, Decimal("0.1")], [Decimal("9e125")] * 2])
def test_a_sum_that_dynamodb_could_not_store_is_refused(numbers: list[int | Decimal]) -> None:
    with pytest.raises(ValidationError, match="overflow"):
        exact_sum(numbers)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_has_no_sum(number: float) -> None:
    with pytest.raises(ValidationError, match="numeric value"):
        exact_sum([number])


@given(st.lists(st.integers(-(10**30), 10**30) | st.floats(-1e20, 1e20, allow_subnormal=False)))
def test_the_order_of_a_sum_does_not_matter(numbers: list[int | float]) -> None:
    try:
        total = exact_sum(numbers)
    except ValidationError:
        return
    assert exact_sum(reversed(numbers)) == total
