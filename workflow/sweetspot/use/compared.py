"""The plan against what was paid and used: months beside each other, what explains the difference, what it changes."""

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.study.price_list import RATE_HOURS
from sweetspot.study.scenarios import Scenario
from sweetspot.study.yamlfile import load_yaml
from sweetspot.use.plan_months import PlanMonths

MONTH_COLUMNS = (
    "month", "usd", "billed_usd", "as_planned_usd", "device_hours", "used_device_hours", "jobs", "wait_hours",
    "tax_usd", "credit_usd", "other_usd", "plan_usd", "plan_usd_low", "plan_usd_high", "plan_device_hours", "within",
)  # fmt: skip
"""usd: for the machines of the study, `billed_usd` of it by the bill, `as_planned_usd` of machines held that no bill
names; device_hours: paid for; used_device_hours, jobs (that began in the month), wait_hours (mean) by a record of jobs,
NaN without one; tax_usd, credit_usd, other_usd: what else the bill has, in none of them; plan_*: of the answer, a mean
month; within: whether usd is within its 90 %."""
PRICE, SPEED, JOBS, WAITING, HOURS = "price", "speed", "jobs", "waiting", "hours"
SAYS = {
    PRICE: "price (USD of an hour of a device)", SPEED: "speed (device-hours of a job)", JOBS: "number of jobs",
    WAITING: "waiting (hours paid for in which no job ran)", HOURS: "hours of devices (no record tells of jobs)",
}  # fmt: skip
SAME = 1e-9
NOW = "actual"  # the scenario of what is known now
Offered = tuple[str, str, str]  # price list, instance, purchase


class Compared(NamedTuple):
    """months: MONTH_COLUMNS, a row a month; explained: USD a month by cause, which add up to the mean difference;
    price_ratios: actual over planned USD of an hour, by offer of what is rented; work_ratio: hours of
    jobs over planned ones.
    """

    months: pd.DataFrame
    explained: dict[str, float]
    price_ratios: dict[Offered, float]
    work_ratio: float

    @property
    def difference(self) -> float:
        """USD a month that were paid above the plan."""
        return float((self.months["usd"] - self.months["plan_usd"]).mean())


def compared(
    plan: PlanMonths, bill: pd.DataFrame | None, used: pd.DataFrame | None, jobs_a_month: float | None
) -> Compared:
    """The plan beside a bill (FOCUS_COLUMNS, money in USD), a record (`job_months`), or both, in the months they share.

    Of a machine held that the bill does not name, the plan's cost is taken, for no month of it was billed; without a
    bill all hours are priced as planned. Raises UserError where bill and record share no month.
    """
    months = _months(bill, used)
    covered = plan.parts["instance"].isin([] if bill is None else bill["machine"].unique())
    held = plan.parts[~covered & plan.parts["held"]]
    rows = months.assign(
        plan_usd=plan.usd, plan_usd_low=plan.usd_low, plan_usd_high=plan.usd_high,
        plan_device_hours=plan.parts["device_hours"].sum(),
    )  # fmt: skip
    having = float(held["usd_having"].sum())
    if bill is None:
        planned = float(plan.parts["usd_having"].sum())
        a_device_hour = _ratio(plan.usd - planned, rows["plan_device_hours"].iloc[0])
        rows["as_planned_usd"] = planned + rows["used_device_hours"] * a_device_hour
        rows["device_hours"], having = rows["used_device_hours"], planned
    else:
        rows["as_planned_usd"] = having + float(held["usd_using"].sum())
        rows["device_hours"] += float(held["device_hours"].sum())
    rows["usd"] = rows["billed_usd"] + rows["as_planned_usd"]
    slack = SAME * abs(plan.usd)
    rows["within"] = rows["usd"].between(plan.usd_low - slack, plan.usd_high + slack)
    told = rows[list(MONTH_COLUMNS)]
    return Compared(told, explained(told, having, jobs_a_month), _price_ratios(plan, bill), _work_ratio(told))


def _months(bill: pd.DataFrame | None, used: pd.DataFrame | None) -> pd.DataFrame:
    """What bill and record say of each month that both have."""
    parts = []
    if bill is not None:
        of_machine, tax = bill["machine"] != "", bill["category"] == "Tax"
        kinds = {"tax_usd": tax, "credit_usd": (bill["category"] == "Credit") & ~of_machine}
        kinds["billed_usd"] = of_machine & ~tax
        kinds["other_usd"] = ~(kinds["billed_usd"] | kinds["tax_usd"] | kinds["credit_usd"])
        sums = {name: bill["effective_cost"].where(chosen, 0.0) for name, chosen in kinds.items()}
        sums["device_hours"] = bill["device_hours"]
        parts.append(pd.DataFrame(sums).groupby(bill["month"]).sum())
    if used is not None:
        parts.append(used.set_index("month"))
    rows = pd.concat(parts, axis=1, join="inner").sort_index()
    if rows.empty:
        raise UserError("bill and record of jobs share no month; expected records of the same time")
    for name in ("billed_usd", "tax_usd", "credit_usd", "other_usd"):
        rows[name] = rows.get(name, 0.0)
    for name in ("device_hours", "used_device_hours", "jobs", "wait_hours"):
        rows[name] = rows.get(name, np.nan)
    return rows.rename_axis("month").reset_index()


def explained(months: pd.DataFrame, having_usd: float, jobs_a_month: float | None) -> dict[str, float]:
    """What explains the mean difference to the plan, USD a month by cause; they add up to it.

    What is paid beside `having_usd` (which is as planned) is a product: jobs x device-hours of a job x hours paid for
    an hour used x USD of an hour, the mean of all machines. Each cause has its Shapley value: the mean over all orders
    in which the factors can turn from planned to actual, one at a time. Without a record of jobs, or a planned number
    of them, jobs, speed and waiting are one factor: hours. What is paid without hours is price.
    """
    mean = months.mean(numeric_only=True)
    hours = (float(mean["plan_device_hours"]), float(mean["device_hours"]))
    usd = (float(mean["plan_usd"]) - having_usd, float(mean["usd"]) - having_usd)
    prices = [_ratio(paid, time) for paid, time in zip(usd, hours, strict=True)]
    if any(time == 0 and paid != 0 for paid, time in zip(usd, hours, strict=True)):
        return {PRICE: usd[1] - usd[0]}
    prices = [prices[1] if hours[0] == 0 else prices[0], prices[0] if hours[1] == 0 else prices[1]]
    told = not months["jobs"].isna().any() and jobs_a_month is not None and mean["used_device_hours"] > 0 < mean["jobs"]
    if not told or jobs_a_month is None or jobs_a_month <= 0 or hours[0] <= 0:
        return shapley({PRICE: (prices[0], prices[1]), HOURS: hours})
    used, jobs = float(mean["used_device_hours"]), float(mean["jobs"])
    return shapley({
        PRICE: (prices[0], prices[1]), SPEED: (hours[0] / jobs_a_month, used / jobs), JOBS: (jobs_a_month, jobs),
        WAITING: (1.0, hours[1] / used),
    })  # fmt: skip


def shapley(factors: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """How much each factor of a product, (before, after), moves it: its mean step over all orders.

    Shapley, "A value for n-person games", 1953. The steps add up to the whole change.
    """
    steps: dict[str, list[float]] = {name: [] for name in factors}
    for order in itertools.permutations(factors):
        now = {name: before for name, (before, _) in factors.items()}
        for name in order:
            moved = now | {name: factors[name][1]}
            steps[name].append(math.prod(moved.values()) - math.prod(now.values()))
            now = moved
    return {name: math.fsum(found) / len(found) for name, found in steps.items()}


def _price_ratios(plan: PlanMonths, bill: pd.DataFrame | None) -> dict[Offered, float]:
    """Actual over planned USD of a device-hour, of each offer whose machine the bill names with hours."""
    if bill is None:
        return {}
    paid = bill[bill["category"] != "Tax"].groupby("machine")[["effective_cost", "device_hours"]].sum()
    rented = plan.parts[~plan.parts["held"] & plan.parts["instance"].isin(paid.index)]
    found: dict[Offered, float] = {}
    for name, parts in rented.groupby("instance"):
        planned = _ratio(float(parts["usd_using"].sum()), float(parts["device_hours"].sum()))
        actual = _ratio(float(paid.loc[name, "effective_cost"]), float(paid.loc[name, "device_hours"]))
        if planned > 0 and actual > 0:
            ways = zip(parts["price_list"], parts["purchase"], strict=True)
            found |= {(str(listed), str(name), str(way)): actual / planned for listed, way in ways}
    return found


def _work_ratio(months: pd.DataFrame) -> float:
    """Hours of jobs over the planned ones: used where a record tells, else paid for."""
    used = months["used_device_hours"].mean()
    actual = months["device_hours"].mean() if np.isnan(used) else used
    return _ratio(float(actual), float(months["plan_device_hours"].mean())) or 1.0


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def known_now(found: Compared, lists: Mapping[str, Path]) -> Scenario:
    """The scenario in which jobs come as hours were used, and offers that were billed cost what was paid.

    Only rates move: of an offer that is composed or committed to there is none. `lists`: the study's price lists.
    """
    prices: dict[str, Any] = {}
    for (listed, instance, purchase), ratio in found.price_ratios.items():
        if listed in lists and abs(ratio - 1) > SAME:
            entries = list(_moved(load_yaml(lists[listed]), instance, purchase, ratio))
            if entries:
                prices.setdefault(listed, {"offers": []})["offers"] += entries
    times = found.work_ratio if abs(found.work_ratio - 1) > SAME else None
    return Scenario(title="what is known now", times_work=times, per_kwh=None, workloads={}, prices=prices)


def _moved(listed: Any, instance: str, purchase: str, ratio: float) -> Iterator[dict[str, Any]]:
    """The offers of a list that are meant, with their rates moved; their purchase only where it tells them apart."""
    same = [offer for offer in listed.get("offers", ()) if offer.get("instance") == instance]
    for offer in same:
        if offer.get("purchase", "on_demand") == purchase:
            rates = {name: _times(offer[name], ratio) for name in RATE_HOURS if offer.get(name) is not None}
            if rates:
                apart = {"purchase": purchase} if "purchase" in offer or len(same) > 1 else {}
                yield {"instance": instance} | apart | rates


def _times(value: Any, ratio: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _times(each, ratio) for name, each in value.items()}
    return float(f"{value * ratio:.6g}") if isinstance(value, int | float) else value
