"""The answer in Markdown for a mail or a pull request, and the table of choices that the page shows too."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sweetspot.report.answer_file import nothing_said
from sweetspot.report.evidence_text import claims_in_words, decisive, energy, fits, lead, waiting
from sweetspot.report.how_sure import bases_of_choice, mark_of, notes
from sweetspot.report.notation import interval_text, missing, number, text
from sweetspot.report.outcome import KINDS, busy, choices_of, keeps_and_rents, other_work, outcome_of
from sweetspot.report.tables import Tables, hours_differ, money_of, shown_in, table_of
from sweetspot.study.study import Study
from sweetspot.wording import percent, the

LONGEST_NAME = 90  # characters of a choice in the table


class Listed(NamedTuple):
    """A table as it is printed, and a note on it; empty where there is nothing to list."""

    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    note: str = ""


def of_choices(tables: Tables, code: str) -> Listed:
    """What one could do for the work of the answer, the cheapest first, and what that takes; `code` of its money."""
    rows, found = choices_of(tables), outcome_of(tables)
    if found is None or not rows:
        return Listed()
    months = found.usd_per_month is not None
    timed = hours_differ(tables) and any(not missing(row["hours"]) for row in rows)
    columns = {"usd_per_month": f"{code} a month"} if months else {}
    columns |= {"hours": "hours"} if timed else {}
    made = [
        [
            short(_title_of(row), LONGEST_NAME) + mark_of(bases_of_choice(tables, found.workload, str(row["choice"]))),
            _with_interval(row, "usd"),
            *(number(row[name]) for name in columns),
            "–" if missing(row["p_cheaper"]) else percent(float(row["p_cheaper"])),
        ]
        for row in rows
    ]
    note = f"Cheaper: how often it costs less than {the(found.best.title)}, the cheapest."
    if any(cells[1].endswith(")") for cells in made):
        note = f"In brackets: the 90 % interval. {note}"
    note += _at_once(rows) if timed else ""
    return Listed(["what to do", f"{code} in all" if months else code, *columns.values(), "cheaper"], made, note)


def _at_once(rows: Sequence[dict[str, Any]]) -> str:
    """Why one choice takes far fewer hours than another: more machines work at the same time."""
    known = [row for row in rows if not missing(row["hours"]) and not missing(row["device_hours"])]
    devices = [float(row["device_hours"]) / float(row["hours"]) for row in known if float(row["hours"]) > 0]
    if not devices or max(devices) < 1.5 * min(devices):
        return ""
    return f" Hours are fewer where more devices work at once: here {min(devices):.0f} to {max(devices):.0f}."


def _title_of(row: dict[str, Any]) -> str:
    """A choice with its kind, and why it is not the answer where it is not."""
    kind = KINDS[row["kind"]].short + (", and rent" if keeps_and_rents(row) else "")
    return f"{kind}: {row['title']}" + ("" if missing(row["why_not"]) else f" ({row['why_not']})")


def _with_interval(row: dict[str, Any], name: str) -> str:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    span = interval_text(low, high) if number(low) != number(high) else ""
    return f"{number(row[name])} ({span})" if span else number(row[name])


def short(words: object, most: int) -> str:
    """A text in at most `most` characters, cut between words."""
    whole = " ".join(text(words).split())
    if len(whole) <= most:
        return whole
    return f"{whole[: most - 1].rpartition(' ')[0] or whole[: most - 2]} …"


def plain(text: object) -> str:
    """Text that is no markup in Markdown, on one line."""
    clean = "".join(f"\\{char}" if char in "\\`*_[]|#~" else char for char in str(text))
    return " ".join(clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def render_summary(tables: Tables, study: Study) -> str:
    """The claims that lead, the verdict, what one could do, other work, energy, waits, the tally of claims."""
    money = money_of(study)
    tables = shown_in(tables, money)
    found, claims, warned = outcome_of(tables), table_of(tables, "claims"), table_of(tables, "warnings")
    lines = [f"# {plain(study.title)}", "", plain(study.question), ""]
    if found is None:
        return "\n".join([*lines, nothing_said(tables), ""])
    lines += [f"**{plain(sentence)}**\n" for sentence in lead(claims)]
    lines += [f"**{plain(found.sentence)}** {plain(' '.join(found.sentences()[1:]))}", ""]
    lines += [line for said in notes(tables) for line in (plain(said), "")]
    lines += _table(of_choices(tables, money.code))
    lines += ["", plain(f"Money in {study.currency.in_words()}.")] if study.currency is not None else []
    others = [f"- {plain(one.title)}{plain(busy(one))}: {plain(one.sentence)}" for one in other_work(tables)]
    lines += ["", "For other work:", "", *others] if others else []
    fitting, tally = fits(tables), claims_in_words(claims)
    for said in (
        " ".join(energy(tables, study)),
        fitting if fitting.startswith("Does not fit") else "",
        " ".join(waiting(tables)),
        tally[0] if tally else "",
    ):
        lines += ["", plain(said)] if said else []
    decide = len(decisive(warned))
    lines += ["", f"{decide} of {len(warned)} warnings could change the answer; the full report has them.", ""]
    return "\n".join(lines)


def _table(listed: Listed) -> list[str]:
    if not listed.rows:
        return []
    lines = [f"| {' | '.join(map(plain, row))} |" for row in (listed.head, *listed.rows)]
    return [lines[0], f"|---|{'---:|' * (len(listed.head) - 1)}", *lines[1:], "", plain(listed.note)]
