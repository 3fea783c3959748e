"""The page: the answer on one screen and what supports it; all else is in evidence.html beside it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from sweetspot.files import write_text
from sweetspot.report.answer_file import Answer, answer_of, to_json
from sweetspot.report.draw import chart_of
from sweetspot.report.evidence_page import render_evidence
from sweetspot.report.finished import asset
from sweetspot.report.how_sure import mark_of
from sweetspot.report.notation import BASIS_FACTS
from sweetspot.report.scales import Axis, cost_axis
from sweetspot.report.sentences import filled, sentence
from sweetspot.report.tables import Tables
from sweetspot.report.tornado import tornado_chart
from sweetspot.study.study import load_study
from sweetspot.wording import Money

# A chart of costs along a control: pixels from the left, and from the top.
X_PIXELS, Y_PIXELS = (52.0, 424.0), (196.0, 20.0)
HEADROOM = 1.05  # times the highest point


def summary_of(answer: Answer) -> str:
    """Return the Markdown text of summary.md, the answer to paste into a message, from the answer alone."""
    money = Money(answer.study.currency, answer.study.usd_per_unit)
    weak_speeds = [mark_of(row.speed_bases) for row in answer.choices]
    return filled("summary.md.j2", {"answer": answer, "verdict": answer.verdict, "money": money, "marks": weak_speeds})


def page_of(answer: Answer) -> str:
    """Return the HTML text of index.html, the study's first page, from the answer alone: nothing is computed there."""
    money, verdict, bars = Money(answer.study.currency, answer.study.usd_per_unit), answer.verdict, answer.tornado
    by_month = all(row.usd_per_month.value is not None for row in answer.scenarios)
    scenarios = [row.usd_per_month if by_month else row.usd for row in answer.scenarios]
    compared_usd = max(verdict.usd, verdict.rival_usd or 0.0) if verdict else 0.0
    bases = {speed.basis for speed in answer.speeds}
    runner_up = sentence("tornado_runner_up", bars, verdict) if bars else ""
    context = {
        "answer": answer,
        "verdict": verdict,
        "money": money,
        "marks": [mark_of(row.speed_bases) for row in answer.choices],
        "speed_bases": [facts.word for basis, facts in BASIS_FACTS.items() if basis in bases],
        "choice_axis": cost_axis([row.usd for row in answer.choices], compared_usd, money),
        "scenarios": scenarios,
        "scenario_axis": cost_axis(scenarios, math.inf, money),
        "scenarios_by_month": by_month,
        "tornado": tornado_chart(bars.bars, bars.best, runner_up, bars.ratio, money) if bars else "",
        "style": asset("first.css", "bars.css"),
        "script": asset("what_if.js"),
        "sweep_axes": _curve_axes(answer, money),
    }
    return filled("page.html.j2", context)


def _curve_axes(answer: Answer, money: Money) -> list[tuple[Axis, Axis]]:
    """Return (x axis, y axis), in pixels, of the page's chart of costs along each control (sweep) of the answer. The y
    axis is in the currency `money`.
    """
    axes = []
    for sweep in answer.sweeps:
        highest = max(max([*line.usd, *line.high]) for line in sweep.lines)
        axes.append((Axis(0.0, len(sweep.values) - 1, *X_PIXELS), Axis(0.0, HEADROOM * money.of(highest), *Y_PIXELS)))
    return axes


def write_report(
    tables: Tables,
    study_file: str | Path,
    folder: str | Path,
    specs: Sequence[str | Path],
    machines: Mapping[str, str] | None = None,
    engine: str | Path | None = None,
) -> None:
    """Write the report of a study, which people read: index.html, evidence.html, summary.md and answer.json. The rule
    `render_report` calls it. Raises UserError if study.yaml is broken.

    Parameters
    ----------
    tables, study_file, folder, machines
        Result tables by name, in USD; path of study.yaml; folder for the four files; titles by instance.
    specs, engine
        Files of the charts of the evidence, as `draw.draw_figures` wrote them; file with the script that draws the
        charts in a browser (None: no script is included).
    """
    study = load_study(Path(study_file).parent)
    answer = answer_of(tables, study)
    charts = {chart_of(file): Path(file).read_text(encoding="utf-8") for file in specs}
    script = Path(engine).read_text(encoding="utf-8") if engine else ""
    for name, text in (
        ("index.html", page_of(answer)),
        ("evidence.html", render_evidence(tables, study, charts, script, machines)),
        ("summary.md", summary_of(answer)),
        ("answer.json", to_json(answer)),
    ):
        write_text(Path(folder) / name, text)
