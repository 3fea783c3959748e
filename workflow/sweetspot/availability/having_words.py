"""What it takes to have the machine that the verdict names, in sentences."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sweetspot.availability.events import any_of
from sweetspot.study.titles import provider_title
from sweetspot.wording import begun, counted, listed, percent, span, the, times

SELDOM, MORE = 0.5, 1.5  # a machine seldom to be had is told with one that is so many times as often to be had
CHANCES = ("machine_title", "p_stock", "p_stock_low", "p_stock_high")
LONGEST = 4  # names of sellers that a sentence has
Row = Mapping[str, Any]


def having_in_words(options: pd.DataFrame, verdict: Row, usd: Mapping[str, float] | None = None) -> list[str]:
    """A few sentences on what the verdict says to take, by the columns of the options (`with_having`).

    `usd`: what options cost for the verdict's work, where it says so of the one to take; else one of their jobs. None
    where nothing is known of it, or where what to take is no option alone.
    """
    mine = options[options["option"] == verdict["take"]] if "p_stock" in options.columns else options.head(0)
    here = mine[mine["workload"] == verdict["workload"]]
    if mine.empty:
        return []
    every = options[options["workload"] == (here if len(here) else mine)["workload"].iloc[0]]
    if usd and verdict["take"] in usd:
        every = every.assign(usd=every["option"].map(usd).astype(float))
    row: Row = every[every["option"] == verdict["take"]].iloc[0].to_dict()
    if row["purchase"] == "own":
        told = [_delivered(row)]
    elif not math.isnan(row["start_hours_high"]):
        told = [f"{begun(the(str(row['title'])))} begins on a date, at most {_long(row['start_hours_high'])} ahead."]
    elif math.isnan(row["p_stock_high"]) or row["purchase"] != "on_demand":
        told = []
    else:
        paid = every if row["usd"] > 0 else every.head(0)  # beside what is free all else is dear without end
        told = [_stock(row), *_otherwise(paid, row)]
        told += [] if math.isnan(row["p_stock"]) else [_sellers(row), _more_often(paid, row)]
    if len(here) and told and not math.isnan(row["hours_to_result"]):
        half, late = _long(row["hours_to_result"]), _long(row["hours_to_result_p90"])
        told.append(f"Counted from today, half of the results are there within {half}, 90 % within {late}.")
    return [said for said in told if said]


def chances_of(options: pd.DataFrame, machines: Sequence[str]) -> dict[str, list[Any]]:
    """Columns of the verdict: the title of each machine to take, and in which share of attempts it is to be had, with
    its ends; null where that is not known, or where it is bought or begins on a date.
    """
    by_option = options.drop_duplicates("option").set_index("option")
    found: dict[str, list[Any]] = {name: [] for name in CHANCES}
    for machine in machines:
        row = by_option.loc[machine].to_dict() if machine in by_option.index and "p_stock" in by_option else {}
        rented = row.get("purchase") == "on_demand" and math.isnan(row["start_hours_high"])
        found["machine_title"].append(row.get("title"))
        for name in CHANCES[1:]:
            found[name].append(float(row[name]) if rented else math.nan)
    return found


def _otherwise(options: pd.DataFrame, row: Row) -> list[str]:
    """What a fallback costs, the next cheapest and a block; and how often any machine is there, at what mean cost."""
    others = options[options["in_answer"].astype(bool) & options["usd"].notna() & options["purchase"].eq("on_demand")]
    others = others.sort_values(["usd", "option"], kind="stable")
    apart = others[others["p_stock"].notna() & others["start_hours_high"].isna()].drop_duplicates("stock_event")
    told = list[str]()
    for one in (*apart[apart["stock_event"] != row["stock_event"]].head(1).to_dict("records"),
                *others[others["start_hours_high"].notna()].head(1).to_dict("records")):  # fmt: skip
        costs, much = ("", "") if told else ("costs ", " as much")
        dated = not math.isnan(one["start_hours_high"])
        from_then = f", from a date at most {_long(one['start_hours_high'])} ahead" if dated else ""
        told.append(f"{the(str(one['title']))} {costs}{times(one['usd'] / row['usd'])} times{much}{from_then}")
    said = [f"If it is not: {listed(told)}."] if told and row["p_stock"] != 1 else []
    chance = any_of(apart["p_stock"])
    if len(apart) > 1 and not math.isnan(row["p_stock"]) and row["p_stock"] < chance:
        # Who finds no cheaper one takes the next: p of each after (1 - p) of all before.
        share = apart["p_stock"] * (1.0 - apart["p_stock"]).shift(fill_value=1.0).cumprod()
        mean = float((share * apart["usd"]).sum() / chance / row["usd"])
        found = f"One of {len(apart)} offers whose stock is known is there in {percent(chance)} of attempts"
        said.append(f"{found}, the cheapest of them for {times(mean)} times the cost on average; else none is.")
    return said


def _delivered(row: Row) -> str:
    value, low, high = (f"{row[f'start_hours{end}'] / 168.0:.0f}" for end in ("", "_low", "_high"))
    if value in ("0", "nan"):
        return ""
    ends = f" ({low} to {high})" if low != high else ""
    return f"Delivery of such a server takes about {value} week{'s' if value != '1' else ''}{ends}."


def _stock(row: Row) -> str:
    """In what share of attempts its seller has one, and how long it takes if not."""
    if math.isnan(row["p_stock"]):
        return f"How often {the(str(row['title']))} is to be had is not published."
    low, high = percent(row["p_stock_low"]).removesuffix(" %"), percent(row["p_stock_high"])
    ends = f" ({low} to {high})" if row["p_stock_low"] < row["p_stock_high"] else ""
    wait = row["stock_wait_hours"]
    late = f", else after {_long(wait)} on average" if wait > 0 and row["p_stock"] < 1 else ""
    return f"{begun(the(str(row['title'])))} is to be had in {percent(row['p_stock'])} of attempts{ends}{late}."


def _sellers(row: Row) -> str:
    """In what share of attempts any of the sellers of the same machine has one."""
    names = [provider_title(name) for name in str(row["sellers"]).split(", ")]
    if pd.isna(row["p_stock_any"]) or len(names) < 2 or row["p_stock_any"] <= row["p_stock"]:
        return ""
    named = listed(names) if len(names) <= LONGEST else f"{len(names)} sellers"
    return f"Who takes any of {named} gets {_machine(row)} in {percent(row['p_stock_any'])} of attempts."


def _more_often(options: pd.DataFrame, row: Row) -> str:
    """Of a machine that is seldom to be had, which other is far more often there, and what it costs."""
    mine = row["p_stock"] if math.isnan(row["p_stock_any"]) else row["p_stock_any"]
    others = options[options["in_answer"].astype(bool) & options["p_stock_any"].notna() & options["usd"].notna()]
    others = others[others["gpu"] != row["gpu"]].sort_values(["p_stock_any", "usd"], ascending=[False, True])
    if mine >= SELDOM or others.empty or others["p_stock_any"].iloc[0] < MORE * mine:
        return ""
    other = others.iloc[0].to_dict()
    price = f"{times(other['usd'] / row['usd'])} times the cost"
    where = counted(len(str(other["sellers"]).split(", ")), "seller", "sellers")
    often = f"in {percent(other['p_stock_any'])} of attempts"
    return f"More often there: {_machine(other)} at one of {where}, {often}, for {price}."


def _machine(row: Row) -> str:
    nodes = 1.0 if pd.isna(row["nodes"]) else float(row["nodes"])
    return f"{row['gpus'] / nodes:.0f} {row['gpu']}"


def _long(hours: float) -> str:
    """A time in minutes, hours, or days from two on."""
    return span(hours) if hours < 48 else f"{float(f'{hours / 24:.2g}'):g} days"
