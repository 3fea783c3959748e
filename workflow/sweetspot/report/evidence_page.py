"""All that supports the answer, as one self-contained HTML file: every figure with its basis, source and date."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup

from sweetspot.cells import BASES
from sweetspot.decision.texts import no_answer
from sweetspot.report import evidence_text
from sweetspot.report.chart_data import MODELS
from sweetspot.report.charts import CHARTS, Chart, in_words
from sweetspot.report.cited import Provenance
from sweetspot.report.draw import packed
from sweetspot.report.evidence_tables import EvidenceTables
from sweetspot.report.finished import asset, rendered
from sweetspot.report.marks import COLOURS
from sweetspot.report.notation import SHOWN, records
from sweetspot.report.outcome import outcome_of
from sweetspot.report.tables import (
    Tables,
    asked_model,
    bills_decide,
    leading,
    money_of,
    of_jobs,
    of_plans,
    shown_in,
    table_of,
    titles_of,
    unit_of,
)
from sweetspot.report.tables import in_words as currency_words
from sweetspot.report.tornado import tornado_chart, widest_bars
from sweetspot.study.study import Study
from sweetspot.wording import ROUNDS, Money, the

# The charts in dark mode: each colour that they are drawn with has one that is legible on dark paper. They hold colours
# as attributes (`fill`, `stroke`), which any rule of a style sheet outweighs. Files, and what is printed, keep theirs.
PAPER = "#15181c"  # as page.css has it
INK, SOFT = "#ffffff", "#b5bbc1"
# Far enough apart for whoever sees no red or no green: tests/report/test_colours.py computes how far.
SERIES = ["#3f8fd8", "#e0661a", "#1fb589", "#d58ab5", "#f2c14e", "#b5dcf7", INK]
DARK = {
    **dict(zip(COLOURS, SERIES, strict=True)),
    "#00694d": SERIES[2],  # an edge of what is within the limits
    **dict.fromkeys(("#000", "#111", "black"), INK), "white": PAPER, **dict.fromkeys(("#555", "#444"), SOFT),
    "#888": "#8a929a", "#e6e6e6": "#2f353b", "#ddd": "#3a4148",
}  # fmt: skip


class Drawn(NamedTuple):
    """Specification (Vega-Lite, as JSON text) by chart, and the script that draws them (`draw.drawing_engine`)."""

    specs: Mapping[str, str]
    engine: str = ""


def render_evidence(tables: Tables, study: Study, drawn: Drawn, machines: Mapping[str, str] | None = None) -> str:
    """The evidence. `machines`: names for people by instance.

    Text from tables and configuration is escaped by the template engine. Raises ValueError where a chart that has
    something to say was not drawn, or has no place in the template.
    """
    provenance, money = Provenance(), money_of(study)
    tables = shown_in(tables, money)
    builder = EvidenceTables(tables, study, provenance, machines)
    named_warnings = evidence_text.with_machine_names(table_of(tables, "warnings"), machines or {})
    figures = Figures(tables, drawn.specs, money)
    specs = (f"{json.dumps(name)}:{spec}" for name, spec in drawn.specs.items() if name in figures.names)
    writers = (evidence_text.price_changes_words, evidence_text.fits, evidence_text.waiting, evidence_text.ahead)
    context = {write.__name__: write(tables) for write in writers} | {
        "study": study,
        "figures": figures,
        "lead": evidence_text.lead(table_of(tables, "claims")),
        "verdict": outcome_of(tables),
        "plan": leading(tables),
        "phases_lead": leading(tables) == ROUNDS,
        "plan_worth": " ".join(evidence_text.plan_worth_in_words(tables, money.code)),
        "without_speed": evidence_text.without_speed(tables, machines or {}, study.model_title),
        "parts": builder.build_all(),
        "currency": "" if study.currency is None else study.currency.in_words(),
        "money": money.code,
        "counts": {name: len(table) for name, table in sorted(tables.items())},
        "claims_in_words": evidence_text.claims_in_words(table_of(tables, "claims")),
        "worth": evidence_text.worth_knowing(tables),
        "energy": evidence_text.energy(tables, study),
        "taken": evidence_text.has_interruptible(table_of(tables, "ranks")),
        "beside": evidence_text.beside(table_of(tables, "ranks")),
        "outside": evidence_text.outside(named_warnings),
        "warnings": evidence_text.warnings(evidence_text.decisive(named_warnings)),
        "signs": [(name, SHOWN[name].sign, SHOWN[name].meaning) for name in BASES],
        "owned": len(table_of(tables, "utilisation")) > 0,
        "unit": unit_of(tables),
        "no_answer": no_answer(len(table_of(tables, "offers")), len(table_of(tables, "throughput"))),
        "bills_decide": bills_decide(tables),
        "models": len(set(table_of(tables, "throughput").get("model", ()))),
        "models_shown": MODELS,
        "engine": drawn.engine,
        "specs": packed(f"{{{','.join(specs)}}}".encode()),
        "tornado": _job_tornado(tables),
        "plan_tornado": _plan_tornado(tables),
        "style": asset("page.css", "bars.css") + Markup(dark_rules()),
        "script": asset("charts.js"),
    }
    # Last, when every figure has been cited.
    context["origins"] = provenance.table()
    page = rendered("evidence", context)
    figures.require_all()
    return page


def _job_tornado(tables: Tables) -> Markup | str:
    """The assumptions of owning, for the model of the answer; empty where nothing is owned."""
    rows = of_jobs(tables, "tornado")
    rows = rows[rows["model"] == asked_model(tables)] if len(rows) else rows
    rows = rows[rows["swing"].notna()] if len(rows) else rows
    if rows.empty:
        return ""
    titles, row = titles_of(tables), records(rows.head(1))[0]
    runner_up = the(titles.get(str(row["rival"]), str(row["rival"])))
    return tornado_chart(widest_bars(records(rows)), "what is owned", runner_up, float(row["margin"]))


def _plan_tornado(tables: Tables) -> Markup | str:
    """The assumptions of the leading plan; empty without a plan."""
    rows = of_plans(tables, "tornado")
    rows = rows[(rows["workload"] == rows["workload"].iloc[0]) & rows["swing"].notna()] if len(rows) else rows
    if rows.empty:
        return ""
    best, runner_up = "the best mix", "the cheapest with a single source beside what you own"
    if leading(tables) == ROUNDS:
        best, runner_up = "the answer", "the second-cheapest"
    return tornado_chart(widest_bars(records(rows)), best, runner_up, float(rows["margin"].iloc[0]))


class Figures:
    """Puts the charts into the sections of the page, and knows which of them have not been put anywhere."""

    def __init__(self, tables: Tables, drawn: Mapping[str, str], money: Money) -> None:
        self._specs, self._unit, self._money = drawn, unit_of(tables), money
        self._missing = {name: chart for name, chart in CHARTS.items() if chart.has_content(tables)}

        self.names = frozenset(self._missing)

    def __call__(self, section: str) -> Markup:
        """The charts of a section, in their order; none twice. Raises ValueError for one that was not drawn."""
        names = [name for name, chart in self._missing.items() if chart.section == section]
        return Markup("\n").join(self._figure(name, self._missing.pop(name)) for name in names)

    def require_all(self) -> None:
        """Raises ValueError if a chart that has something to say stands nowhere."""
        for name, chart in self._missing.items():
            raise ValueError(f"chart {name}: the page has no place for section {chart.section!r}; see evidence.html.j2")

    def _figure(self, name: str, chart: Chart) -> Markup:
        if name not in self._specs:
            raise ValueError(f"chart {name}: figures/{name}.vl.json is missing from what the page was given")
        title, caption = (
            currency_words(in_words(words, self._unit, MODELS), self._money) for words in (chart.title, chart.caption)
        )
        return Markup(
            '<figure id="fig-{0}"><div class="chart" data-title="{1}"></div><figcaption>{2} '
            '<button type="button" hidden>SVG</button></figcaption></figure>'
        ).format(name, title, caption)


def dark_rules() -> str:
    """The style of charts on a screen whose reader prefers dark pages."""
    rules = (
        f'.chart svg [{paint}="{light}"]{{{paint}:{dark}}}'
        for light, dark in DARK.items()
        for paint in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme:dark){{{''.join(rules)}}}\n"
