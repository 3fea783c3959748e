"""How the answer for one job alone differs from that of the plan that leads, and why."""

from sweetspot.decision.answer_words import chance
from sweetspot.decision.certainty import TIE, amount
from sweetspot.decision.counted import begun, the, times
from sweetspot.report.answer import for_the_winner
from sweetspot.report.cited import Row, records, text
from sweetspot.report.notation import missing
from sweetspot.report.plan_part import PHASES, leading, leading_work, plan_is_close, plan_row, plan_rows
from sweetspot.report.tables import Tables, table_of

IDLE = 0.75  # share of the planned hours below which a machine is said to stand still
SHARED = "A plan runs its jobs side by side, and all of them share the months of what is owned."


def job_beside_plan(tables: Tables) -> list[str]:
    """One sentence on how one job alone differs from the plan, then why.

    None where no plan leads, or where nothing competes for one job.
    """
    headline = table_of(tables, "headline")
    if leading(tables) is None or headline.empty:
        return []
    first = records(headline.head(1))[0]
    if missing(first["gain"]):
        return []
    return [_difference(tables, first), *_why(tables, first)]


def _difference(tables: Tables, first: Row) -> str:
    """Who is the cheapest for one job, and by how much, beside who is for the plan."""
    won = for_the_winner(first)
    loser = first["alternative_title" if first["winner"] == first["reference"] else "reference_title"]
    told = f"{times(float(won['gain']))} times cheaper than {the(text(loser))}"  # type: ignore[arg-type]
    if first["confidence"] == TIE:
        told += f", {'also ' if plan_is_close(tables) else ''}{TIE}"
    elif plan_is_close(tables):
        told += f", {chance(float(won['p_cheaper']))}"  # type: ignore[arg-type]
    if first["winner"] in _of_plan(tables):
        return f"For one job alone it is the same: {told}."
    return f"For one job alone it is another: {the(text(first['winner_title']))}, {told}."


def _of_plan(tables: Tables) -> set[object]:
    """The options that the best of the plan holds or takes."""
    best = plan_row(tables, "is_best")
    if best is not None:
        return {best["option"]}
    sources = table_of(tables, "mix_sources")
    if sources.empty:
        return set()
    own = sources[(sources["workload"] == leading_work(tables)) & (sources["mix"] == "best")]
    return set(own["option"])


def _why(tables: Tables, first: Row) -> list[str]:
    """Why one job may have another answer: other work, hours planned but not used; else that jobs share a plan."""
    if leading(tables) != PHASES:
        return []
    rows = plan_rows(tables)
    owned = records(rows[rows["option"].isin([first["winner"], first["reference"]]) & rows["planned_hours"].notna()])
    idle = [row for row in owned if row["hours"] < IDLE * row["planned_hours"]]
    told = _other_work(tables, first, rows["model"].iloc[0])
    if idle:
        used = f"{amount(idle[0]['hours'])} of its {amount(idle[0]['planned_hours'])} planned hours"
        told.append("One job counts all planned hours as used.")
        who = "each" if idle[0]["machines"] > 1 else the(text(idle[0]["title"]))
        told.append(f"In the plan {who} works {used}.")
    return told or [SHARED]


def _other_work(tables: Tables, first: Row, model: object) -> list[str]:
    """Of which model the plan's hours are, and whether the rival of one job has no speed on it."""
    if missing(model) or model == first["model"]:
        return []
    options = table_of(tables, "options")
    loser = first["alternative" if first["winner"] == first["reference"] else "reference"]
    known = options[options["option"] == loser] if len(options) else options
    names = dict(zip(options["model"], options["model_title"], strict=True)) if "model_title" in options else {}
    of_plan = text(names.get(model, model))
    said = f"The plan's hours are of {of_plan}, one job is of {text(first['model_title'])}."
    if known.empty or model in set(known["model"]):
        return [said]
    return [said, f"{begun(the(text(known['title'].iloc[0])))} has no speed on {of_plan}."]
