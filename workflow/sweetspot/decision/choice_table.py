"""What one could do for each work of a study: all choices, with draws, by what they bind one to."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.decision.cost_rounds import PricedPlan
from sweetspot.decision.dispatch_tables import Worked, mix_rows
from sweetspot.decision.options import NO_MODEL, Row, records
from sweetspot.decision.rates import or_zero, possession
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import Draws, interval
from sweetspot.decision.standing import p_cheaper
from sweetspot.wording import DISPATCH, ROUNDS, SHARE

KEEP, RENT, CONTRACT, BUY, MIX = "keep", "rent", "contract", "buy", "mix"
MOSTLY = 0.5  # of the work done by what is there: keeping it is what the choice is called
NOTHING = "nothing"  # a choice that binds nobody: what is there, or rented by the hour or month
TERMS = ("reserved", "committed")
DOTS = 20  # quantiles of the money, equally likely outcomes
SAME = 1e-6  # choices whose money differs by a smaller share in every draw are one alternative
COLUMNS = (
    "workload", "workload_title", "choice", "alternative", "kind", "binds", "title", "instance", "purchase",
    "price_list", "counts", "months", "hours", "device_hours", "usd", "usd_low", "usd_high", "usd_outcomes",
    "usd_per_month", "usd_per_month_low", "usd_per_month_high", "usd_at_todays_prices", "p_cheapest", "p_cheaper",
    "is_best", "is_rival", "ratio", "ratio_low", "ratio_high", "in_hand", "why_not", "cost", "model", "persistent",
    "basis", "hours_low", "hours_high", "planned_hours", "usd_running", "usd_possession", "after_months", "mix",
    "source", "usd_per_month_central", "box_title",
)  # fmt: skip
OF_PHASES = ("hours", "hours_low", "hours_high", "planned_hours", "usd", "usd_running", "usd_possession",
             "after_months")  # fmt: skip
RANK = (NOTHING, CONTRACT, BUY)  # from what commits to least


class Work(NamedTuple):
    """One work with its choices, cheapest first.

    `table`: COLUMNS up to `months`, hours, `usd` (of the whole work, at central figures), `stands` (may be the answer),
    `why_not`; of a machine bought `capex_usd`, `box_title` (null: none) and `usd_per_capex` (USD of the work by each
    USD of that price); of a single workload `month_usd` (of what is paid by the month, used or not). `usd`: draws over
    the project, rents moving as the study says; `today`: the same where rents stay as they are today; `capex`: draws
    of the price of a machine bought, infinite where none is. `busy`: days of use a month that a work which is no
    `plan` supposes of an owned machine; `cost`: share, rounds or dispatch; `model` that its hours are of.
    """

    name: str
    title: str
    months: float
    table: pd.DataFrame
    usd: np.ndarray
    today: np.ndarray
    capex: np.ndarray
    busy: float = np.nan
    cost: str = SHARE
    model: str = ""

    @property
    def plan(self) -> bool:
        """Whether it is a plan, of phases or of months."""
        return self.cost != SHARE


def works(
    options: pd.DataFrame,
    draws: Draws,
    plans: Sequence[PricedPlan],
    figures: pd.DataFrame,
    monthly: Sequence[Worked],
    settings: Settings,
    titles: Mapping[str, str] | None = None,
) -> list[Work]:
    """The plans of months, the plans of phases, then each single workload of the options that is no part of these.

    `plans`: those of phases, of which `figures` has the hours (`case_figures`); `monthly`: work
    of months with its mixes; `titles`: names of plans.
    """
    found = [_of_months(one, options, draws) for one in monthly]
    found += [_of_phases(one, options, draws, figures) for one in plans]
    parts = {f"{one.posed.name}." for one in monthly}
    single = [name for name in dict.fromkeys(options["workload"].dropna()) if not name.startswith(tuple(parts) or "\0")]
    found = [one._replace(title=(titles or {}).get(one.name, one.title)) for one in found]
    return [*found, *(_single(str(name), options, draws, settings) for name in single)]


def choice_table(found: Sequence[Work], in_hand: Sequence[str]) -> pd.DataFrame:
    """One row a work and choice (COLUMNS), cheapest first.

    `kind`: keep, rent, contract, buy, mix; `binds`: to nothing, a contract or a purchase. USD of the work over its
    project, with 90 % of the draws in `_low`, `_high`, DOTS equally likely `usd_outcomes` and
    `usd_at_todays_prices` (no rent moves); a month of it where the work has months. `p_cheapest`: share of the draws in
    which the choice's alternative costs least of all that may be the answer; `p_cheaper`: in which it costs less than
    the best; `ratio`: its USD / those of the best. `is_best`: the cheapest that may be the answer; `is_rival`: the
    cheapest of these that binds to something else, or where none does the cheapest other alternative. `in_hand`: its
    price list, machine or key is among `offers_in_hand` (none named: all). `why_not`: why it is not the answer. `cost`:
    share, rounds or dispatch. Of a plan of phases `usd_running` by use, `usd_possession` by the month, `planned_hours`
    of one machine, `after_months`: bought so late (null: at once); of months the kind of the `mix` and its `source`.
    """
    rows = [row for one in found for row in _rows(one, set(in_hand))]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def standing_of(one: Work) -> tuple[int, int | None]:
    """Places of the best of a work and of what it is held against, as `is_best` and `is_rival` say; one at least."""
    places = [place for place, stands in enumerate(one.table["stands"]) if stands]
    best = places[0]
    return best, against(one, best, places, bound=True) or against(one, best, places)


def against(one: Work, best: int, places: Sequence[int], bound: bool = False) -> int | None:
    """Of `places` in their order the first that is another alternative than `best`; `bound`: binds to something else.

    Equal in every draw is no other alternative.
    """
    name = "binds" if bound else "alternative"
    keys = one.table[name].to_numpy(object)
    for place in places:
        if keys[place] != keys[best] and not np.allclose(one.usd[place], one.usd[best], rtol=SAME, atol=0.0):
            return place
    return None


def _rows(one: Work, in_hand: set[str]) -> Iterator[Row]:
    table = one.table
    stands = table["stands"].to_numpy(bool)
    best, rival = standing_of(one) if stands.any() else (None, None)
    least = one.usd[stands].min(axis=0) if stands.any() else np.full(one.usd.shape[1], np.inf)
    for place, row in enumerate(table.to_dict("records")):
        usd = one.usd[place]
        known = bool(np.isfinite(row["usd"]))
        alike = stands & (table["alternative"] == row["alternative"]).to_numpy()
        made: Row = {name: row.get(name) for name in COLUMNS} | {
            "workload": one.name, "workload_title": one.title, "months": one.months, "cost": one.cost,
            "model": one.model or None,
            "is_best": place == best, "is_rival": place == rival,
            "in_hand": not in_hand or bool({row["choice"], row["instance"], row["price_list"]} & in_hand),
        }  # fmt: skip
        if not known:  # what does not do the work has no money: infinite is no number of JSON
            made |= {"usd": None, "usd_at_todays_prices": None}
        if known:
            low, high = (float(end) for end in interval(usd))
            ends = {"": float(row["usd"]), "_low": low, "_high": high}
            made |= {f"usd{end}": value for end, value in ends.items()}
            made |= {f"usd_per_month{end}": value / one.months for end, value in ends.items()}
            made |= {"usd_outcomes": np.quantile(usd, (np.arange(DOTS) + 0.5) / DOTS, method="nearest").tolist()}
            if alike.any():
                made["p_cheapest"] = float(np.mean(one.usd[alike].min(axis=0) <= least * (1 + SAME)))
        if known and best is not None:
            with np.errstate(invalid="ignore"):
                low, high = (float(end) for end in interval(usd / one.usd[best]))
            ratio = row["usd"] / table["usd"].iloc[best]
            made |= {"ratio": ratio, "ratio_low": low, "ratio_high": high}
            made["p_cheaper"] = p_cheaper(usd, one.usd[best]) if place != best else None
        yield made


def _sorted(
    name: str, title: str, months: float, rows: Sequence[Row], usd: np.ndarray, today: np.ndarray, capex: np.ndarray,
    cost: str = SHARE, model: str = "", busy: float = np.nan,
) -> Work:  # fmt: skip
    """A work of rows in any order: those that stay may be the answer, with the study's own; all where none stays."""
    table = pd.DataFrame(rows)
    able = table["in_answer"].astype(bool) & np.isfinite(table["usd"].astype(float))
    kept = able & (table["persistent"].astype(bool) | table["is_reference"].astype(bool))
    table["stands"] = kept if kept.any() else able
    table["why_not"] = [_why_not(row) for row in table.to_dict("records")]
    order = table.sort_values(["usd", "choice"], kind="stable").index.to_numpy()
    return Work(
        name, title, months, table.loc[order].reset_index(drop=True), usd[order], today[order], capex[order], busy,
        cost, model,
    )  # fmt: skip


def _why_not(row: Mapping[Any, Any]) -> str | None:
    if row["stands"]:
        return None
    if row.get("why_not"):
        return str(row["why_not"])
    return "not of the price lists that the answer takes" if not row["in_answer"] else "it can be interrupted"


def _kind_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Kind of one option, and what it binds to."""
    if row["purchase"] == "own":
        there = not or_zero(row["capex_usd"]) > 0
        return (KEEP, NOTHING) if there else (BUY, BUY)
    return (CONTRACT, CONTRACT) if row["purchase"] in TERMS else (RENT, NOTHING)


def _facts(row: Row) -> Row:
    """What the options say of one."""
    kind, binds = _kind_of(row)
    names = ("alternative", "title", "instance", "purchase", "price_list", "persistent", "in_answer", "is_reference",
             "basis")  # fmt: skip
    return {name: row[name] for name in names} | {
        "choice": row["option"],
        "kind": kind,
        "binds": binds,
        "box_title": row["title"],
    }


def _rents_stay(row: Row, draws: Draws) -> np.ndarray | float:
    """What the USD of an option are multiplied with where its rent stays as it is today."""
    if draws.rents is None or row["purchase"] == "own":
        return 1.0
    return 1.0 / (draws.rents.factor(row) * float(row["rent_factor"]))


def _price_of(row: Row, draws: Draws) -> np.ndarray | float:
    """Draws of the price of a machine for sale; infinite for what is not."""
    if not or_zero(row["capex_usd"]) > 0 or row["purchase"] != "own":
        return np.inf
    drawn = (one.values for one in draws.figures if one.name == "capex_usd" and row["row"] in one.rows)
    return next(drawn, float(row["capex_usd"]))


def _by_price(row: Row, fixed_usd: float) -> float:
    """USD of a work by each USD of the machine's price, of `fixed_usd` that it pays for having it."""
    capex = or_zero(row["capex_usd"])
    if row["purchase"] != "own" or not capex > 0 or not row["fixed_usd_per_month"] > 0:
        return 0.0
    now = possession(row, lambda _: 1.0)
    dearer = possession(row, lambda name: 1.1 if name == "capex_usd" else 1.0)
    return float(fixed_usd / row["fixed_usd_per_month"] * np.asarray(dearer - now) / (0.1 * capex))


def _of_phases(plan: PricedPlan, options: pd.DataFrame, draws: Draws, figures: pd.DataFrame) -> Work:
    known = {row["option"]: row for row in records(options[options["model"] == plan.model])}
    own = figures[figures["workload"] == plan.name]
    jobs = (own["jobs"] * own["job_hours"] / own["slots"]).groupby(own["option"]).sum()
    rows, usd, today, capex = [], [], [], []
    for place, told in enumerate(plan.table.to_dict("records")):
        row = known.get(told["option"]) or known[told["box"]]
        later = pd.notna(told.get("after_months"))
        boxes = float(told["boxes"]) if pd.notna(told.get("boxes")) else 1.0
        devices = float(jobs.get(told["option"], np.nan)) * float(row["gpus"] or 1)
        rows.append(_facts(row) | {name: told.get(name) for name in OF_PHASES} | {
            "choice": told["option"], "title": told["title"], "alternative": told["alternative"],
            "device_hours": devices, "counts": boxes,
            "capex_usd": row["capex_usd"], "usd_per_capex": 0.0 if later else _by_price(row, told["usd_possession"]),
        })  # fmt: skip
        usd.append(plan.usd[place])
        today.append(plan.usd[place] * (1.0 if later else _rents_stay(row, draws)))
        capex.append(np.broadcast_to(_price_of(row, draws), plan.usd[place].shape))
        rows[-1]["usd_at_todays_prices"] = told["usd"] / (1.0 if row["purchase"] == "own" else row["rent_factor"])
    drawn = (np.stack(usd), np.stack(today), np.stack(capex))
    return _sorted(plan.name, plan.name, plan.months, rows, *drawn, ROUNDS, plan.model)


def _of_months(worked: Worked, options: pd.DataFrame, draws: Draws) -> Work:
    known = {row["option"]: row for row in records(options.drop_duplicates("option"))}
    posed, months = worked.posed, float(worked.posed.work.months)
    rows, usd, capex = [], [], []
    for mix, told in mix_rows(worked):
        bought = list(mix.bought.items())
        box = known[bought[0][0]] if bought else None
        kind, binds = _mixed(told, box)
        fixed = 0.0 if box is None else float(box["fixed_usd_per_month"]) * bought[0][1] * months
        rows.append(told | {
            "alternative": told["choice"], "kind": kind, "binds": binds, "persistent": True, "in_answer": True,
            "is_reference": False, "usd_at_todays_prices": told["usd"], "purchase": None, "hours": np.nan,
            "instance": told["main_rented"] if box is None else box["instance"],
            **{name: None if box is None else box[of] for name, of in (("box_title", "title"), ("price_list",) * 2)},
            "capex_usd": np.nan if box is None else box["capex_usd"],
            "usd_per_capex": 0.0 if box is None else _by_price(box, fixed),
        })  # fmt: skip
        usd.append(mix.done.usd * months)
        price = np.inf if box is None else _price_of(box, draws)
        width = mix.done.usd.size
        capex.append(price[:width] if isinstance(price, np.ndarray) else np.full(width, price))
    drawn = np.stack(usd)
    return _sorted(posed.name, posed.name, months, rows, drawn, drawn, np.stack(capex), DISPATCH)


def _mixed(told: Row, box: Row | None) -> tuple[str, str]:
    """Kind of a mix, and what it binds to: to a purchase or contract where machines are held for it."""
    if box is None:
        return (KEEP if told["there_device_hours"] >= MOSTLY * told["device_hours"] else RENT), NOTHING
    kind, binds = _kind_of(box)
    return (MIX if told["main_rented"] is not None else kind), binds


def _single(name: str, options: pd.DataFrame, draws: Draws, settings: Settings) -> Work:
    found = records(options[options["workload"] == name])
    rows, usd, today, capex, width = [], [], [], [], draws.usd.shape[1]
    for row in found:
        paid = float(row["hours"]) / (HOURS_A_DAY * row["days_per_month"]) if row["purchase"] == "own" else 0.0
        rows.append(_facts(row) | {
            "hours": row["hours"], "device_hours": row["hours"] * (row["gpus"] if pd.notna(row["gpus"]) else 1),
            "usd": row["usd"], "counts": 1.0, "capex_usd": row["capex_usd"], "month_usd": row["month_usd"],
            "usd_per_capex": _by_price(row, paid * or_zero(row["fixed_usd_per_month"])),
            "usd_at_todays_prices": row["usd"] / (1.0 if row["purchase"] == "own" else row["rent_factor"]),
        })  # fmt: skip
        usd.append(draws.usd[row["row"]])
        today.append(draws.usd[row["row"]] * _rents_stay(row, draws))
        capex.append(np.broadcast_to(_price_of(row, draws), (width,)))
    busy = next((float(row["days_per_month"]) for row in found if _kind_of(row)[0] == BUY), np.nan)
    title = _title(name, found[0])
    months = 1.0 if settings.counts == "month" else np.nan
    drawn = (np.stack(usd), np.stack(today), np.stack(capex))
    return _sorted(name, title, months, rows, *drawn, SHARE, str(found[0]["model"]), busy)


def _title(name: str, row: Row) -> str:
    """A name for people of a single workload: its own, else that of its model."""
    told = str(row.get("workload_title") or name)
    return told if told != name or row["model"] == NO_MODEL else str(row["model_title"])
