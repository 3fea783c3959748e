"""Numbers as people type them: decimal commas, exponents and thousands."""

import pytest
from sweetspot.errors import UserError
from sweetspot.number_text import parse_number


@pytest.mark.parametrize(
    ("text", "value"),
    [("1200", 1200.0), ("1.5", 1.5), ("14,30", 14.3), ("0,5", 0.5), ("2.8e8", 280_000_000.0), ("1,5e7", 15_000_000.0),
     ("1,5", 1.5),  # a decimal comma: groups of thousands have three digits
     ("0,500", 0.5),  # no thousands begin with a 0
     ("1E3", 1000.0), ("1,234,567", 1_234_567.0), ("1,234.5", 1234.5), ("1.234,5", 1234.5),
     ("1.234.567,8", 1_234_567.8), ("21900,75", 21900.75), (" 7 ", 7.0), (".25", 0.25), ("5.", 5.0), ("-3", -3.0)]
)  # fmt: skip
def test_a_number_is_read_as_it_is_meant(text: str, value: float) -> None:
    assert parse_number(text, "--rate") == value


@pytest.mark.parametrize("text", ["1,500", "21,900", "1,500e3", "-1,500"])
def test_a_comma_before_three_digits_is_ambiguous(text: str) -> None:
    with pytest.raises(UserError, match="two ways"):
        parse_number(text, "--rate")


@pytest.mark.parametrize(
    "text", ["", "x", "1 000", "1_000", "nan", "inf", "1e999", "1,2,3", "12,34,567", "1.2.3", "1,,5", "1e", "²", "٣x"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--rate"):
        parse_number(text, "--rate")
