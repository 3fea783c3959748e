"""Buying later: rent for some months of a plan, then buy. Every machine and month beside buying at once and never."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.decision.counted import TIE, begun, chance, confidence, money, the
from sweetspot.decision.decide import Decided
from sweetspot.decision.later_costs import Plan, Side, Way, at_once, never, rent_then_buy, sides
from sweetspot.decision.mix_later import Told, ways_of_mix
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.standing import shares
from sweetspot.study.yamlfile import load_yaml

TABLE = (
    "workload", "after_months", "option", "title", "box", "box_title", "machines", "until", "until_title", "months",
    "box_usd", "box_usd_low", "box_usd_high", "rent_usd", "usd", "usd_low", "usd_high", "saved_usd", "saved_usd_low",
    "saved_usd_high", "p_saves", "p_cheapest", "confidence", "status",
)  # fmt: skip
NAMED = ("option", "title", "box", "box_title", "machines", "until", "until_title")


class Later(NamedTuple):
    """`table`: a row a plan, machine and month (TABLE); `options`: by plan, what competes beside its own options."""

    table: pd.DataFrame
    options: dict[str, tuple[pd.DataFrame, np.ndarray]]


def load_plans(path: str | Path) -> dict[str, Plan]:
    """The plans of workloads.yaml that ask for `buy_after_months`.

    Only these keys are read: `price_workloads` has checked the file against its models.
    """
    file = Path(path)
    works = load_yaml(file) if file.is_file() else {}
    return {
        name: Plan(name, float(work["months"]), tuple(map(float, work["buy_after_months"])))
        for name, work in works.items()
        if work["kind"] == "plan" and work.get("buy_after_months")
    }


def buying_later(
    plans: Mapping[str, Plan],
    priced: pd.DataFrame,
    options: pd.DataFrame,
    draws: Draws,
    offers: pd.DataFrame,
    seed: int,
) -> Later:
    """The ways to buy later of every plan that asks for it (docs/decision.md).

    `priced`: rows of results/<study>/plans of what fits; `options`, `draws`: of the comparison; `offers`: all offers.
    In the table `box_usd`: price of the machines on the day of purchase; `rent_usd`: what is rented costs; `usd`: the
    whole project, at central figures with 90 % of the draws; `saved_usd`: less than buying the same machine at once;
    `p_saves` that it is less, `confidence` how sure the order of the two is; `p_cheapest` of the
    plan's rows here; `status`: ok, or why a machine is not reckoned.
    """
    rows: list[dict[str, Any]] = []
    others: dict[str, tuple[pd.DataFrame, np.ndarray]] = {}
    for name, plan in plans.items():
        found = sides(plan, priced, options, draws, offers)
        told = [_told(way) for way in _ways(plan, found, draws, seed)]
        rows += _rows(name, plan.months, told)
        others |= _among(name, told)
    return Later(pd.DataFrame(rows, columns=list(TABLE)), others)


def with_mixes(known: Later, decided: Decided, draws: Draws, settings: Settings) -> Later:
    """`known` with the same of every workload of months that asks; its `usd` is the mean of the draws, as of mixes."""
    rows: list[dict[str, Any]] = []
    others = dict(known.options)
    for one in decided.worked:
        name = one.posed.name
        told = list(ways_of_mix(one, draws, decided.words, settings.month_days, settings.seed))
        rows += _rows(name, one.posed.work.months, told)
        others |= _among(name, told)
    table = pd.DataFrame(rows, columns=list(TABLE))
    return Later(pd.concat([known.table, table], ignore_index=True) if rows else known.table, others)


def _told(way: Way) -> Told:
    """A way of a plan as ways of mixes are told."""
    box, until = way.box, way.until
    named = {"box": None if box is None else box.row["option"], "until": None if until is None else until.row["option"]}
    if box is not None:
        named |= {"box_title": box.title, "machines": box.machines, "instance": box.row["instance"]}
    named |= {"until_title": None if until is None else until.title}
    plain = ("after", "option", "title", "hours", "usd", "drawn", "box_usd", "box_drawn", "rent_usd", "status")
    return named | {name: getattr(way, name) for name in plain}


def _ways(plan: Plan, found: Sequence[Side], draws: Draws, seed: int) -> Iterator[Way]:
    """Each machine at once and later, those cheapest at once first; then never buying."""
    boxes = [at_once(plan, side, draws, seed) for side in found if side.row["purchase"] == "own"]
    rented = [side for side in found if side.row["purchase"] != "own"]
    for first in sorted(boxes, key=lambda way: (np.nan_to_num(way.usd, nan=np.inf), way.option)):
        yield first
        if not first.status and first.box is not None:
            for months in plan.after:
                yield from rent_then_buy(plan, first.box, rented, months, draws, seed)
    yield from never(plan, rented)


def _rows(name: str, months: float, ways: Sequence[Told]) -> Iterator[dict[str, Any]]:
    """The rows of the table of one workload."""
    known = [way for way in ways if not way["status"]]
    first = shares(np.stack([way["drawn"] for way in known]), range(len(known))) if known else {}
    for way in ways:
        row = {"workload": name, "after_months": way["after"], "months": months, "status": way["status"] or "ok"}
        row |= {column: way.get(column) for column in NAMED}
        if not way["status"]:
            row |= {"p_cheapest": first[next(place for place, one in enumerate(known) if one is way)]}
            row |= _money(way, next((one for one in known if one["box"] == way["box"] and one["after"] == 0), None))
        yield row


def _money(way: Told, first: Told | None) -> dict[str, Any]:
    """USD of a way, of its machines, and what it saves against the same machines bought at once (`first`)."""
    row: dict[str, Any] = _figure("usd", way.get("usd"), way["drawn"]) | {"rent_usd": way["rent_usd"]}
    if way["box"] is None:
        return row
    row |= _figure("box_usd", way.get("box_usd"), way["box_drawn"])
    if first is None or first is way:
        return row
    saved = first["drawn"] - way["drawn"]
    saves = float(np.mean(saved > 0))
    central = first["usd"] - way["usd"] if "usd" in way else None
    return (
        row | _figure("saved_usd", central, saved) | {"p_saves": saves, "confidence": confidence(max(saves, 1 - saves))}
    )


def _figure(name: str, value: float | None, drawn: np.ndarray) -> dict[str, float]:
    """A figure with 90 % of its draws; without a central one their mean."""
    low, high = interval(drawn)
    return {
        name: float(drawn.mean()) if value is None else value,
        f"{name}_low": float(low),
        f"{name}_high": float(high),
    }


def _among(name: str, ways: Sequence[Told]) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """What buying later adds to the options of a workload (`PricedPhase`)."""
    later = [way for way in ways if not way["status"] and way["box"] is not None and way["after"] > 0]
    rows = [
        {name: way.get(name) for name in ("option", "instance", "title", "hours")}
        | {
            "persistent": True,
            "usd": way.get("usd", float(way["drawn"].mean())),
            "planned_hours": np.nan,
            "boxes": 1.0,
            "after_months": way["after"],
            "purchase": "own",
            "machines": way.get("machines"),
        }
        for way in later
    ]
    return {name: (pd.DataFrame(rows), np.stack([way["drawn"] for way in later]))} if later else {}


Row = Mapping[str, Any]


def later_in_words(table: pd.DataFrame, code: str = "USD") -> list[str]:
    """Of each plan: the machine that is cheapest at once, bought later; then which of all these ways is the cheapest.

    `table`: comparison/later.parquet; `code`: its currency. Empty where no plan asks.
    """
    said = []
    for name, rows in table.groupby("workload", sort=False) if len(table) else ():
        known = rows[rows["status"] == "ok"].to_dict("records")
        bought = [row for row in known if pd.notna(row["box"])]
        if not bought:
            said.append(f"Buying later in {name}: no machine that may be bought is reckoned.")
            continue
        first, *later = [row for row in bought if row["box"] == bought[0]["box"]]
        over = f"{money(first['usd'])} {code} over {first['months']:g} months"
        said.append(f"{begun(the(first['title']))}, bought at once: {over}.")
        said += [_later(row, code) for row in later]
        said += _least(known, code)
    return said


def _later(row: Row, code: str) -> str:
    saved, low, high = (row[f"saved_usd{end}"] for end in ("", "_low", "_high"))
    less = saved >= 0
    ends = sorted((low, high) if less else (-high, -low))
    span = " to ".join(f"{'−' if end < 0 else ''}{money(abs(end))}" for end in ends)
    likely = row["p_saves"] if less else 1 - row["p_saves"]
    told = TIE if confidence(max(likely, 1 - likely)) == TIE else chance(likely)
    return (
        f"Bought in {row['after_months']:g} months, renting {the(row['until_title'])} until then: "
        f"{money(row['usd'])} {code}, {money(abs(saved))} {'less' if less else 'more'} ({span}), {told}."
    )


def _least(known: list[Row], code: str) -> list[str]:
    """The cheapest of the ways, and what never to buy costs where that is another."""
    best = min(known, key=lambda row: row["usd"])
    sure = chance(best["p_cheapest"])
    if pd.isna(best["box"]):
        return [
            f"Cheapest of these is never to buy: {the(best['title'])} for all {best['months']:g} months, "
            f"{money(best['usd'])} {code}, {sure}."
        ]
    when = "at once" if best["after_months"] == 0 else f"in {best['after_months']:g} months"
    never = [f"Never to buy costs {money(row['usd'])} {code}." for row in known if pd.isna(row["box"])]
    return [f"Cheapest of these is {the(best['box_title'])}, bought {when}, {sure}.", *never]
