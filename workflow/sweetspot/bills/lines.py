"""The lines of a bill, for a table of jobs at once (DESIGN.md, bill)."""

import numpy as np
import pandas as pd

from sweetspot.bills.money import to_usd
from sweetspot.bills.renting import HOUR_S, Array, billed_months, billed_seconds, sustained_fraction
from sweetspot.bills.spot import NEVER_HOURS, makespan, wall_time
from sweetspot.cells import BASES
from sweetspot.study.price_list import PriceList


def numbers(jobs: pd.DataFrame, *names: str) -> list[Array]:
    """Columns as arrays of floats, null as 0."""
    return [jobs[name].astype("float64").fillna(0.0).to_numpy() for name in names]


def bill_lines(jobs: pd.DataFrame, end: str, prices: PriceList) -> tuple[dict[str, Array], Array, Array]:
    """Lines of the bill in USD, hours to the end, machine hours, at one end of the figures.

    `jobs` has the columns of the offers table and `work_hours` of one start, `starts` one after the other, and
    `spread_months` (null: the hours decide how many months of fees are due). Infinite where it never finishes.
    """
    starts, rate = numbers(jobs, "starts", f"usd_per_hour{end}")
    work = jobs[f"work_hours{end}"].to_numpy(float)
    interrupted = numbers(jobs, "checkpoint_s", "restore_s", "wait_s")
    dump, restore, wait = (seconds / HOUR_S for seconds in interrupted)
    (often,) = numbers(jobs, f"interruptions_per_hour{end}")
    every = jobs["every_s"].astype("float64").to_numpy() / HOUR_S
    running = wall_time(work, often, np.where(often > 0, dump, 1.0), restore, every)
    hours = makespan(running, often, wait)
    hours = np.where(hours * starts > NEVER_HOURS, np.inf, hours)

    step, least, month_days = numbers(jobs, "granularity_s", "minimum_s", "month_days")
    billed = starts * billed_seconds(running * HOUR_S, step, least) / HOUR_S
    prorated = jobs["prorated"].astype("boolean").fillna(True).to_numpy(bool)
    spread = jobs["spread_months"].to_numpy(float)
    elapsed = np.where(np.isnan(spread), hours * starts / (24.0 * month_days), spread)
    months = billed_months(elapsed * 24.0 * month_days, month_days, prorated)
    compute = billed * rate * _sustained(jobs, billed, elapsed, prices)
    floor, setup, monthly, storage, egress = numbers(
        jobs, "monthly_minimum_usd", "setup_usd", "monthly_usd", "storage_usd_per_month", "egress_usd"
    )
    lines = {
        "use": starts * running * rate,
        "rounding and discounts": compute - starts * running * rate,
        "monthly minimum": np.maximum(floor * months - compute, 0.0),
        "setup": setup,
        "monthly fee": monthly * months,
        "storage": storage * months,
        "egress": egress,
        **_fees(jobs, prices, starts, billed, months),
    }
    return lines, hours * starts, running * starts


def _sustained(jobs: pd.DataFrame, billed: Array, months: Array, prices: PriceList) -> Array:
    """Fraction of the rate paid under sustained-use tiers, by the share of the elapsed months that is billed."""
    fraction = np.ones(len(jobs))
    for offer in prices.offers:
        if offer.sustained is None:
            continue
        here = ((jobs["instance"] == offer.instance) & (jobs["purchase"] == offer.purchase)).to_numpy()
        span = np.maximum(1.0, months[here]) * 24.0 * jobs["month_days"].to_numpy(float)[here]
        paid = sustained_fraction(billed[here] / span, offer.sustained.tiers)
        part = jobs["sustained_machine_share"].to_numpy(float)[here]
        fraction[here] = part * paid + (1.0 - part)
    return fraction


def _fees(jobs: pd.DataFrame, prices: PriceList, starts: Array, billed: Array, months: Array) -> dict[str, Array]:
    """USD by name of fee: per start, per billed hour, per month."""
    due = {"per_start": starts, "per_hour": billed, "per_month": months}
    lines: dict[str, Array] = {}
    for offer in prices.offers:
        fees = [] if offer.own is not None else (offer.billing or prices.billing).fees
        if not fees:
            continue
        here = ((jobs["instance"] == offer.instance) & (jobs["purchase"] == offer.purchase)).to_numpy()
        money = to_usd(offer, prices)[0]
        for fee in fees:
            unit = next(unit for unit in due if getattr(fee, unit) is not None)
            usd = lines.setdefault(fee.name, np.zeros(len(jobs)))
            usd[here] += getattr(fee, unit).value * fee.count.value * money * due[unit][here]
    return {f"fee: {name}": usd for name, usd in lines.items()}


def reference_rate(rows: pd.DataFrame, cells: pd.DataFrame, instance: str) -> Array:
    """Throughput of `instance` for each row's model, batch and precision; nan where it has none.

    Of several cells of the instance the one with the best basis counts, then the fastest.
    """
    key = ["framework", "model", "batch_size", "precision"]
    own = cells[(cells["instance"] == instance) & (cells["status"] == "ok")]
    order = own["basis"].map({basis: rank for rank, basis in enumerate(BASES)})
    own = own.assign(_order=order).sort_values(["_order", "images_per_s"], ascending=[True, False], kind="stable")
    best = own.drop_duplicates(key).set_index(key)["images_per_s"]
    return best.reindex(pd.MultiIndex.from_frame(rows[key])).to_numpy(float)
