"""What all charts share, by hand: marks by basis, ticks, names in lines, legends, names at the ends of lines, keys."""

import pandas as pd
import pytest
from sweetspot.report.marks import log_axis, wrapped


def test_names_have_lines_of_at_most_32_letters():
    names = ["RTX 4090", "power of the bought server with 8 B200 SXM", "a" * 40]
    lines = ["RTX 4090", "power of the bought server with\n8 B200 SXM", "a" * 32 + "\n" + "a" * 8]
    assert wrapped(pd.Series(names)).tolist() == lines


@pytest.mark.parametrize(("ends", "ticks"), [
    ((3.0, 3.4), [3, 3.1, 3.2, 3.3, 3.4]),  # evenly spaced where the highest is less than five times the lowest
    ((3.0, 3.5), [3, 3.2, 3.4, 3.6]), ((2.0, 8.0), [2, 4, 6, 8]),
    ((2.0, 40.0), [1, 3, 10, 30, 100, 300]), ((5.0, 5.0), [5])
])  # fmt: skip
def test_a_logarithmic_axis_has_round_ticks(ends, ticks):
    assert log_axis(pd.Series(ends)).to_dict()["values"] == pytest.approx(ticks)
