"""How far intervals reach in a test: one width for all cells."""

from sweetspot.scaling.validation import Calibration


def one_width(half: float, nine_tenths: float, share: float = 1.0) -> Calibration:
    """Widths of the 50 % and 90 % intervals, in scales, of every class."""
    return Calibration({"": share}, {0.5: {"": half}, 0.9: {"": nine_tenths}})
