"""The tornado: how far each assumption moves the cost ratio of the runner-up to the best, on both pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sweetspot.report.notation import Row
from sweetspot.wording import amount, times

MIN_SWING = 0.005  # of the ratio: assumptions that move it less and change nothing have no bar
MAX_BARS = 10
MIN_WIDTH = 0.8  # per cent of the track, so that a bar which moves nothing is visible


@dataclass(frozen=True)
class TornadoBar:
    """One assumption: the cost ratio at its low and high end, its range in words, and where the best changes."""

    assumption: str
    ratio_low: float
    ratio_high: float
    range_text: str = ""
    threshold: str = ""


def bar_of(row: Row, threshold: str = "") -> TornadoBar:
    """The bar of a row of the tornado's table."""
    low, high = (amount(float(row[name])) for name in ("low", "high"))
    range_text = f"{low} to {high} {row['unit']}"
    name = str(row["assumption"])
    return TornadoBar(name, float(row["margin_low"]), float(row["margin_high"]), range_text, threshold)


def widest_bars(rows: Sequence[Row]) -> list[TornadoBar]:
    """Bars of at most MAX_BARS assumptions, the widest first; what moves nothing has none."""
    moving = [row for row in rows if row["swing"] > MIN_SWING or bool(row["flips"])]
    return [bar_of(row) for row in sorted(moving, key=lambda row: -row["swing"])[:MAX_BARS]]


def tornado_chart(bars: Sequence[TornadoBar], best: str, runner_up: str, baseline: float, note: str = "") -> Markup:
    """Draw the bars on one axis of the cost ratio.

    Parameters
    ----------
    bars
        The assumptions, in order.
    best, runner_up
        What is cheaper right and left of the line at a ratio of 1.
    baseline
        The ratio as planned; a thin line stands there.
    note
        A sentence before the explanation.
    """
    ratios = [ratio for bar in bars for ratio in (bar.ratio_low, bar.ratio_high)]
    minimum, maximum = min(1.0, baseline, *ratios), max(1.0, baseline, *ratios)
    span = (maximum - minimum) or 1.0

    def percent(ratio: float) -> float:
        return 100 * (ratio - minimum) / span

    rows = []
    for bar in bars:
        low, high = sorted((bar.ratio_low, bar.ratio_high))
        offset, width = percent(low), max(MIN_WIDTH, percent(high) - percent(low))
        rows.append(
            Markup(
                '<div class="bar"><span>{} <em>{}</em></span><div class="track"><i style="left:{}%;width:{}%"></i>'
                '<s style="left:{}%"></s><u style="left:{}%"></u></div><small>{}</small></div>'
            ).format(
                bar.assumption,
                bar.range_text,
                f"{offset:.4g}",
                f"{width:.4g}",
                f"{percent(baseline):.4g}",
                f"{percent(1.0):.4g}",
                bar.threshold,
            )
        )
    sides = f"Left of the line {runner_up} is cheaper"
    if best == runner_up:
        sides = "At the line both cost the same"
    axis = Markup('<div class="bar ends"><span>times as much</span><div><b>{}</b><b>{}</b></div></div>').format(
        times(minimum), times(maximum)
    )
    return Markup(
        '<div class="bars"><p class="soft">{}Each bar moves one figure from low to high. {}. Thin line: as planned.</p>'
        "{}{}</div>"
    ).format(f"{note} " if note else "", sides, Markup("").join(rows), axis)
