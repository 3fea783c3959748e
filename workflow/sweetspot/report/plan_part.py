"""The page's part of workloads of months: the mixes in words and tables; and what is priced but has no speed."""

from collections.abc import Mapping

from sweetspot.decision.certainty import TIE
from sweetspot.decision.mix_words import mixes_in_words
from sweetspot.report.cited import records, text
from sweetspot.report.notation import missing
from sweetspot.report.part import Part
from sweetspot.report.sections import ROWS, Sections
from sweetspot.report.tables import Tables, table_of
from sweetspot.study.titles import class_title

STEP = "comparison: mixes, dispatched in order of merit on all draws"
NAMED = 12  # machines by name in one sentence


OF_A_PLAN = ("mixes", "mix_sources", "deadlines")  # tables that the sentences rest on


def plan_is_close(tables: Tables) -> bool | None:
    """Whether the best mix of the first workload is too close to call; None where no study has the work of months."""
    mixes = table_of(tables, "mixes")
    return None if mixes.empty else bool(mixes["confidence"].iloc[0] == TIE)


def plan_outcome(tables: Tables, reference: object) -> tuple[str, str | None] | None:
    """Outcome and confidence of the first workload of months, as in answer.json; None where there is none.

    `reference` where the best mix holds that option, bought or committed to, `rival` where it does without,
    `too_close`, `only_one` where nothing else does the work, `none` where no mix does.
    """
    mixes = table_of(tables, "mixes")
    if mixes.empty:
        return None
    best = mixes.iloc[0]
    if best["status"] != "ok":
        return "none", None
    if missing(best["confidence"]):
        return "only_one", None
    if plan_is_close(tables):
        return "too_close", TIE
    sources = table_of(tables, "mix_sources")
    held = sources[(sources["workload"] == best["workload"]) & (sources["mix"] == best["mix"])]
    return "reference" if reference in set(held["option"]) else "rival", str(best["confidence"])


def plan_in_words(tables: Tables, code: str = "USD") -> list[str]:
    """The mixes of each workload of months in sentences; none without one. `code`: the currency of the tables."""
    mixes = table_of(tables, "mixes")
    if mixes.empty:
        return []
    return mixes_in_words(mixes, table_of(tables, "mix_sources"), table_of(tables, "deadlines"), code)


def without_speed(tables: Tables, machines: Mapping[str, str]) -> str:
    """What is priced or asked for and has no speed, for the top of the page; empty where all have one.

    `machines`: names for people by instance.
    """
    table = table_of(tables, "warnings").reindex(columns=["rule", "instance", "model", "message"])
    speechless = table[table["rule"].isin(["no_figure", "no_speed"])]
    if speechless.empty:
        return ""
    whole = list(dict.fromkeys(speechless.loc[speechless["rule"] == "no_figure", "instance"].dropna()))
    said = [_listed("Priced, but no speed", [machines.get(name, name) for name in whole])]
    parts = speechless[(speechless["rule"] == "no_speed") & ~speechless["instance"].isin(whole)]
    for model, rows in parts[parts["instance"].notna()].groupby("model", sort=False):
        names = list(dict.fromkeys(rows["instance"]))
        said.append(_listed(f"Priced, but no speed for {model}", [machines.get(name, name) for name in names]))
    said += [f"{message[:1].upper()}{message[1:]}." for message in parts.loc[parts["instance"].isna(), "message"]]
    return " ".join(filter(None, said))


def _listed(words: str, names: list[str]) -> str:
    if not names:
        return ""
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{words}: {', '.join(names[:NAMED])}{rest}."


def plan_parts(made: Sections) -> dict[str, Part]:
    """The tables of the mixes, of one job of each class on each machine, and of the deadlines."""
    return {"mixes": _mixes(made), "mix_jobs": _jobs(made), "deadlines": _deadlines(made)}


def _mixes(made: Sections) -> Part:
    rows, classes = [], []
    for row in records(made.table("mixes").head(ROWS)):
        if row["same_as_best"]:
            continue
        names = ("there_device_hours", "bought_device_hours", "rented_device_hours")
        hours = [made.made(row, name, STEP) for name in names]
        usd = [made.made(row, name, STEP) for name in ("usd_per_month", "usd")]
        chance = "" if missing(row["probability"]) else made.probability(row, "probability", STEP)
        status = "" if row["status"] == "ok" else text(row["status"])
        rows.append([text(row["workload"]), text(row["title"]), *hours, *usd, chance, status])
        classes.append("good" if row["kind"] == "best" else "")
    head = "workload|mix|device-hours a month: there|bought|rented|USD a month|USD in all|P(cheaper)|what it lacks"
    return Part(tuple(head.split("|")) if rows else (), rows, classes)


def _jobs(made: Sections) -> Part:
    rows, classes = [], []
    table = made.table("mix_jobs")
    for row in records(table.head(ROWS)):
        name = f"{class_title(row['class'])}{' (urgent)' if row['urgent'] else ''}"
        figures = [made.made(row, column, "comparison: one job of each class") for column in ("hours", "usd")]
        said = ["" if missing(row["jobs_at_once"]) else f"{row['jobs_at_once']:g}", text(row["status"])]
        rows.append([text(row["workload"]), name, text(row["title"]), *figures, *said])
        classes.append("" if row["status"] == "fits" else "failed")
    head = "workload|class|machine|hours of a job|USD of a job|at once|status"
    return Part(tuple(head.split("|")) if rows else (), rows, classes, max(0, len(table) - ROWS))


def _deadlines(made: Sections) -> Part:
    rows = [
        [
            class_title(row["class"]),
            made.made(row, "within_hours", "workloads.yaml"),
            text(row["title"]) or text(row["status"]),
            *(made.made(row, name, "comparison: deadlines") for name in ("hours", "usd", "usd_extra")),
            *(made.probability(row, name, "comparison: deadlines") for name in ("p_in_time", "share_in_time")),
        ]
        for row in records(made.table("deadlines").head(ROWS))
    ]
    head = "class|within h|cheapest in time|hours|USD of one|beyond an ordinary one|P(in time)|others in time"
    return Part(tuple(head.split("|")) if rows else (), rows, [""] * len(rows))
