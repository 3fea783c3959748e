"""Offers that take no part in a workload, each with the reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.bills.fits import Needs, does_not_fit, with_fits
from sweetspot.decision.options import CELL, OFFER, is_asked
from sweetspot.errors import UserError
from sweetspot.study.settings import Settings

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs

    # Its models take longer to import than all this computes.
    from sweetspot.study.monthly import Monthly

COLUMNS = ("workload", *OFFER, "model", "rule", "reason")
NOT_ASKED, TOO_FEW, NO_FIGURE = "not_asked", "too_few_devices", "no_figure"
PLAN_TOTAL = "total"  # The phase of results/<study>/plans that stands for the whole plan.
STATUS_REASONS = {
    "no figure": "the machine on which its hours hold has no figure in this framework and precision",
    "too slow": "however many are bought, its longest jobs alone take more than the planned hours",
    "never finishes": "interrupted so often, a job never finishes",
    "beyond_peak": "its figure is more than its devices can do at their peak",
}
NOBODY = "no machine that is offered has a speed for"
Reason = tuple[str, str]  # A rule and its explanation.
Offer = tuple[object, ...]  # The values of OFFER.
WarningRow = tuple[object, ...]  # The values of warning_table.WARNINGS.


@dataclass(frozen=True)
class MissingOffer:
    """A workload and an offer without a result; its rows of costs or plans, and of the options of any workload."""

    workload: str
    model: str | None
    is_plan: bool
    offer: Mapping[str, Any]
    rows: pd.DataFrame
    options: pd.DataFrame


def set_aside(options: pd.DataFrame, works: "Mapping[str, Monthly]") -> pd.DataFrame:
    """Take machines that are owned already, except the reference, out of the answer on single jobs.

    What they cost is spent: compared with an offer they always win, and say nothing about buying.
    """
    names = {name for work in works.values() for name in work.have}
    is_owned = options["instance"].isin(names) & options["purchase"].eq("own")
    return options.assign(
        in_answer=options["in_answer"].astype(bool) & ~(is_owned & ~options["is_reference"].astype(bool))
    )


def left_out_table(
    inputs: "Inputs", options: pd.DataFrame, choices: pd.DataFrame, settings: Settings, needs: Needs
) -> pd.DataFrame:
    """List every workload and offer that is neither in `options` nor, for a plan, in `choices`.

    Parameters
    ----------
    inputs
        The tables of the study.
    options
        All options, those that do not fit included.
    choices
        The choices.
    settings
        The study's settings.
    needs
        What each workload needs.

    Returns
    -------
    pandas.DataFrame
        COLUMNS; `model` is null where it is unknown. `rule`: no_figure, other_batch (figures at other batch sizes
        only), too_few_devices, does_not_fit, not_asked, or a status of costs or plans.

    Raises
    ------
    UserError
        An offer is missing for none of these reasons, which is a mistake of the program.

    """
    rows = []
    for missing in _missing_offers(inputs, options, choices, needs):
        key = [missing.offer[name] for name in OFFER]
        reason = _reason(missing, settings, needs)
        if reason is None:
            offer = ", ".join(map(str, key))
            raise UserError(
                f"{offer}: the offer is in no table of workload {missing.workload}; expected it or a reason"
            )
        rows.append((missing.workload, *key, missing.model, *reason))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _missing_offers(
    inputs: "Inputs", options: pd.DataFrame, choices: pd.DataFrame, needs: Needs
) -> Iterator[MissingOffer]:
    """Yield single jobs and classes of jobs first, then plans; the offers of each in their order."""
    costs, plans = inputs.costs, inputs.plans
    totals = plans[plans["phase"] == PLAN_TOTAL].assign(workload=plans["plan"]) if len(plans) else plans
    plan_names = dict.fromkeys(totals.get("workload", ()))
    job_names = [name for name in dict.fromkeys([*needs, *costs.get("workload", ())]) if name not in plan_names]
    options_by_offer = _positions(options)
    for name in (*job_names, *plan_names):
        is_plan = name in plan_names
        tables = (totals, choices) if is_plan else (costs, options)
        rows, results = (table[table["workload"] == name] if len(table) else table for table in tables)
        rows_by_offer, result_offers = _positions(rows), _positions(results)
        model = next(iter(rows["model"].dropna()), None) if len(rows) else None
        for offer, (first, *_) in _positions(inputs.offers).items():
            if offer not in result_offers:
                yield MissingOffer(
                    name,
                    model,
                    is_plan,
                    inputs.offers.iloc[first],
                    rows.iloc[rows_by_offer.get(offer, [])],
                    options.iloc[options_by_offer.get(offer, [])],
                )


def _positions(table: pd.DataFrame) -> dict[Offer, list[int]]:
    """Map each offer to its row positions; a table without rows may have no columns."""
    positions: dict[Offer, list[int]] = {}
    for index, offer in enumerate(zip(*(table[name] for name in OFFER), strict=True) if len(table) else ()):
        positions.setdefault(offer, []).append(index)
    return positions


def _reason(missing: MissingOffer, settings: Settings, needs: Needs) -> Reason | None:
    need = needs.get(missing.workload)
    devices, available = None if need is None else need.devices, missing.offer.get("gpus")
    if missing.is_plan and settings.answer_prices and missing.offer["price_list"] not in settings.answer_prices:
        return NOT_ASKED, "answer_prices leaves its price list out"
    if missing.rows.empty and devices is not None and available is not None and available < devices:
        return TOO_FEW, f"it has {available:g} devices, and a job takes {devices}"
    if missing.rows.empty:
        return NO_FIGURE, f"no figure of {missing.model or 'its model'} is known"
    if missing.is_plan:
        return _reason_of_plan(missing, settings, needs)
    requested = missing.rows[is_asked(missing.rows, settings)]
    return _other_batch(missing, settings) if requested.empty else _status_reason(requested)


def _reason_of_plan(missing: MissingOffer, settings: Settings, needs: Needs) -> Reason | None:
    fits = with_fits(missing.rows, settings, needs)
    if does_not_fit(fits).all():
        need, available = (fits[name].iloc[0] for name in ("memory_need_gib", "gpu_memory_gib"))
        return "does_not_fit", f"it needs {need:.3g} GiB on each device, which has {available:g}"
    options = missing.options
    options = options[options["model"] == missing.model] if len(options) else options
    if options.empty:
        return _other_batch(missing, settings)
    if not options["in_answer"].astype(bool).any():
        is_small = does_not_fit(options).all()
        return ("does_not_fit", "no job of its model fits") if is_small else (NOT_ASKED, "it is there already")
    rows = missing.rows.merge(options[list(CELL[1:])].drop_duplicates())
    return (
        _status_reason(rows) if len(rows) else ("other_figure", "its job is priced on a figure that the plan has not")
    )


def _other_batch(missing: MissingOffer, settings: Settings) -> Reason:
    sizes = ", ".join(f"{size:g}" for size in sorted(missing.rows["batch_size"].unique()))
    requested = settings.batch_sizes.get(str(missing.model)) or "none of this model"
    return "other_batch", f"figures of {missing.model} at batch {sizes} alone, asked is {requested}"


def _status_reason(rows: pd.DataFrame) -> Reason | None:
    """Return the status of what could not be priced, of several cells the first; None: one was priced."""
    if "status" not in rows.columns or rows["status"].isna().any() or (rows["status"] == "ok").any():
        return None
    status = str(rows["status"].iloc[0])
    return status.replace(" ", "_"), STATUS_REASONS.get(status, f"status of its figure: {status}")


def left_out_warnings(
    table: pd.DataFrame,
    inputs: "Inputs",
    options: pd.DataFrame,
    settings: Settings,
    needs: Needs,
    monthly: "Mapping[str, Monthly]",
) -> Iterator[WarningRow]:
    """Warn of workloads that no offer serves and of machines that take no part in one.

    Nothing is said of what the reader left out, nor of a machine without any figure, which has a warning of its own.

    Parameters
    ----------
    table
        The offers left out (`left_out_table`).
    inputs, options, settings, needs
        As for that table.
    monthly
        Work of months; of its classes what has no speed is named, within the price lists of the answer.

    Yields
    ------
    tuple
        A row of the warning table.

    """
    class_prefixes, plans = tuple(f"{name}." for name in monthly), inputs.plans
    served = {*options["workload"], *(plans.loc[plans["status"] == "ok", "plan"] if len(plans) else ())}
    for name in needs:
        if name not in served and not name.startswith(class_prefixes):
            yield _no_speed(f"workload {name}: {NOBODY} it; it takes no part")
    partial = table[(table["rule"] != NOT_ASKED) & table["instance"].isin(options["instance"])]
    for row in partial.drop_duplicates(["workload", "instance", "reason"]).itertuples():
        if not row.workload.startswith(class_prefixes):
            rule = "no_speed" if row.rule == NO_FIGURE else "takes_no_part"
            message = f"{row.workload}: {row.reason}; it takes no part"
            yield ("comparison", row.instance, row.model, pd.NA, rule, message)
    answer_prices = list(settings.answer_prices or inputs.offers.get("price_list", ()))
    offer_count = int(inputs.offers["price_list"].isin(answer_prices).sum())
    lacking = table[table["price_list"].isin(answer_prices) & (table["rule"] != TOO_FEW)]
    for name, job in ((name, job) for name, work in monthly.items() for job in work.jobs):
        rows = lacking[lacking["workload"] == f"{name}.{job.name}"]
        if len(rows) == offer_count:
            yield _no_speed(f"{name}.{job.name}: {NOBODY} model {job.model}; it takes no part", job.model)
            continue
        message = f"priced, but no speed for {job.name} (model {job.model}) of {name}; it does none of these jobs"
        yield from (_no_speed(message, job.model, instance) for instance in rows["instance"].unique())


def _no_speed(message: str, model: str | None = None, instance: str | None = None) -> WarningRow:
    return ("comparison", instance, model, pd.NA, "no_speed", message)
