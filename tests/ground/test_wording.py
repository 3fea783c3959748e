"""How sure, and how much, in words."""

import pytest
from sweetspot.wording import amount, confidence, percent


@pytest.mark.parametrize(
    ("probability", "words", "share"),
    [(0.95, "clear", "95 %"), (0.949, "likely", "95 %"), (0.8, "likely", "80 %"), (0.799, "too close to call", "80 %"),
     (0.99, "clear", "99 %"), (0.991, "clear", "over 99 %"), (0.01, "too close to call", "1 %"),
     (0.009, "too close to call", "under 1 %")],
)  # fmt: skip
def test_certainty_in_words(probability, words, share):
    assert (confidence(probability), percent(probability)) == (words, share)


def test_an_amount_has_three_figures():
    assert [amount(value) for value in (0.2241, 79.12, 99.94, 100.0, -250.4, 14_234.4)] == [
        "0.224", "79.1", "99.9", "100", "-250", "14,234"
    ]  # fmt: skip
