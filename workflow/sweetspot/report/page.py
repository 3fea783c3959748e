"""The page: the answer on one screen and what supports it; all else is in evidence.html beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweetspot.files import write_whole
from sweetspot.report.answer_file import Answer, answer_of
from sweetspot.report.draw import chart_of
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.finished import asset, rendered
from sweetspot.report.how_sure import mark_of
from sweetspot.report.outcome import Figure
from sweetspot.report.scales import Axis, cost_axis, separate_labels
from sweetspot.report.summary import summary_of
from sweetspot.report.tables import Tables
from sweetspot.report.tornado import tornado_chart
from sweetspot.study.study import Study, load_study
from sweetspot.wording import Money

WIDTH, HEIGHT, MARGIN, RIGHT, TOP, BOTTOM = 440, 250, 52, 60, 24, 34  # pixels of the chart of costs by work
LABEL_GAP = 15  # pixels between the names of two lines
HEADROOM = 1.05  # times the highest point


@dataclass(frozen=True)
class CostBar:
    """A bar of a chart of costs, in the study's currency."""

    title: str
    kind: str
    note: str
    is_best: bool
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Curve:
    """A line of the chart of costs by work: points in pixels, and where its name stands."""

    kind: str
    points: list[tuple[str, str]]
    band: list[tuple[str, str]]
    label_y: float


def render_page(tables: Tables, study: Study, workloads: str | Path | None = None) -> str:
    """Return index.html of a study; arguments and errors are those of `answer_of`."""
    return page_of(answer_of(tables, study, workloads))


def page_of(answer: Answer) -> str:
    """Return index.html, all of which follows from the answer."""
    money = Money(answer.study.currency, answer.study.usd_per_unit)
    choices, scenarios = _choice_bars(answer, money), _scenario_bars(answer, money)
    bars = answer.tornado
    context = {
        "answer": answer,
        "verdict": answer.verdict,
        "money": money,
        "choices": choices,
        "choice_axis": cost_axis([(bar.value, bar.high) for bar in choices]),
        "scenarios": scenarios,
        "scenario_axis": cost_axis([(bar.value, bar.high) for bar in scenarios]),
        "scenarios_by_month": all(row.usd_per_month is not None for row in answer.scenarios),
        "tornado": tornado_chart(bars.bars, bars.best, bars.runner_up, bars.ratio, money) if bars else "",
        **_curves(answer, money),
        "style": asset("first.css", "bars.css"),
    }
    return rendered("page", context)


def _bar(title: str, kind: str, note: str, is_best: bool, usd: Figure, usd_per_unit: float) -> CostBar:
    value, low, high = (None if end is None else end / usd_per_unit for end in (usd.value, usd.low, usd.high))
    return CostBar(title, kind, note, is_best, value or 0.0, low, high)


def _choice_bars(answer: Answer, money: Money) -> list[CostBar]:
    if answer.verdict is None:
        return []
    best = answer.verdict.best.choice
    return [
        _bar(
            row.title,
            row.kind,
            mark_of(row.speed_bases).strip(" ()") if row.why_not is None else row.why_not,
            row.choice == best,
            row.usd,
            money.usd_per_unit,
        )
        for row in answer.choices
    ]


def _scenario_bars(answer: Answer, money: Money) -> list[CostBar]:
    """Return a bar a scenario: of a month where every scenario has months, else of all."""
    by_month = all(row.usd_per_month is not None for row in answer.scenarios)
    bars = []
    for row in answer.scenarios:
        months = row.usd.value / row.usd_per_month if by_month and row.usd.value and row.usd_per_month else 1.0
        title = row.title if not row.name else f"{row.title}: {row.best_title}"
        bars.append(_bar(title, row.kind, "", not row.same_answer, row.usd, money.usd_per_unit * months))
    return bars


def _curves(answer: Answer, money: Money) -> dict[str, object]:
    """Return axes and lines of the chart of when buying pays; `curves` is empty without it."""
    pays = answer.buying_pays
    if pays is None:
        return {"curves": [], "x": Axis(0, 1), "y": Axis(0, 1)}
    highest = max(max([*line.usd, *line.high]) for line in pays.lines) / money.usd_per_unit
    x = Axis(0.0, max(pays.lines[0].x), MARGIN, WIDTH - RIGHT)
    y = Axis(0.0, HEADROOM * highest, HEIGHT - BOTTOM, TOP)

    def points(line_x: Sequence[float], usd: Sequence[float]) -> list[tuple[str, str]]:
        return [(x.at(at), y.at(cost / money.usd_per_unit)) for at, cost in zip(line_x, usd, strict=True)]

    label_heights = [float(y.at(line.usd[-1] / money.usd_per_unit)) for line in pays.lines]
    curves = [
        Curve(
            kind=line.kind,
            points=points(line.x, line.usd),
            band=[*points(line.x, line.high), *reversed(points(line.x, line.low))] if line.high else [],
            label_y=label_y,
        )
        for line, label_y in zip(pays.lines, separate_labels(label_heights, LABEL_GAP), strict=True)
    ]
    return {"curves": curves, "x": x, "y": y}


def write_report(
    tables: Tables,
    study_file: str | Path,
    folder: str | Path,
    specs: Sequence[str | Path],
    machines: Mapping[str, str] | None = None,
    engine: str | Path | None = None,
    workloads: str | Path | None = None,
) -> None:
    """Write index.html, evidence.html, summary.md and answer.json.

    Parameters
    ----------
    tables
        Tables of the study by name.
    study_file
        Its study.yaml.
    folder
        Where the four files are written.
    specs
        Files of the charts of the evidence, as `draw.draw_figures` wrote them.
    machines
        Names for people by instance.
    engine
        The script that draws the charts in a browser; None leaves it out.
    workloads
        workloads.yaml, for what the team's own record says.

    Raises
    ------
    UserError
        If study.yaml or workloads.yaml is broken.
    """
    study, target = load_study(Path(study_file).parent), Path(folder)
    answer = answer_of(tables, study, workloads)
    charts = Drawn(
        {chart_of(file): Path(file).read_text(encoding="utf-8") for file in specs},
        Path(engine).read_text(encoding="utf-8") if engine else "",
    )
    for name, text in (
        ("index.html", page_of(answer)),
        ("evidence.html", render_evidence(tables, study, charts, machines)),
        ("summary.md", summary_of(answer, tables, study)),
        ("answer.json", answer.model_dump_json(indent=1) + "\n"),
    ):
        with write_whole(target / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
