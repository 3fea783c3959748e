"""The charts of the page behind the first: when buying pays, what could turn it, being faster, money, who does it."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from sweetspot.decision_words import FACTOR, in_unit, off_plan
from sweetspot.report import first_charts as charts
from sweetspot.report.first_charts import Dots, Point, Series
from sweetspot.report.notation import missing, records
from sweetspot.report.outcome import KINDS, Outcome
from sweetspot.report.tables import OF_ATTEMPTS, Tables, of_jobs, of_plans, shares_had, table_of
from sweetspot.report.tornado import bar_of, tornado_chart
from sweetspot.study.titles import class_title
from sweetspot.wording import ROUNDS, Money, the, times

FACTORS = tuple(n / 10 for n in range(0, 51, 2))  # of the work
BARS, POINTS, SCENARIOS = 5, 5, 8
Choice = dict[str, Any]  # a row of the choices
KIND_OF = {"there": "keep", "bought": "buy", "rented": "rent"}  # of a source, as choices are called


class Section(NamedTuple):
    """One chart: its id, title, drawing, and where the evidence has more of it."""

    name: str
    title: str
    chart: Markup
    evidence: str


def sections(tables: Tables, found: Outcome, money: Money) -> list[Section]:
    """The charts that this study has something to say in."""
    mine = _of_work(tables, "choices", found)
    made = (
        _when_buying_pays(tables, mine, found, money),
        _what_turns_it(tables, mine, found),
        _faster(tables, mine, found, money),
        _over_time(tables, mine, found, money),
        _who_does_it(tables, found),
        _what_if(tables, money),
    )
    return [one for one in made if one is not None]


def _of_work(tables: Tables, name: str, found: Outcome) -> pd.DataFrame:
    table = table_of(tables, name)
    return table[table["workload"] == found.workload] if len(table) else table


def _what_if(tables: Tables, money: Money) -> Section | None:
    """What the best costs in each scenario, a month where it has months: as the study plans it first; of more than are
    shown those with another answer before the others.
    """
    table = table_of(tables, "scenarios")
    known = table[table["usd"].notna()].reset_index(drop=True) if len(table) else table
    if len(known) < 2:
        return None
    turned = known[~known["same_answer"].astype(bool)].index
    kept = known.loc[sorted(list(dict.fromkeys([0, *turned, *known.index]))[:SCENARIOS])]
    code = f"{money.code} a month" if kept["usd_per_month"].notna().all() else money.code
    chart = charts.dots_chart([_scenario(row, money) for row in records(kept)], code)
    return Section("scenarios", f"What if, in {code}", chart, "scenarios")


def _scenario(row: Choice, money: Money) -> Dots:
    value = float(row["usd"] if missing(row["usd_per_month"]) else row["usd_per_month"])
    outcomes = [float(usd) / money.usd_per_unit / (row["usd"] / value) for usd in row["usd_outcomes"]]
    return Dots(
        row["scenario"], KINDS[row["kind"]].group, row["kind"], row["title"], value, outcomes, not row["scenario"]
    )


def _first(rows: pd.DataFrame, commitment: str) -> Choice | None:
    """The cheapest choice that may be the answer and binds so."""
    kept = records(rows[rows["why_not"].isna() & (rows["commitment"] == commitment) & rows["usd"].notna()].head(1))
    return kept[0] if kept else None


def _when_buying_pays(tables: Tables, mine: pd.DataFrame, found: Outcome, money: Money) -> Section | None:
    """USD against the amount of work, of the cheapest bought and the cheapest that binds less."""
    buy, rent = _first(mine, "buy"), _first(mine, "nothing")
    if buy is None or rent is None:
        return None
    lines, across, code = _by_work(tables, mine, found, (buy, rent)), "times the planned work", money.code
    marks, factor = [(1.0, "plan")], found.work_factor
    if not lines:
        lines, marks = _by_days(tables, found, buy, rent)
        across, code = "days of use a month", f"{code} a month"
    elif factor and 0 < factor < lines[0].points[-1][0] and abs(factor - 1) > 0.1:
        words = f"{100 * factor:.0f} %" if factor < 1 else f"{times(factor)} times"
        marks.append((factor, f"pays from {words}"))
    if not lines:
        return None
    chart = charts.lines_chart(lines, across, code, "Cost by work, bought and rented", marks)
    return Section("pays", "When buying pays", chart, "plan")


def _by_work(tables: Tables, mine: pd.DataFrame, found: Outcome, two: Sequence[Choice]) -> list[Series]:
    """Lines of a plan of phases, whole machines as they are needed; of months, as far as its tornado knows."""
    own, kept = _of_work(tables, "case_figures", found), mine[mine["why_not"].isna()]
    hours = dict(zip(kept["choice"], kept["hours"], strict=True))
    most = min(5.0, max(2.0, 1.4 * (found.work_factor or 1.0)))
    made = []
    for row in two if len(own) else ():
        same = own["purchase"].eq("own") == (row["purchase"] == "own")
        rows = own[(own["cost"] == ROUNDS) & same & own["option"].isin(hours)]
        if row["choice"] in set(rows["option"]):
            every = [_of_option(part, hours[str(name)]) for name, part in rows.groupby("option")]
            factors = [one for one in FACTORS if one <= most + 1e-9]
            made.append(_banded(row, [(factor, min(cost(factor) for cost in every)) for factor in factors]))
    return made if len(made) == 2 else _by_tornado(tables, found, two)


def _of_option(rows: pd.DataFrame, hours: float) -> Callable[[float], float]:
    """USD of a plan of phases on one option by times the planned work: whole machines, as many as their hours need."""
    held, running = float(rows["ownership_usd"].iloc[0]), float(rows["usd"].sum())
    machines, room = float(rows["machines"].iloc[0]), float(rows["room_hours"].iloc[0])

    def cost(factor: float) -> float:
        needed = max(1.0, math.ceil(hours * machines * factor / room - 1e-9)) if room > 0 else machines
        return held / machines * needed + running * factor

    return cost


def _by_tornado(tables: Tables, found: Outcome, two: Sequence[Choice]) -> list[Series]:
    table = of_plans(tables, "tornado")
    mine = (table["workload"] == found.workload) & (table["quantity"] == "jobs") if len(table) else []
    rows = records(table[mine].head(1)) if len(table) else []
    if not rows or not _both_ends(rows[0]):
        return []
    one = rows[0]
    best = [(one["low"], one["usd_low"]), (1.0, one["usd"]), (one["high"], one["usd_high"])]
    margins = (one["margin_low"], one["margin"], one["margin_high"])
    other = [(x, usd * by) for (x, usd), by in zip(best, margins, strict=True)]
    first, second = sorted(two, key=lambda row: row["usd"])
    return [_banded(first, best), _banded(second, other)]


def _banded(row: Choice, points: list[tuple[float, float]]) -> Series:
    low, high = float(row["usd_low"]) / float(row["usd"]), float(row["usd_high"]) / float(row["usd"])
    return Series(_word_of(row), row["kind"], points, [(x, low * y, high * y) for x, y in points])


def _word_of(row: Choice) -> str:
    return "buy" if row["kind"] == "mix" else str(row["kind"])


def _by_days(tables: Tables, found: Outcome, buy: Choice, rent: Choice) -> tuple[list[Series], list[tuple[float, str]]]:
    """Lines of a single work by the days of use a month: what a month costs bought and rented."""
    options, gains = _of_work(tables, "options", found), table_of(tables, "utilisation")
    own = records(options[options["option"] == buy["choice"]].head(1)) if len(options) else []
    if not own or gains.empty:
        return [], []
    rows = gains[(gains["option"] == rent["choice"]) & (gains["model"] == own[0]["model"])]
    if rows.empty or own[0]["option"] != rows["reference"].iloc[0]:
        return [], []
    fixed, hourly = float(own[0]["fixed_usd_per_month"]), float(own[0]["variable_usd_per_hour"])
    days, gain = rows["days"].to_numpy(float), rows[["gain", "gain_low", "gain_high"]].to_numpy(float)
    bought = fixed + 24 * days * hourly
    rented = np.column_stack([days, gain * bought[:, None]]).tolist()
    lines = [
        Series("buy", "buy", list(zip(days.tolist(), bought.tolist(), strict=True))),
        Series("rent", "rent", [(at, usd) for at, usd, *_ in rented], [(at, *ends) for at, _, *ends in rented]),
    ]
    return lines, [(float(own[0]["days_per_month"]), "planned")]


def _what_turns_it(tables: Tables, mine: pd.DataFrame, found: Outcome) -> Section | None:
    """The five assumptions that move the ratio to the rival most."""
    table = of_plans(tables, "tornado")
    rows = table[table["workload"] == found.workload] if len(table) else table
    if rows.empty:
        single, options = of_jobs(tables, "tornado"), _of_work(tables, "options", found)
        rows = single[single["model"].isin(options["model"] if len(options) else ())] if len(single) else single
    known = [row for row in records(rows) if _both_ends(row)]
    if not known:
        return None
    first, commitment = known[0], dict(zip(mine["choice"], mine["commitment"], strict=True))
    two = [str(commitment.get(first.get(name), "")) for name in ("best", "rival")]
    alike = found.level == "commit" and two[0] == two[1] and first.get("best") in commitment
    bars = []
    for row in known[:BARS]:
        threshold = _threshold(row) if _turns_to_the_rival(row, tables, two, found) else ""
        bars.append(bar_of(row, threshold))
    best, rival = (_titled(first, name, mine) for name in ("best", "rival"))
    notes = []
    if _none_turns_it(known, mine, found, alike):
        notes.append("No figure turns it within its range.")
    if alike:
        notes.append("The two differ in the machine, not in the verdict.")
    chart = tornado_chart(bars, best, rival, float(first["margin"]), " ".join(notes))
    return Section("turns", "What could turn the verdict", chart, "plan-turning")


def _none_turns_it(rows: list[Choice], mine: pd.DataFrame, found: Outcome, alike: bool) -> bool:
    """Whether with each assumption at either end the best stays the cheapest, or what is binds to the same."""
    if found.level != "commit":
        return False
    if all(float(row[f"margin_{end}"]) >= 1 for row in rows for end in ("low", "high")):
        return not alike
    commitment = dict(zip(mine["title"], mine["commitment"], strict=True))
    winners = {commitment.get(row[f"winner_{end}"]) for row in rows for end in ("low", "high")}
    return winners == {commitment.get(found.best.title)}


def _finite(value: object) -> bool:
    return not missing(value) and math.isfinite(float(value))  # type: ignore[arg-type]


def _both_ends(row: Choice) -> bool:
    return all(_finite(row.get(f"margin_{end}")) for end in ("low", "high"))


def _turns_to_the_rival(row: Choice, tables: Tables, two: Sequence[str], found: Outcome) -> bool:
    """Whether the nearest turning point is one to what the chart speaks of: a purchase, where that binds and the best
    does not, and the other way round. `two`: what best and rival bind to.
    """
    points = table_of(tables, "turning_points")
    if two[0] == two[1] or "boxes" not in points.columns:
        return True
    mine = points[(points["workload"] == found.workload) & (points["assumption"] == row["assumption"])]
    near = mine[(mine["turning_value"] / row["flip_value"] - 1).abs() < 1e-6] if _finite(row["flip_value"]) else mine
    return near.empty or bool(near["boxes"].iloc[0] > 0) == (two[1] != "nothing")


def _titled(row: Choice, name: str, mine: pd.DataFrame) -> str:
    """The title of a choice of the tornado as a sentence has it: of one machine bought that of the machine."""
    named = records(mine[mine["choice"] == row.get(name)])
    if not named:
        told = row.get(f"{name}_title")
        return the(str(told)) if told else "another choice"
    one = named[0]
    bought = one.get("commitment") == "buy" and one["counts"] == 1 and not missing(one["box_title"])
    return the(str(one["box_title" if bought else "title"]))


def _threshold(row: Choice) -> str:
    """From which value of an assumption the other is the cheaper, in words."""
    if missing(row.get("flip_value")):
        return ""
    if row["unit"] == FACTOR:
        return f"changes if {off_plan(float(row['flip_factor']))}"
    return f"changes at {in_unit(float(row['flip_value']), str(row['unit']), str(row['assumption']))}"


def _faster(tables: Tables, mine: pd.DataFrame, found: Outcome, money: Money) -> Section | None:
    """What finishing earlier costs: the choices than which none is both faster and cheaper."""
    front: list[Choice] = []
    for row in records(mine[mine["why_not"].isna()].dropna(subset=["hours", "usd"]).sort_values(["usd", "hours"])):
        if not front or row["hours"] < front[-1]["hours"] * 0.999:
            front.append(row)
    if len(front) < 2:
        return _by_deadline(tables, found, money)
    step = max(1, math.ceil((len(front) - 1) / (POINTS - 1)))
    kept = [*front[::step][: POINTS - 1], front[-1]] if len(front) > POINTS else front
    points = [
        _point(tables, row["choice"], str(row["title"]), row["kind"], float(row["hours"]), row["usd"]) for row in kept
    ]
    chart = charts.points_chart(points, _across(points, "hours"), money.code, "Hours and cost")
    return Section("faster", "What finishing earlier costs", chart, "time")


def _by_deadline(tables: Tables, found: Outcome, money: Money) -> Section | None:
    """Of the work of months: what one job of the first class costs by where it runs."""
    table = _of_work(tables, "deadlines", found)
    mine = table[table["class"].notna()] if len(table) else table
    if mine.empty:
        return None
    own = mine[mine["class"] == mine["class"].iloc[0]].drop_duplicates("option").head(POINTS)
    sources = table_of(tables, "sources").drop_duplicates("option")
    kinds = dict(zip(sources["option"], sources["kind"], strict=True)) if len(sources) else {}
    points = [
        _point(tables, row["option"], str(row["title"]), KIND_OF[kinds.get(row["option"], "rented")],
               row["hours"] + row["wait_hours"], row["usd"])
        for row in records(own)
    ]  # fmt: skip
    title = f"One job ({class_title(own['class'].iloc[0])}): hours and cost by where it runs"
    across = "hours, waiting included" if own["wait_hours"].gt(0).any() else "hours"
    chart = charts.points_chart(points, _across(points, across), money.code, title)
    return Section("faster", title, chart, "deadlines")


def _point(tables: Tables, option: str, title: str, kind: str, hours: float, usd: float) -> Point:
    """A point of hours and cost; the third that counts, whether it is to be had, where that is known."""
    share, words = shares_had(tables).get(option, (1.0, ""))
    return Point(title + words, kind, hours, usd, share)


def _across(points: Sequence[Point], name: str) -> str:
    """The axis of time; where shares stand in brackets it says of what."""
    return f"{name}{OF_ATTEMPTS}" if any(one.had < 1 for one in points) else name


def _over_time(tables: Tables, mine: pd.DataFrame, found: Outcome, money: Money) -> Section | None:
    """Money spent by the month: the price at once and the resale at the end, against a rent."""
    months = found.usd / found.usd_per_month if found.usd_per_month and found.usd_per_month > 0 else 0.0
    if months <= 1:
        return None
    offers, lines = table_of(tables, "offers"), []
    for commitment in ("buy", "contract", "nothing"):
        row = _first(mine, commitment)
        if row is None:
            continue
        own = offers[(offers["instance"] == row["instance"]) & (offers["purchase"] == "own")] if len(offers) else offers
        paid = sold = 0.0
        for there in records(own.head(1)) if commitment == "buy" else ():
            count = 1.0 if missing(row["counts"]) else float(row["counts"])
            paid = count * float(there["capex_usd"])
            sold = count * (0.0 if missing(there.get("residual_usd")) else float(there["residual_usd"]))
        monthly = (float(row["usd"]) - paid + sold) / months
        points = [(0.0, paid), (months, paid + monthly * months), *([(months, float(row["usd"]))] if sold else [])]
        lines.append(Series(_word_of(row), row["kind"], points))
    if len(lines) < 2:
        return None
    chart = charts.lines_chart(lines, "months", money.code, "Money spent by month")
    return Section("money", "Money over time", chart, "money")


def _who_does_it(tables: Tables, found: Outcome) -> Section | None:
    """Who does the work of the cheapest choice in the months, the busiest first."""
    mine = _of_work(tables, "load", found)
    if mine.empty:
        return None
    # What is rented is one layer: each offer alone is too thin to be seen.
    named = mine.assign(title=mine["title"].where(mine["kind"] != "rented", "rented by the hour"))
    layers = []
    for title, rows in named.groupby("title", sort=False):
        hours = rows.groupby("share_of_months")["device_hours"].sum()
        points = [(100 * float(share), float(load)) for share, load in hours.items()]
        layers.append((str(title), KIND_OF[str(rows["kind"].iloc[0])], points))
    chart = charts.areas_chart(layers, "% of months, busiest first", "device-hours", "Load")
    return Section("load", "Who does the work of the cheapest mix", chart, "plan")
