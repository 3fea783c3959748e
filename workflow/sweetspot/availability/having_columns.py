"""What it takes to have each option, as columns of the options table, and from today until its result is there."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from sweetspot.availability.events import NEVER, Ends, Having, any_of, no_spare
from sweetspot.bills.schemas import SUFFIXES
from sweetspot.cells import INTERRUPTIBLE

if TYPE_CHECKING:
    from sweetspot.study.stock import Known, StockFact  # lazily: its models take longer to import than all this takes

HOUR, DAY, WEEK, YEAR = 1.0, 24.0, 168.0, 8766.0  # hours
RANGED = (
    "p_stock", "stock_wait_hours", "start_hours", "boot_hours", "failures_per_hour", "restart_hours", "repair_hours",
    "repaired_share",
)  # fmt: skip
SAID = ("stock_confidence", "stock_source", "stock_as_of", "stock_event")
NUMBERS = (
    *(f"{name}{end}" for name in RANGED for end in SUFFIXES), "checkpoint_hours", "longest_run_hours",
    *(f"p_stock_assumed{end}" for end in SUFFIXES), "p_stock_all", "p_stock_any", "hours_to_result",
    "hours_to_result_p90",
)  # fmt: skip
HAVING = (*NUMBERS, *SAID, "sellers")
ALWAYS: Ends = (1.0, 1.0, 1.0)
NOTHING: Ends = (math.nan, math.nan, math.nan)
UNKNOWN = Having(share=(math.nan, 0.0, 1.0), wait=(1e9, 1e9, 1e9))  # no second chance is known of either
Row = Mapping[str, Any]


def with_having(options: pd.DataFrame, known: "Known | None", month_days: float) -> pd.DataFrame:
    """The options with HAVING: hours and shares by what is `known` of having each; null where nothing is.

    `p_stock`: share of time in which one machine (a node) of the seller is to be had; null within `_low` and `_high`
    where it is said to be unknown; `p_stock_assumed` with its ends: what is then taken, by other sellers of that device
    and size; null where nothing is known of these either; `p_stock_all`: the least chance of all nodes at once, p^m;
    `p_stock_any`: of one at any of the `sellers` of that device and size. Options of one `stock_event` are there or not
    together: those of one seller, and those of sellers not known by name of what was seen of all together.
    `stock_wait_hours`: mean wait if not; `start_hours`: until a date of a block or a delivery; `failures_per_hour` of
    all devices together; `repaired_share` of them that wait `repair_hours` at one's own machine, where no spare is
    left; `longest_run_hours` until another start. `hours_to_result`, `_p90`: median and 90th percentile from today to
    the result.
    """
    if known is None or options.empty:
        empty = {name: np.nan if name in NUMBERS else None for name in HAVING}
        return options.assign(**empty).astype(dict.fromkeys((*SAID, "sellers"), object)).copy()
    rows = options.to_dict("records")
    found = pd.DataFrame([_facts(row, known, month_days) for row in rows], index=options.index)
    found = found.join(_by_seller(options.assign(p=found["p_stock"], named=found["_named"]), known))
    both = options.join(found.drop(columns="_named"))
    told = [_times(having_of(row), float(row["hours"])) for row in both.to_dict("records")]
    both = both.assign(hours_to_result=[one[0] for one in told], hours_to_result_p90=[one[1] for one in told])
    return both.astype(dict.fromkeys(NUMBERS, float) | dict.fromkeys((*SAID, "sellers"), object)).copy()


def having_of(row: Row) -> Having | None:
    """What it takes to have an option, from its columns; None where that is not known."""
    if "p_stock" not in row:
        return None
    share, wait, start, boot, failures, restart, repair, repaired = (_ends_of(row, name) for name in RANGED)
    if share is not None and math.isnan(share[0]) and not pd.isna(row.get("p_stock_assumed")):
        share = _ends_of(row, "p_stock_assumed")
    unsaved = math.isnan(row["checkpoint_hours"])  # what a failure loses is not known, where there are some
    found = start is not None or (share is not None and (wait is not None or share == ALWAYS))
    if boot is None or failures is None or restart is None or (unsaved and failures != NEVER) or not found:
        return None
    return Having(
        share=share or ALWAYS, wait=wait or NEVER, start=start, boot=boot, failures=failures, restart=restart,
        checkpoint=0.0 if unsaved else float(row["checkpoint_hours"]), repaired=repaired, repair=repair or NEVER,
        nodes=_found_apart(row),
        longest=math.inf if math.isnan(row["longest_run_hours"]) else float(row["longest_run_hours"]),
    )  # fmt: skip


@lru_cache(maxsize=1024)
def _times(having: Having | None, hours: float) -> tuple[float, float]:
    return (math.nan, math.nan) if having is None or not math.isfinite(hours) else having.quantiles(hours)


def _ends_of(row: Row, name: str) -> Ends | None:
    ends = (float(row[name]), float(row[f"{name}_low"]), float(row[f"{name}_high"]))
    return None if math.isnan(ends[1]) else ends


def _found_apart(row: Row) -> float:
    """Machines that are found one by one: spot machines of one type and zone are one event, however many."""
    return 1.0 if row["purchase"] in INTERRUPTIBLE else _nodes(row)


def _nodes(row: Row) -> float:
    return 1.0 if pd.isna(row.get("nodes")) else float(row["nodes"])


def _facts(row: Row, known: "Known", month_days: float) -> dict[str, Any]:
    """The columns of what is known of one option's offer."""
    offer = {name: row[name] for name in ("price_list", "provider", "gpu", "purchase")}
    offer["gpus"] = round(row["gpus"] / _nodes(row))

    def ends(quantity: str, hours: float = 1.0) -> Ends:
        fact = known.find(quantity, offer)
        return NOTHING if fact is None else cast(Ends, tuple(end * hours for end in fact.ends))

    owned = row["purchase"] == "own"
    stock = None if owned else known.find("stock_share", offer)
    share, most = NOTHING if stock is None else stock.ends, _seen_of_all(stock, known, offer)
    share = share if most is None else cast(Ends, tuple(min(end, most) for end in share))
    failures = _stops(row, ends("failures_per_device_hour", row["gpus"]), known.find("interruptions_per_hour", offer))
    found = {
        "p_stock": share, "p_stock_assumed": _as_others(stock, known, offer),
        "stock_wait_hours": NOTHING if owned else ends("wait_days", DAY),
        "start_hours": _delivery(row, ends("delivery_weeks", WEEK), month_days) if owned else ends("start_days", DAY),
        "boot_hours": (0.0, 0.0, 0.0) if owned else ends("boot_minutes", HOUR / 60), "failures_per_hour": failures,
        "restart_hours": ends("restart_minutes", HOUR / 60),
        "repair_hours": ends("repair_days", DAY) if owned else NOTHING,
    }  # fmt: skip
    lost = ends("lost_devices_per_year", row["gpus"] / YEAR) if owned else NOTHING
    found["repaired_share"] = _repaired(lost, failures[0], found["repair_hours"][0], ends("spare_devices")[0])
    dated = not math.isnan(found["start_hours"][1])
    kind = [row["provider"] if most is None else "any", offer["gpu"], offer["gpus"], *[row["price_list"]] * dated]
    columns = {f"{name}{end}": three[place] for name, three in found.items()
               for place, end in enumerate(SUFFIXES)}  # fmt: skip
    told = {} if stock is None else {"stock_confidence": stock.confidence, "stock_source": stock.source,
                                     "stock_as_of": stock.as_of}  # fmt: skip
    return columns | dict.fromkeys(SAID) | told | {
        "checkpoint_hours": ends("checkpoint_minutes", HOUR / 60)[0],
        "longest_run_hours": ends("longest_run_days", DAY)[0],
        "p_stock_all": share[0] ** _found_apart(row),
        "stock_event": " ".join(map(str, kind)) if dated or stock is not None else None,
        "_named": stock is not None and stock.provider is not None,
    }  # fmt: skip


def _as_others(stock: "StockFact | None", known: "Known", offer: Row) -> Ends:
    """The share of time of a seller whose share is said to be unknown, by that of others with its device and size.

    Value and high end are theirs, bounded by what was seen of all together; the low end is 0. So it is less well known
    than theirs, and the machine is never more often there. NaN where the share is known, has a stated range, or nothing
    is known of others.
    """
    if stock is None or stock.value is not None or stock.low is not None or stock.high is not None:
        return NOTHING
    others = known.find("stock_share", {**offer, "price_list": None, "provider": None, "purchase": "on_demand"})
    if others is None or others.value is None:
        return NOTHING
    most = _seen_of_all(others, known, offer)
    value, _, high = others.ends if most is None else (min(end, most) for end in others.ends)
    return (value, 0.0, high)


def _stops(row: Row, failures: Ends, taken: "StockFact | None") -> Ends:
    """Stops an hour: failures, and interruptions where the price list has no rate, so that `hours` counts none.

    Once for all nodes: spot machines of one type and zone go together.
    """
    if taken is None or row["purchase"] not in INTERRUPTIBLE or not pd.isna(row.get("interruptions_per_hour")):
        return failures
    return cast(Ends, tuple(map(sum, zip(failures, taken.ends, strict=True))))


def _repaired(lost: Ends, failures: float, repair: float, spares: float) -> Ends:
    """Share of the stops that wait for a repair: devices that break an hour over stops an hour, without a spare."""
    if not failures > 0:
        return NOTHING
    waits = 1.0 if math.isnan(spares) or math.isnan(repair) else no_spare(spares, lost[0] * repair)
    return cast(Ends, tuple(min(one / failures, 1.0) * waits for one in lost))


def _seen_of_all(stock: "StockFact | None", known: "Known", offer: Row) -> float | None:
    """What was seen of all sellers together, where it bounds the share of one that is not known by name."""
    if stock is None or stock.provider is not None or stock.value is None or known.is_own(stock):
        return None
    most = known.find("any_share", offer)
    return None if most is None else most.ends[0]


def _delivery(row: Row, usual: Ends, month_days: float) -> Ends:
    """Hours until a machine that is bought is there: as its offer says, else as usual; one that costs nothing is."""
    months = _ends_of(row, "delivery_months") or NEVER
    hours = cast(Ends, tuple(month * month_days * DAY for month in months))
    if row["capex_usd"] == 0 or (hours == NEVER and usual is NOTHING):
        return NEVER
    return usual if hours == NEVER else hours


def _by_seller(rows: pd.DataFrame, known: "Known") -> pd.DataFrame:
    """`p_stock_any` and `sellers` of rented machines that stay: of any seller of the same device and size.

    Sellers are independent; those not known by name add no more than to what was seen of all (any_share).
    """
    found = pd.DataFrame({"p_stock_any": np.nan, "sellers": None}, index=rows.index)
    kept = rows[rows["persistent"].astype(bool) & rows["purchase"].eq("on_demand") & rows["p"].notna()]
    kept = kept.assign(size=kept["gpus"] / kept["nodes"].astype(float).fillna(1.0))
    for (gpu, size), group in kept.groupby(["gpu", "size"]):
        one = group.sort_values("named").drop_duplicates("provider", keep="last")
        most = known.find("any_share", {"gpu": gpu, "gpus": round(size)})
        seen = 1.0 if most is None else most.ends[0]
        both = max(any_of(one.loc[one["named"], "p"]), min(any_of(one["p"]), seen))
        found.loc[group.index, "p_stock_any"] = both
        found.loc[group.index, "sellers"] = ", ".join(sorted(map(str, one["provider"])))
    return found
