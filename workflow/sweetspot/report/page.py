"""The page: one self-contained file that opens from disk and reads without JavaScript."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.report import charts

if TYPE_CHECKING:
    import altair as alt

    from sweetspot.config import Study

MARKS = {"measured": "●", "published": "◆", "equivalent": "■", "scaled": "▲", "stand_in": "✚", "extrapolated": "○"}
MAX_ROWS = 300  # of a provenance table on the page; the rest stands in tables/*.csv and *.parquet
TEMPLATES = Path(__file__).parent / "templates"


def amount(value: Any, digits: int = 3) -> str:
    """A number for people: `digits` significant ones, thousands separated, never in scientific notation."""
    if value is None or isinstance(value, str):
        return value or ""
    number = float(value)
    if math.isnan(number):
        return "never" if digits == 2 else ""
    if number == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:,.{min(decimals, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def records(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Rows as mappings; missing text as None."""
    if table is None or table.empty:
        return []
    text = {
        name: table[name].astype(object).where(table[name].notna(), None)
        for name in table
        if table[name].dtype.kind not in "fiub"
    }
    return table.assign(**text).to_dict("records")


def figures(tables: Mapping[str, pd.DataFrame], study: "Study") -> dict[str, "alt.Chart"]:
    """Charts by name, as far as the study has tables for them."""
    found: dict[str, Any] = {}
    question = study.cells
    ranks, break_even = tables.get("ranks", pd.DataFrame()), tables.get("break_even", pd.DataFrame())
    speed = _headline_throughput(tables, study)
    if len(speed):
        found["throughput"] = charts.dots(speed, "images_per_s", "images per second", True, study.reference, "instance")
    if len(ranks):
        found["images_per_usd"] = charts.dots(ranks, "images_per_usd", "images per USD", True, _option(ranks, study))
        found["front"] = charts.front(tables["frontier"])
    model = question.model[-1]
    if len(break_even):
        near = break_even[(break_even["model"] == model)].sort_values("gain_at_use").head(6)
        curve = tables["utilisation"]
        curve = curve[(curve["model"] == model) & curve["option"].isin(near["option"])]
        found["utilisation"] = charts.utilisation(curve, near)
    tornado = tables.get("tornado", pd.DataFrame())
    if len(tornado):
        found["tornado"] = charts.tornado(tornado[tornado["model"] == model])
    if len(tables.get("efficiency", [])):
        found["efficiency"] = charts.efficiency(tables["efficiency"])
    cash = tables.get("cash_flow", pd.DataFrame())
    if len(cash):
        named = cash.assign(option=cash["instance"] + " (" + cash["purchase"] + ")")
        last = named.groupby("option")["cumulative_usd"].last().sort_values().index[:6]
        found["cash"] = charts.cumulative_cash(named[named["option"].isin(last)])
    return found


def _option(ranks: pd.DataFrame, study: "Study") -> str | None:
    own = ranks.loc[ranks["instance"] == study.reference, "option"]
    return own.iloc[0] if len(own) else None


def _headline_throughput(tables: Mapping[str, pd.DataFrame], study: "Study") -> pd.DataFrame:
    """Cells of the question at the headline batch, with the headline extrapolation."""
    question = study.cells
    known = tables["throughput"]
    guessed = tables.get("extrapolation", pd.DataFrame())
    guessed = guessed[guessed["headline"]] if len(guessed) else guessed
    both = pd.concat([part for part in (known, guessed) if len(part)], ignore_index=True)
    if both.empty:
        return both
    asked = both["batch_size"] == both["model"].map({model: question.headline(model) for model in question.model})
    return both[asked & (both["precision"] == question.precision)]


def render(tables: Mapping[str, pd.DataFrame], study: "Study", drawings: Mapping[str, str]) -> str:
    """The page's HTML from the study's tables and the SVG text of its charts; everything else is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters["amount"] = amount
    ranks = tables.get("ranks", pd.DataFrame())
    headline = records(tables.get("headline"))
    throughput = tables["throughput"]
    measured = throughput[throughput["basis"] == "measured"]
    priced = throughput[throughput["basis"] != "measured"]
    shown = pd.concat([measured.head(MAX_ROWS), priced.head(MAX_ROWS)])
    hidden = len(throughput) - len(shown)
    return environment.get_template("page.html.j2").render(
        study=study,
        css=(TEMPLATES / "page.css").read_text(encoding="utf-8"),
        marks=MARKS,
        figures=drawings,
        headline_batch=study.cells.headline_words(),
        answer=next((row for row in headline if row["scope"] == "answer"), None),
        by_model=[row for row in headline if row["scope"] == "model"],
        recommendation=records(tables.get("recommendation")),
        measured=records(measured.head(MAX_ROWS)),
        ranks={model: records(rows.sort_values("usd")) for model, rows in ranks.groupby("model")} if len(ranks) else {},
        break_even=records(tables.get("break_even")),
        tornado=records(tables.get("tornado")),
        efficiency=records(tables.get("efficiency", pd.DataFrame()).head(MAX_ROWS)),
        extrapolation=records(tables.get("extrapolation")),
        validation=records(tables.get("validation")),
        claims=records(tables.get("claims")),
        warnings=_grouped_warnings(tables.get("warnings", pd.DataFrame())),
        provenance=records(shown),
        left_out=f"{hidden} further cells stand in tables/throughput.csv." if hidden else None,
        table_names=sorted(tables),
    )


def _grouped_warnings(warnings: pd.DataFrame) -> list[dict[str, str]]:
    """One row a message, with all the places it holds for."""
    if warnings.empty:
        return []
    place = warnings[["instance", "model", "batch_size"]].astype("string").fillna("")
    where = place.apply(lambda row: ", ".join(part for part in row if part), axis=1)
    grouped = where.groupby(warnings["message"], sort=False).agg(lambda places: "; ".join(dict.fromkeys(places)))
    return [{"message": message, "where": places} for message, places in grouped.items()]


def plain_summary(tables: Mapping[str, pd.DataFrame], study: "Study") -> str:
    """The answer and the ranking as Markdown, for a mail or a pull request."""
    headline = records(tables.get("headline"))
    answer = next((row for row in headline if row["scope"] == "answer"), None)
    lines = [f"# {study.title}", "", study.question, ""]
    if answer:
        lines += [f"**{answer['first']}** {answer['second']}", ""]
    ranks = tables.get("ranks", pd.DataFrame())
    for model, rows in ranks.groupby("model") if len(ranks) else []:
        lines += [f"## {model}", "", "| option | hours | USD | basis |", "|---|---|---|---|"]
        for row in records(rows.sort_values("usd").head(8)):
            hours, usd = amount(row["hours"]), amount(row["usd"])
            lines.append(f"| {row['option']} | {hours} | {usd} | {row['basis']} |")
        lines.append("")
    return "\n".join(lines)
