"""The answer in Markdown, for a mail or a pull request."""

from sweetspot.report.answer_file import nothing_said
from sweetspot.report.energy_words import in_words
from sweetspot.report.in_currency import money_of, shown_in
from sweetspot.report.outcome import busy, other_work, outcome_of
from sweetspot.report.phrases import claims_in_words, decisive, fits, lead
from sweetspot.report.phrases import waiting as waits
from sweetspot.report.plan_turning import later_in_words
from sweetspot.report.sheet import Listed, of_choices
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.study import Study


def plain(text: object) -> str:
    """Text that is no markup in Markdown, on one line."""
    clean = "".join(f"\\{char}" if char in "\\`*_[]|#~" else char for char in str(text))
    return " ".join(clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def render_summary(tables: Tables, study: Study) -> str:
    """The claims that lead, the verdict, what one could do, other work, energy, waits, the tally of claims."""
    tables = shown_in(tables, money_of(study))
    found, claims = outcome_of(tables), table_of(tables, "claims")
    lines = [f"# {plain(study.title)}", "", plain(study.question), ""]
    if found is None:
        return "\n".join([*lines, nothing_said(tables), ""])
    lines += [f"**{plain(sentence)}**\n" for sentence in lead(claims)]
    lines += [f"**{plain(found.sentence)}** {plain(' '.join(found.sentences()[1:]))}", ""]
    lines += _table(of_choices(tables, money_of(study).code))
    lines += ["", plain(f"Money in {study.currency.in_words()}.")] if study.currency is not None else []
    lines += ["", "For other work:", "", *_others(tables)] if other_work(tables) else []
    energy = " ".join(in_words(tables, study))
    lines += ["", plain(energy)] if energy else []
    told = fits(tables)
    lines += ["", plain(told)] if told.startswith("Does not fit") else []
    waiting = " ".join(waits(tables))
    lines += ["", plain(waiting)] if waiting else []
    later = " ".join(later_in_words(table_of(tables, "later"), money_of(study).code))
    lines += ["", plain(later)] if later else []
    if len(claims):
        said = claims_in_words(claims)
        lines += ["", plain(said[0])] if said else []
    told = table_of(tables, "warnings")
    decide = len(decisive(told))
    lines += ["", f"{decide} of {len(told)} warnings could change the answer; the full report has them.", ""]
    return "\n".join(lines)


def _others(tables: Tables) -> list[str]:
    """The verdict for each other work, a line each."""
    return [f"- {plain(one.title)}{plain(busy(one))}: {plain(one.sentence)}" for one in other_work(tables)]


def _table(listed: Listed) -> list[str]:
    """A table of the sheet for decision: what each costs, how long it takes, how sure that is."""
    if not listed.rows:
        return []
    lines = [f"| {' | '.join(map(plain, row))} |" for row in (listed.head, *listed.rows)]
    return [lines[0], f"|---|{'---:|' * (len(listed.head) - 1)}", *lines[1:], "", plain(listed.note)]
