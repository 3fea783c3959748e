"""The answer in Markdown, for a mail or a pull request."""

from sweetspot.report.notation import interval_text, number
from sweetspot.report.tables import Tables, table_of, unit_of
from sweetspot.study.study import Study

SHOWN = 6


def plain(text: object) -> str:
    """Text that is no markup in Markdown, on one line."""
    clean = "".join(f"\\{char}" if char in "\\`*_[]|#~" else char for char in str(text))
    return " ".join(clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def render_summary(tables: Tables, study: Study) -> str:
    """The two sentences, the cheapest options of the answer's model, the claims that do not recompute."""
    headline = table_of(tables, "headline")
    lines = [f"# {plain(study.title)}", "", plain(study.question), ""]
    if headline.empty:
        return "\n".join([*lines, "No two options of this study have both a price and a figure: no answer yet.", ""])
    answer = headline.iloc[0]
    lines += [f"**{plain(answer['first'])}** {plain(answer['second'])}", ""]
    ranks = tables["ranks"]
    rows = ranks[(ranks["model"] == answer["model"]) & ranks["persistent"].astype(bool)].drop_duplicates("option")
    lines += [f"| option | {unit_of(tables)} per USD | 90 % | hours | USD | basis |", "|---|---:|---|---:|---:|---|"]
    for _, row in rows.head(SHOWN).iterrows():
        span = interval_text(row["images_per_usd_low"], row["images_per_usd_high"])
        figures = [number(row[name]) for name in ("hours", "usd")]
        basis = str(row["basis"]).replace("_", "-")
        cells = [plain(row["option"]), number(row["images_per_usd"]), span, *figures, basis]
        lines.append(f"| {' | '.join(cells)} |")
    claims = table_of(tables, "claims")
    if len(claims):
        counts = claims["verdict"].value_counts()
        lines += [
            "",
            "Claims of the text: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) + ".",
        ]
    lines += ["", f"{len(table_of(tables, 'warnings'))} warnings stand beside the figures in the full report.", ""]
    return "\n".join(lines)
