"""The tables of a study as one self-contained HTML page."""

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from sweetspot.cells import BASES
from sweetspot.report import phrases
from sweetspot.report.answer import answer
from sweetspot.report.draw import inline
from sweetspot.report.marks import MODELS
from sweetspot.report.notation import BASIS_MEANING, BASIS_SIGNS
from sweetspot.report.provenance import Provenance
from sweetspot.report.sections import Sections
from sweetspot.report.tables import Tables, table_of, unit_of
from sweetspot.report.whatif import script_json, what_if
from sweetspot.study.study import Study

ASSETS = Path(__file__).parent / "assets"
TITLES = {
    "images_per_usd": "{Units} per USD of the best options, by model, with 90 % intervals",
    "time_cost": "Hours against USD of training once; dashed: the front that nothing beats in both",
    "bill": "What a training bill is made of",
    "utilisation": "How many times cheaper owning is, by days of use a month",
    "cash_flow": "Money paid by month: owning against renting the same work",
    "surface": "Days of use a month from which owning pays, by months of the project and electricity price; "
    "above a line the box is cheaper, and a line that starts late never pays before",
    "tornado": "What each assumption does to the margin of owning",
    "throughput": "{Units} per second by machine, model and batch",
    "efficiency": "Scaling efficiency by number of devices at the largest batch",
    "extrapolation": "Predicted {units} per second by method, with 90 % prediction intervals",
    "validation": "How wrong each method was on cards it had not seen: median error, and what 90 % of rows stay below",
}


def render_page(tables: Tables, study: Study, drawn: dict[str, str]) -> str:
    """The page. `drawn`: SVG by figure. Text from tables and configuration is escaped by the template engine."""
    environment = Environment(autoescape=select_autoescape(default=True), undefined=StrictUndefined, trim_blocks=True)
    environment.filters["figure"] = _figure(drawn, unit_of(tables))
    provenance = Provenance()
    made = Sections(tables, study, provenance)
    payload = what_if(tables, study)
    context = {
        "study": study,
        "answer": answer(made),
        "parts": made.parts(),
        "counts": {name: len(table) for name, table in sorted(tables.items())},
        "claims_in_words": phrases.claims_in_words(table_of(tables, "claims")),
        "never_pays": phrases.never_pays(tables),
        "warnings": phrases.warnings(table_of(tables, "warnings")),
        "signs": [(name, BASIS_SIGNS[name], BASIS_MEANING[name]) for name in BASES],
        "owned": len(table_of(tables, "break_even")) > 0,
        "unit": unit_of(tables),
        "models": len(set(table_of(tables, "throughput").get("model", ()))),
        "models_shown": MODELS,
        "whatif": payload,
        "whatif_json": script_json(payload),
        "style": Markup((ASSETS / "page.css").read_text(encoding="utf-8")),
        "script": Markup("".join((ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in ("whatif", "folds"))),
    }
    # Last, when every figure has been cited.
    context["origins"] = provenance.table()
    return environment.from_string((ASSETS / "page.html.j2").read_text(encoding="utf-8")).render(context)


def _figure(drawn: dict[str, str], unit: str) -> Callable[[str], Markup]:
    def show(name: str) -> Markup:
        if name not in drawn:
            return Markup("")
        title = TITLES[name].format(units=unit, Units=unit.capitalize())
        svg = Markup(inline(drawn[name], name, str(escape(title))))
        return Markup(
            '<figure id="fig-{0}"><div class="chart">{1}</div><figcaption>{2}. '
            '<a href="figures/{0}.svg">SVG</a> <a href="figures/{0}.png">PNG</a></figcaption></figure>'
        ).format(name, svg, title)

    return show
