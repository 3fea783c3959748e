"""The page: the answer on one screen and what supports it; all else is in evidence.html beside it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweetspot.decision_words import MAY_STOP
from sweetspot.files import write_whole
from sweetspot.report import how_sure
from sweetspot.report.answer_file import answer_json, nothing_said
from sweetspot.report.draw import chart_of
from sweetspot.report.evidence_page import Drawn, render_evidence
from sweetspot.report.evidence_text import lead
from sweetspot.report.finished import asset, rendered
from sweetspot.report.first_charts import Dots, dots_chart
from sweetspot.report.first_sections import sections
from sweetspot.report.notation import missing, number, records
from sweetspot.report.outcome import Outcome, busy, choices_of, group_of, key_figures, other_work, outcome_of
from sweetspot.report.summary import of_choices, render_summary
from sweetspot.report.tables import Tables, money_of, shown_in, table_of, works
from sweetspot.study.study import Study, load_study
from sweetspot.study.workloads import load_monthly
from sweetspot.throughput.speed_errors import SOFTWARE_FACTOR
from sweetspot.wording import TIE, Money, percent

LONG = 0.25  # of a job's hours: a wait that is worth a line


def render_page(tables: Tables, study: Study, workloads: str | Path | None = None) -> str:
    """The page: verdict, what to do, what each choice costs, when it would be another. At most 600 words unfolded.

    workloads: workloads.yaml, for what the team's own record says. Text from tables and configuration is escaped by the
    template engine.
    """
    money = money_of(study)
    found, others = outcome_of(tables), other_work(tables)
    context: dict[str, Any] = {
        "study": study,
        "found": found,
        "nothing": nothing_said(tables),
        "claims": lead(table_of(tables, "claims")),
        "others": [(one, busy(one).removeprefix(", on a machine ")) for one in others],
        "used": any(busy(one) for one in others),
        "code": money.code,
        "style": asset("first.css", "bars.css"),
    }
    tables = shown_in(tables, money)
    context |= {"listed": of_choices(tables, money.code), "tiles": key_figures(found, money)}
    context["certainty"] = ()
    context |= dict.fromkeys(("dots", "dots_title"), "") | dict.fromkeys(("notes", "sections", "prices"), ())
    if found is not None:
        context |= _of_verdict(tables, study, found, money, use_in_words(workloads, found.workload))
    return rendered("page", context)


def _of_verdict(tables: Tables, study: Study, found: Outcome, money: Money, recorded: str) -> dict[str, Any]:
    rows, prices = choices_of(tables), []
    months = found.usd / found.usd_per_month if found.usd_per_month else 0.0
    what = f"What {months:g} months cost" if months > 1 else found.title
    if found.confidence == TIE:
        prices = [(number(one.usd / money.usd_per_unit), percent(one.p_buying_cheaper)) for one in found.at_prices]
    return {
        "dots": dots_chart(_dots(rows, found, money.usd_per_unit), money.code) if rows else "",
        "dots_title": f"{what}, in {money.code}: 20 equally likely outcomes each",
        "certainty": how_sure.notes(tables),
        "notes": [
            *_notes(found, rows, money.code),
            *_untimed(tables),
            *_waits(tables, found),
            *filter(None, [recorded]),
        ],
        "sections": sections(tables, found, money),
        "prices": prices,
    }


def _untimed(tables: Tables) -> list[str]:
    """That nobody timed the work, where all speeds that the answer may take are by arithmetic."""
    options = table_of(tables, "options")
    taken = options[options["in_answer"].astype(bool)] if len(options) else options
    if taken.empty or not taken["throughput_basis"].eq("arithmetic").all():
        return []
    return [
        "Nobody timed these jobs: hours are arithmetic, up to "
        f"{SOFTWARE_FACTOR:g} times off on all machines alike. One timing of your own in throughput.csv ends that part."
    ]


def _dots(rows: Sequence[dict[str, Any]], found: Outcome, usd_per_unit: float) -> list[Dots]:
    """The choices of the first chart: what may be the answer by kind, then what is no answer."""
    made: list[Dots] = []
    mine = [row for row in rows if row["in_hand"]]
    named = len(mine) < len(rows)
    # Of offers in hand of one kind the word tells nothing, and "by the hour" would be wrong of one paid by the month.
    alone = len({row["kind"] for row in rows}) == 1 and all(missing(row["why_not"]) for row in rows) and not named
    for row in rows:
        group = group_of(row)
        if not missing(row["why_not"]):
            may_stop = row["why_not_rule"] == MAY_STOP
            group = "If jobs may be interrupted" if may_stop else str(row["why_not"]).capitalize()
        elif named and row["in_hand"]:
            group = "Your offers" if len(mine) > 1 else "Your offer"
        told = "" if alone or group in {one.group for one in made} else group
        outcomes = [float(usd) / usd_per_unit for usd in row["usd_outcomes"]]
        best = row["choice"] == found.start_with.choice
        made.append(Dots(row["choice"], told, row["kind"], row["title"], float(row["usd"]), outcomes, best))
    return made


def _notes(found: Outcome, rows: Sequence[dict[str, Any]], code: str) -> list[str]:
    """What having it takes, what would be cheaper but is not the answer, what to find out first; a line each."""
    notes = []
    for row in rows:
        if row["why_not_rule"] == MAY_STOP and float(row["ratio"]) < 1:
            price = f"{number(row['usd'])} {code}"
            notes.append(
                f"If jobs may be interrupted: {row['title']}, {price}; say “accepts_interruptions: true” in study.yaml."
            )
    if found.find_out_first:
        notes.append(f"Find out first: {found.find_out_first}.")
    return [*found.having, *found.thresholds, *notes]


def _waits(tables: Tables, found: Outcome) -> list[str]:
    """How long a job waits for the machine that is held, where that is more than LONG of its hours; a line each."""
    queue, names = table_of(tables, "queue"), works(tables)
    if queue.empty:
        return []
    best = {found.best.choice, f"{found.workload}: {found.best.choice}"}
    held = queue[queue["held"].astype(bool) & queue["option"].isin(best)]
    ours = held["workload"].astype(str).str.split(".").str[0].eq(found.workload)
    told: list[str] = []
    for row in records(held[ours & (held["overloaded"].astype(bool) | (held["wait_hours"] > LONG * held["hours"]))]):
        job = names.get(str(row["workload"]), str(row["workload"]).rpartition(".")[2])
        long = "without end" if row["overloaded"] else f"{number(row['wait_hours'])} h on average"
        then = "" if row["overloaded"] else f", then takes {number(row['hours'])} h"
        told.append(f"A job ({job}) waits {long} for a free machine ({row['machines']}){then}.")
    return told


def write_report(
    tables: Tables,
    study_file: str | Path,
    folder: str | Path,
    specs: Sequence[str | Path],
    machines: Mapping[str, str] | None = None,
    engine: str | Path | None = None,
    workloads: str | Path | None = None,
) -> None:
    """Write index.html, evidence.html, summary.md and answer.json into `folder`.

    The evidence holds the charts `specs` and the script `engine`, which draws them in a browser.

    Raises UserError for a broken study.yaml.
    """
    study, target = load_study(Path(study_file).parent), Path(folder)
    drawn = Drawn(
        {chart_of(file): Path(file).read_text(encoding="utf-8") for file in specs},
        Path(engine).read_text(encoding="utf-8") if engine else "",
    )
    for name, text in (
        ("index.html", render_page(tables, study, workloads)),
        ("evidence.html", render_evidence(tables, study, drawn, machines)),
        ("summary.md", render_summary(tables, study)),
        ("answer.json", answer_json(tables, study)),
    ):
        with write_whole(target / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def use_in_words(workloads: str | Path | None, workload: str) -> str:
    """The sentence of a workload of months with `measured`; empty for any other. Raises UserError."""
    work = load_monthly(workloads).get(workload) if workloads is not None else None
    if work is None or work.measured is None:
        return ""
    found = work.measured
    jobs, busy = found.jobs_per_month, found.busy_share
    low, high = (_jobs(end) for end in jobs.ends)
    told = f"{percent(busy)} busy, " if busy is not None else ""
    since = "month" if found.months == 1 else f"{found.months:.3g} months"
    return f"Your last {since}: {told}{_jobs(jobs.value)} jobs a month ({low} to {high})."


def _jobs(count: float) -> str:
    return f"{count:,.0f}" if count >= 10 else f"{count:.2g}"
