"""How sure, and how much, in words."""

import pytest
from sweetspot.wording import amount, confidence, money, percent, times


@pytest.mark.parametrize(
    ("probability", "words", "share"),
    [(0.95, "clear", "95 %"), (0.949, "likely", "95 %"), (0.8, "likely", "80 %"), (0.799, "too close to call", "80 %"),
     (0.99, "clear", "99 %"), (0.991, "clear", "over 99 %"), (0.01, "too close to call", "1 %"),
     (0.009, "too close to call", "under 1 %")]
)  # fmt: skip
def test_certainty_in_words(probability, words, share):
    assert (confidence(probability), percent(probability)) == (words, share)


def test_an_amount_has_three_figures():
    assert [amount(value) for value in (0.2241, 79.12, 99.94, 100.0, -250.4, 14_234.4)] == [
        "0.224", "79.1", "99.9", "100", "-250", "14,234"
    ]  # fmt: skip


def test_money_is_whole_from_100_on_and_has_cents_from_a_tenth():
    assert [money(usd) for usd in (1234.5, 100.0, 99.94, 10.0, 9.994, 0.1, 0.0994, 0.0012)] == [
        "1,234", "100", "99.9", "10.0", "9.99", "0.10", "0.099", "0.0012"
    ]  # fmt: skip


def test_how_many_times_has_three_figures_near_1_alone():
    assert [times(factor) for factor in (1234.4, 10.0, 9.94, 1.34, 1.11, 1.05, 0.95, 0.88, 0.234)] == [
        "1,234", "10", "9.9", "1.3", "1.1", "1.05", "0.95", "0.88", "0.23"
    ]  # fmt: skip
