"""All that supports the answer, as one self-contained HTML file: every figure with its basis, source and date."""

import json
from collections.abc import Mapping

from sweetspot.cells import BASES
from sweetspot.report import evidence_text
from sweetspot.report.chart_data import MODELS
from sweetspot.report.charts import CHARTS, SECTIONS
from sweetspot.report.cited import Provenance
from sweetspot.report.decision_text import with_text
from sweetspot.report.draw import packed
from sweetspot.report.evidence_tables import EvidenceTables
from sweetspot.report.finished import asset
from sweetspot.report.notation import BASIS_FACTS
from sweetspot.report.outcome import outcome_of
from sweetspot.report.sentences import filled, sentence
from sweetspot.report.tables import Tables, bills_decide, leading, money_of, shown_in, table_of, unit_of
from sweetspot.study.study import Study
from sweetspot.wording import ROUNDS


def render_evidence(
    tables: Tables, study: Study, specs: Mapping[str, str], engine: str = "", machines: Mapping[str, str] | None = None
) -> str:
    """Return the HTML text of evidence.html: all figures behind a study's answer, each with its source.

    Parameters
    ----------
    tables, study, machines
        Result tables of the study by name, in USD; the settings of its study.yaml; titles by instance.
    specs, engine
        Vega-Lite JSON text by chart name, and the script of `draw.drawing_engine` to draw them. Raises ValueError if a
        chart that has content is missing.
    """
    money, provenance, machines = money_of(study), Provenance(), machines or {}
    verdict, tables = outcome_of(tables), shown_in(with_text(tables), money)
    throughput = table_of(tables, "throughput", "model")
    ranks = table_of(tables, "ranks", "title", "in_answer", "persistent")
    bracketed = ranks.loc[ranks["title"].astype(str).str.endswith("]"), "in_answer"]  # of other price lists
    charts = [chart.worded(unit_of(tables), money) for chart in CHARTS.values() if chart.has_content(tables)]
    for chart in charts:
        if chart.name not in specs:
            raise ValueError(f"chart {chart.name}: figures/{chart.name}.vl.json is missing")
    all_specs = ",".join(f"{json.dumps(chart.name)}:{specs[chart.name]}" for chart in charts)
    of_tables = (
        evidence_text.price_changes_words, evidence_text.ahead, evidence_text.claims_in_words,
        evidence_text.worth_knowing, bills_decide, unit_of,
    )  # fmt: skip
    parts = EvidenceTables(tables, study, provenance, machines).build_all()
    context = {write.__name__: write(tables) for write in of_tables} | {
        "study": study,
        "charts": {section: [chart for chart in charts if chart.section == section] for section in SECTIONS},
        "parts": parts,
        "lead": evidence_text.lead(table_of(tables, "claims")),
        "verdict": verdict,
        "plan": leading(tables),
        "phases_lead": leading(tables) == ROUNDS,
        "plan_worth": evidence_text.plan_worth_in_words(tables, money.code),
        "without_speed": evidence_text.without_speed(tables, machines, study.model_title),
        "energy": evidence_text.energy(tables, study),
        "currency": "" if study.currency is None else study.currency.in_words(),
        "money": money.code,
        "counts": {name: len(table) for name, table in sorted(tables.items())},
        "other_lists": len(bracketed) and not bracketed.any(),
        "has_interruptible": ranks["persistent"].eq(False).any(),
        "decisive": len(evidence_text.decisive(table_of(tables, "warnings"))),
        "signs": [(name, BASIS_FACTS[name]) for name in BASES],
        "no_answer": sentence("no_answer", len(table_of(tables, "offers")), len(throughput)),
        "models": throughput["model"].nunique(),
        "models_shown": MODELS,
        "engine": engine,
        "specs": packed(f"{{{all_specs}}}".encode()),
        "style": asset("page.css", "bars.css", "charts.css"),
        "script": asset("charts.js"),
        "origins": provenance.table(),
    }
    return filled("evidence.html.j2", context)
