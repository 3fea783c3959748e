"""The answer in Markdown, for a mail or a pull request."""

from sweetspot.report.answer_file import Answer, answer_of
from sweetspot.report.evidence_text import claims_in_words, decisive, energy, fits, waiting
from sweetspot.report.how_sure import mark_of
from sweetspot.report.sentences import filled
from sweetspot.report.tables import Tables, money_of, shown_in, table_of
from sweetspot.study.study import Study


def render_summary(tables: Tables, study: Study) -> str:
    """Return summary.md of a study."""
    return summary_of(answer_of(tables, study), tables, study)


def summary_of(answer: Answer, tables: Tables, study: Study) -> str:
    """Return summary.md: the answer, and of its tables in words energy, memory, waits and the tally of claims.

    Parameters
    ----------
    answer
        The study's answer.
    tables
        The tables that it was made from, in USD.
    study
        Its study.yaml.
    """
    money = money_of(study)
    in_currency = shown_in(tables, money)
    beside = (
        " ".join(energy(in_currency, study)),
        fits(in_currency),
        " ".join(waiting(in_currency)),
        claims_in_words(in_currency),
    )
    context = {
        "answer": answer,
        "verdict": answer.verdict,
        "money": money,
        "marks": [mark_of(row.speed_bases) for row in answer.choices],
        "currency": "" if study.currency is None else study.currency.in_words(),
        "beside": [text for text in beside if text],
        "warnings": len(table_of(tables, "warnings")),
        "decisive": len(decisive(table_of(tables, "warnings"))),
    }
    return filled("summary.md.j2", context)
