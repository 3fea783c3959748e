"""Offers that take no part in a workload, each with its reason: nothing that has a price vanishes without a word."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from sweetspot.decision.fits import Needs, does_not_fit, with_fits
from sweetspot.decision.options import CELL, OFFER, is_asked
from sweetspot.decision.settings import Settings
from sweetspot.errors import UserError

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs

COLUMNS = ("workload", *OFFER, "model", "rule", "reason")
NOT_ASKED = "not_asked"  # by the reader's own choice: no warning
TOTAL = "total"  # of a plan in results/<study>/plans
SAID = {
    "no figure": "the machine on which its hours hold has no figure in this framework and precision",
    "too slow": "however many are bought, its longest jobs alone take more than the planned hours",
    "never finishes": "interrupted so often, a job never finishes",
}
Why = tuple[str, str]


class _Case(NamedTuple):
    """A workload and an offer that is missing: its rows of costs or plans, and of all options."""

    workload: str
    model: str | None
    offer: pd.Series
    rows: pd.DataFrame
    options: pd.DataFrame


def left_out_table(
    inputs: "Inputs", options: pd.DataFrame, choices: pd.DataFrame, settings: Settings, needs: Needs
) -> pd.DataFrame:
    """One row a workload and offer that is neither in `options` nor, of a plan, in `choices` (COLUMNS).

    `options`: all, those that do not fit among them; `needs`: of all workloads (`load_needs`; of one of months, of its
    classes). `model`: null where the workload names none, or nothing is known of it. Rules: no_figure, other_batch
    (figures at other batches than the one asked for), too_few_devices, does_not_fit, not_asked (a price list that the
    answer leaves out, a machine that is there already), and a status of costs or plans (too_slow, never_finishes, oom,
    ...). Raises UserError for an offer that is missing for none of these: a mistake of the program ends the run.
    """
    offers, costs, plans = inputs.offers, inputs.costs, inputs.plans
    totals = plans[plans["phase"] == TOTAL].assign(workload=plans["plan"]) if len(plans) else plans
    planned = dict.fromkeys(totals.get("workload", ()))
    jobs = [name for name in dict.fromkeys([*needs, *costs.get("workload", ())]) if name not in planned]
    works = [*((name, costs, options) for name in jobs), *((name, totals, choices) for name in planned)]
    found, of_options = [], _keys(options)
    for name, *both in works:
        rows, taken = (table[table["workload"] == name] if len(table) else table for table in both)
        there = set(_keys(taken))
        model, of_rows = next(iter(rows["model"].dropna()), None) if len(rows) else None, _keys(rows)
        for key, offer in zip(_keys(offers), offers.iloc, strict=True):
            if key in there:
                continue
            own, known = rows[[one == key for one in of_rows]], options[[one == key for one in of_options]]
            reason = _why(_Case(name, model, offer, own, known), name in planned, settings, needs)
            if reason is None:
                raise UserError(
                    f"{', '.join(map(str, key))}: the offer is in no table of workload {name}; expected it or a reason"
                )
            found.append((name, *key, model, *reason))
    return pd.DataFrame(found, columns=list(COLUMNS))


def left_out_warnings(
    table: pd.DataFrame, options: pd.DataFrame, monthly: Iterable[str] = ()
) -> Iterator[tuple[object, ...]]:
    """Rows of the warning table: which machines take no part in some workload, and why; no_speed for want of a figure.

    Not what the reader left out, nor a machine without any figure (`warning_table` names it once), nor classes of the
    workloads `monthly` (`without_speed`).
    """
    rows = table[(table["rule"] != NOT_ASKED) & table["instance"].isin(options["instance"])]
    rows = rows[~rows["workload"].str.startswith(tuple(f"{name}." for name in monthly))]
    for row in rows.drop_duplicates(["workload", "instance", "reason"]).itertuples():
        rule = "no_speed" if row.rule == "no_figure" else "takes_no_part"
        yield ("comparison", row.instance, row.model, pd.NA, rule, f"{row.workload}: {row.reason}; it takes no part")


def _why(case: _Case, planned: bool, settings: Settings, needs: Needs) -> Why | None:
    need = needs.get(case.workload)
    wanted, has = None if need is None else need.devices, case.offer.get("gpus")
    if planned and settings.answer_prices and case.offer["price_list"] not in settings.answer_prices:
        return NOT_ASKED, "answer_prices leaves its price list out"
    if case.rows.empty and wanted is not None and has is not None and has < wanted:
        return "too_few_devices", f"it has {has:g} devices, and a job takes {wanted}"
    if case.rows.empty:
        return "no_figure", f"no figure of {case.model or 'its model'} is known"
    if planned:
        return _why_plan(case, settings, needs)
    asked = case.rows[is_asked(case.rows, settings)]
    return _other_batch(case, settings) if asked.empty else _status(asked)


def _why_plan(case: _Case, settings: Settings, needs: Needs) -> Why | None:
    fits = with_fits(case.rows, settings, needs)
    if does_not_fit(fits).all():
        need, has = (fits[name].iloc[0] for name in ("memory_need_gib", "gpu_memory_gib"))
        return "does_not_fit", f"it needs {need:.3g} GiB on each device, which has {has:g}"
    options = case.options[case.options["model"] == case.model] if len(case.options) else case.options
    if options.empty:
        return _other_batch(case, settings)
    if not options["in_answer"].astype(bool).any():
        small = does_not_fit(options).all()
        return ("does_not_fit", "no job of its model fits") if small else (NOT_ASKED, "it is there already")
    cells = set(options[list(CELL[1:])].itertuples(index=False, name=None))
    own = case.rows[[cell in cells for cell in case.rows[list(CELL[1:])].itertuples(index=False, name=None)]]
    return _status(own) if len(own) else ("other_figure", "its job is priced on a figure that the plan has not")


def _other_batch(case: _Case, settings: Settings) -> Why:
    had = ", ".join(f"{size:g}" for size in sorted(case.rows["batch_size"].unique()))
    asked = settings.batch_sizes.get(str(case.model))
    return "other_batch", f"figures of {case.model} at batch {had} alone, asked is {asked or 'none of this model'}"


def _status(rows: pd.DataFrame) -> Why | None:
    """The status of what could not be priced; of several cells the first. None: it was."""
    if "status" not in rows.columns or rows["status"].isna().any() or (rows["status"] == "ok").any():
        return None
    status = str(rows["status"].iloc[0])
    return status.replace(" ", "_"), SAID.get(status, f"status of its figure: {status}")


def _keys(table: pd.DataFrame) -> list[tuple[object, ...]]:
    return list(table[list(OFFER)].itertuples(index=False, name=None)) if len(table) else []
