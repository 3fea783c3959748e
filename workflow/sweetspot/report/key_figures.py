"""The answer in a few figures and sentences, for the card and the sheet that stand outside the page."""

from typing import TYPE_CHECKING, Any, NamedTuple

from sweetspot.decision.certainty import percent
from sweetspot.decision.counted import the
from sweetspot.decision.phase_words import project_in_words
from sweetspot.report.answer_file import Answer, Figure
from sweetspot.report.cited import records, text
from sweetspot.report.notation import interval_text, missing, number
from sweetspot.report.plan_part import MONTHS, PHASES, leading, plan_row
from sweetspot.report.tables import Tables, table_of

if TYPE_CHECKING:
    import pandas as pd


class KeyFigure(NamedTuple):
    """A figure as printed, what it is, and its 90 % interval in words, empty where none is known."""

    value: str
    label: str
    span: str = ""


def key_figures(answer: Answer, tables: Tables, code: str) -> list[KeyFigure]:
    """What it is about, how sure, from which use on: of the plan where the study has one, else of one job.

    `tables` in the currency `code`. Empty where there is nothing to compare with.
    """
    kind = leading(tables)
    if kind == MONTHS:
        return _of_months(table_of(tables, "mixes"), code)
    return _of_phases(tables, code) if kind == PHASES else _of_one_job(answer)


def _of_months(mixes: "pd.DataFrame", code: str) -> list[KeyFigure]:
    best = records(mixes.head(1))[0]
    ends = interval_text(best["usd_per_month_low"], best["usd_per_month_high"])
    found = [KeyFigure(f"{number(best['usd_per_month'])} {code}", "a month, all in all", ends)]
    if not missing(best["probability"]):
        found.append(KeyFigure(percent(best["probability"]), f"probability that {text(best['title'])} is the cheaper"))
    return found


def _of_phases(tables: Tables, code: str) -> list[KeyFigure]:
    best, rival = plan_row(tables, "is_best"), plan_row(tables, "is_rival")
    if best is None:
        return []
    winner, found = the(text(best["title"])), []
    if rival is not None:
        span = span_of(rival, "times_best")
        label = f"cheaper: {winner} than {the(text(rival['title']))}"
        found.append(KeyFigure(f"{number(rival['times_best'])} ×", label, span))
        if span:
            found.append(KeyFigure(percent(best["probability"]), f"probability that {winner} is the cheapest"))
    bill = f"for {project_in_words(best)}, all in all"
    return [*found, KeyFigure(f"{number(best['usd'])} {code}", bill, span_of(best, "usd"))]


def _of_one_job(answer: Answer) -> list[KeyFigure]:
    found, titles = [], {option.option: the(option.title) for option in answer.options}
    if answer.multiple is not None:
        two = answer.multiple
        cheaper, dearer = (titles.get(name, name) for name in (two.cheaper, two.dearer))
        span = _span(two.times)
        found.append(KeyFigure(f"{number(two.times.value)} ×", f"cheaper: {cheaper} than {dearer}", span))
        if span:
            found.append(KeyFigure(percent(two.probability), f"probability that {cheaper} is the cheaper"))
    days = answer.break_even_days_per_month
    if days is not None:
        value = "never" if days.value is None else number(days.value)
        found.append(KeyFigure(value, "days of use a month from which owning pays", _span(days)))
    return found


def span_of(row: dict[str, Any], name: str) -> str:
    """The interval of a figure of a row; nothing where both ends print alike."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return "" if number(low) == number(high) else interval_text(low, high)


def _span(figure: Figure) -> str:
    """The interval; nothing where its ends print alike."""
    return "" if number(figure.low) == number(figure.high) else interval_text(figure.low, figure.high)
