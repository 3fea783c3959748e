"""What a project costs on each option that competes, in every draw: the costs by which a figure's worth is told."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY, usd_per_hour_of_use
from sweetspot.decision.breakeven import references
from sweetspot.decision.options import Row, records, trained
from sweetspot.decision.simulate import Draws


class Project(NamedTuple):
    """One model's project.

    `told`: its size in words; `rows`: the options that compete, cheapest on average first; `usd`: one row an option,
    one column a draw; `mean`, `central`: its mean, and the cost at central figures (of the same work, any unit);
    `reference`: the owned machine whose planned use is the project, None where the workloads are.
    """

    model: str
    told: str
    rows: list[Row]
    usd: np.ndarray
    mean: np.ndarray
    central: np.ndarray
    reference: Row | None


def projects(options: pd.DataFrame, draws: Draws, month_days: float) -> list[Project]:
    """One project a model that has two options or more: those that stay, of those that the answer may take.

    Where the reference is owned, the project is the work that it does in its planned days over its months, at USD per
    image, as in the tornado; else all workloads of the model, once each, by their bills. Options with a draw that never
    ends do not compete.
    """
    own, found = references(options), []
    for model, table in trained(options).items():
        inside = table[table["in_answer"].astype(bool)]
        kept = inside[inside["persistent"].astype(bool)]
        pool = kept if len(kept) else inside
        box = own.get(model)
        if len(pool) > 1:
            if box is not None and box["purchase"] == "own":
                one = _of_use(model, pool, box, draws, month_days)
            else:
                one = _of_workloads(model, pool, options, draws)
            found.append(finite(one))
    return [one for one in found if len(one.rows) > 1]


def finite(one: Project) -> Project:
    """The options that end in every draw, the cheapest on average first."""
    whole = np.isfinite(one.usd).all(axis=1)
    order = [place for place in np.argsort(one.mean, kind="stable") if whole[place]]
    chosen = {name: getattr(one, name)[order] for name in ("usd", "mean", "central")}
    return one._replace(rows=[one.rows[place] for place in order], **chosen)


def _of_workloads(model: str, pool: pd.DataFrame, options: pd.DataFrame, draws: Draws) -> Project:
    """All workloads of the model that every option does, once each."""
    same = options[options["model"].eq(model) & options["option"].isin(pool["option"])]
    whole = same.groupby("workload")["option"].nunique()
    names = [str(name) for name in whole[whole == len(pool)].index]
    parts = same[same["workload"].isin(names)].groupby("option").groups
    rows = records(pool)
    places = [parts[row["option"]] if names else [row["row"]] for row in rows]
    usd = np.stack([draws.usd[place].sum(axis=0) for place in places])
    bills = options["usd"].to_numpy(float)
    central = np.array([bills[place].sum() for place in places])
    return Project(model, ", ".join(names), rows, usd, usd.mean(axis=1), central, None)


def _of_use(model: str, pool: pd.DataFrame, box: Row, draws: Draws, month_days: float) -> Project:
    """The work of the box in its planned days over its months, on each option.

    Days of use are one figure, that of the work to be done: with `use` times the planned days there is `use` times the
    work, and all that is paid by the month, owned or by contract, is used so many times more. At its own central days
    and length every option then costs what its USD per image say.
    """
    here, days, months = box["row"], float(box["days_per_month"]), float(box["months"])
    use = np.minimum(draws.days[here], month_days) / days
    longer = next((one.values / months for one in draws.figures if one.name == "months" and here in one.rows), 1.0)
    images = 3600.0 * float(box["images_per_s"]) * HOURS_A_DAY * days * months * use * longer
    rows = records(pool)
    usd = [images * _usd_per_hour(row, draws, use) / (3600.0 * draws.images_per_s[row["row"]]) for row in rows]
    made, central = np.stack(usd), np.array([1.0 / float(row["images_per_usd"]) for row in rows])
    told = f"{days:g} days of use a month for {months:g} months"
    return Project(model, told, rows, made, made.mean(axis=1), central, box)


def _usd_per_hour(row: Row, draws: Draws, use: np.ndarray) -> np.ndarray:
    """USD an hour of use at `use` times the days that the option is planned to be used."""
    fixed, variable = draws.fixed[row["row"]], draws.variable[row["row"]]
    if row["purchase"] == "own":
        hour: np.ndarray = usd_per_hour_of_use(fixed, variable, float(row["days_per_month"]) * use)
        return hour
    return float(row["variable_usd_per_hour"]) / use if by_contract(row) else variable


def by_contract(row: Row) -> bool:
    """Whether a rented machine is paid by the month, used or not: the price of its hour goes as one over its days."""
    return row["purchase"] != "own" and bool(pd.notna(row["days_per_month"]))
