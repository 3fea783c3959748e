"""The answer in Markdown, for a mail or a pull request."""

from sweetspot.decision.later_words import later_in_words
from sweetspot.decision.sentences import no_answer
from sweetspot.decision.waiting_words import waiting_in_words
from sweetspot.report.answer import lead
from sweetspot.report.energy_words import in_words
from sweetspot.report.in_currency import money_of, shown_in
from sweetspot.report.notation import interval_text, number
from sweetspot.report.phrases import claims_in_words, decisive, fits, worth_knowing
from sweetspot.report.plan_part import plan_in_words
from sweetspot.report.plan_turning import paying_in_words, plan_worth_in_words, turning_in_words
from sweetspot.report.tables import Tables, bills_decide, hours_differ, table_of, unit_of
from sweetspot.report.words import counted_in
from sweetspot.study.study import Study

SHOWN = 6


def plain(text: object) -> str:
    """Text that is no markup in Markdown, on one line."""
    clean = "".join(f"\\{char}" if char in "\\`*_[]|#~" else char for char in str(text))
    return " ".join(clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def render_summary(tables: Tables, study: Study) -> str:
    """The claims that lead, the work of the months, the two sentences, the cheapest options of the answer's model,
    energy, waits for a shared machine, what to find out first, the tally of claims.
    """
    tables = shown_in(tables, money_of(study))
    headline, claims = table_of(tables, "headline"), table_of(tables, "claims")
    lines = [f"# {plain(study.title)}", "", plain(study.question), ""]
    if headline.empty:
        sentence = no_answer(len(table_of(tables, "offers")), len(table_of(tables, "throughput")))
        return "\n".join([*lines, sentence, ""])
    answer = headline.iloc[0]
    lines += [f"**{plain(sentence)}**\n" for sentence in lead(claims)]
    first, *rest = plan_in_words(tables, money_of(study).code) or [""]
    hangs = " ".join([turning_in_words(tables), *paying_in_words(tables)])
    of_plan = [f"**{plain(first)}** {plain(' '.join(rest))}", "", *([plain(hangs), ""] if hangs.strip() else [])]
    lines += [*of_plan, "One job alone:", ""] if first else []
    lines += [f"**{plain(answer['first'])}** {plain(answer['second'])}", ""]
    lines += [plain(f"Money in {study.currency.in_words()}."), ""] if study.currency is not None else []
    lines += _options(tables, str(answer["model"]))
    energy = " ".join(in_words(tables, study))
    lines += ["", plain(energy)] if energy else []
    told = fits(tables)
    lines += ["", plain(told)] if told.startswith("Does not fit") else []
    waiting = " ".join(waiting_in_words(table_of(tables, "queue")))
    lines += ["", plain(waiting)] if waiting else []
    later = " ".join(later_in_words(table_of(tables, "when_to_buy"), money_of(study).code))
    lines += ["", plain(later)] if later else []
    worth = " ".join(plan_worth_in_words(tables, money_of(study).code) or worth_knowing(tables))
    lines += ["", plain(worth)] if worth else []
    if len(claims):
        said = claims_in_words(claims)
        lines += ["", plain(said[0])] if said else []
    told = table_of(tables, "warnings")
    decide = len(decisive(told))
    lines += ["", f"{decide} of {len(told)} warnings could change the answer; the full report has them.", ""]
    return "\n".join(lines)


def _options(tables: Tables, model: str) -> list[str]:
    """The cheapest options of a model that stay, as a table; only what tells options apart."""
    ranks, code = tables["ranks"], counted_in(tables).money.code
    rows = ranks[(ranks["model"] == model) & ranks["persistent"].astype(bool) & ranks["in_answer"].astype(bool)]
    # What is known of time and of USD per image is left out where it ranks nothing.
    columns = {"usd": counted_in(tables).usd.format(model=model)}
    columns |= {"hours": "hours"} if hours_differ(tables) else {}
    columns |= {"images_per_usd": f"{unit_of(tables)} per {code}"} if not bills_decide(tables) else {}
    lines = [f"| option | {' | '.join(columns.values())} | 90 % of {code} | basis |"]
    lines.append(f"|---|{'---:|' * len(columns)}---|---|")
    for _, row in rows.drop_duplicates("option").head(SHOWN).iterrows():
        figures = [number(row[name]) for name in columns]
        ends = row["usd_low"], row["usd_high"]
        span = interval_text(*ends) if number(ends[0]) != number(ends[1]) else ""
        cells = [plain(row["title"]), *figures, span, str(row["basis"]).replace("_", "-")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
