"""The answer in Markdown, for a mail or a pull request."""

from sweetspot.decision.later_words import later_in_words
from sweetspot.decision.sentences import no_answer
from sweetspot.report.answer import lead
from sweetspot.report.answer_file import answer_of
from sweetspot.report.energy_words import in_words
from sweetspot.report.in_currency import money_of, shown_in
from sweetspot.report.job_beside_plan import job_beside_plan
from sweetspot.report.phrases import claims_in_words, decisive, fits, worth_knowing
from sweetspot.report.phrases import waiting as waits
from sweetspot.report.plan_part import plan_in_words
from sweetspot.report.plan_turning import paying_in_words, plan_worth_in_words, turning_in_words
from sweetspot.report.sheet import Listed, of_one_job, of_plan
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.study import Study


def plain(text: object) -> str:
    """Text that is no markup in Markdown, on one line."""
    clean = "".join(f"\\{char}" if char in "\\`*_[]|#~" else char for char in str(text))
    return " ".join(clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def render_summary(tables: Tables, study: Study) -> str:
    """The claims that lead, the plan, the two sentences on one job, the cheapest options of the answer's model,
    energy, waits for a shared machine, what to find out first, the tally of claims.
    """
    given, tables = tables, shown_in(tables, money_of(study))
    headline, claims = table_of(tables, "headline"), table_of(tables, "claims")
    lines = [f"# {plain(study.title)}", "", plain(study.question), ""]
    if headline.empty:
        sentence = no_answer(len(table_of(tables, "offers")), len(table_of(tables, "throughput")))
        return "\n".join([*lines, sentence, ""])
    answer = headline.iloc[0]
    lines += [f"**{plain(sentence)}**\n" for sentence in lead(claims)]
    first, *rest = plan_in_words(tables, money_of(study).code, str(answer["reference"])) or [""]
    hangs = " ".join([turning_in_words(tables), *paying_in_words(tables)])
    if first:
        lines += [f"**{plain(first)}** {plain(' '.join(rest))}", "", *_table(of_plan(tables)), ""]
        lines += [*([plain(hangs), ""] if hangs.strip() else []), "One job alone:", ""]
        lines += [plain(" ".join(beside)), ""] if (beside := job_beside_plan(tables)) else []
    lines += [f"**{plain(answer['first'])}** {plain(answer['second'])}", ""]
    lines += [plain(f"Money in {study.currency.in_words()}."), ""] if study.currency is not None else []
    lines += _table(of_one_job(tables, answer_of(given, study)))
    energy = " ".join(in_words(tables, study))
    lines += ["", plain(energy)] if energy else []
    told = fits(tables)
    lines += ["", plain(told)] if told.startswith("Does not fit") else []
    waiting = " ".join(waits(tables))
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


def _table(listed: Listed) -> list[str]:
    """A table of the sheet for decision: what each costs, how long it takes, how sure that is."""
    if not listed.rows:
        return []
    lines = [f"| {' | '.join(map(plain, row))} |" for row in (listed.head, *listed.rows)]
    return [lines[0], f"|---|{'---:|' * (len(listed.head) - 1)}", *lines[1:], "", plain(listed.note)]
