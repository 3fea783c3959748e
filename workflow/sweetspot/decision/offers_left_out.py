"""What takes no part, and why: nothing that has a price vanishes without a word; and what one must know of the rest."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from sweetspot.bills.fits import Needs, does_not_fit, fit_warnings, memory_warnings, with_fits
from sweetspot.cells import USABLE
from sweetspot.decision.options import CELL, OFFER, is_asked, records
from sweetspot.decision.options import Row as Option
from sweetspot.errors import UserError
from sweetspot.study.settings import Settings
from sweetspot.throughput.speed_errors import ROUND_HIGH, ROUND_LOW
from sweetspot.warnings import pairs
from sweetspot.wording import DISPATCH, ROUNDS

if TYPE_CHECKING:
    from sweetspot.decision.compare import Inputs
    from sweetspot.study.monthly import Monthly  # lazily: its models take longer to import than all this computes

COLUMNS = ("workload", *OFFER, "model", "rule", "reason")
WARNINGS = ("scope", "instance", "model", "batch_size", "rule", "message")
Row = tuple[object, ...]
NAMED = ("best", "rival", "take", "take_rival")  # columns of the verdict
NOT_ASKED = "not_asked"  # by the reader's own choice: no warning
TOO_FEW = "too_few_devices"
TOTAL = "total"  # of a plan in results/<study>/plans
SAID = {
    "no figure": "the machine on which its hours hold has no figure in this framework and precision",
    "too slow": "however many are bought, its longest jobs alone take more than the planned hours",
    "never finishes": "interrupted so often, a job never finishes",
    "beyond_peak": "its figure is more than its devices can do at their peak",
}
NOBODY = "no machine that is offered has a speed for"
Why = tuple[str, str]


class _Case(NamedTuple):
    """A workload and an offer that is missing: its rows of costs or plans, and of all options."""

    workload: str
    model: str | None
    planned: bool
    offer: pd.Series
    rows: pd.DataFrame
    options: pd.DataFrame


def set_aside(options: pd.DataFrame, works: "Mapping[str, Monthly]") -> pd.DataFrame:
    """The options, of which those that are there already are no rivals in the comparison of machines to be had. What
    they cost is spent: held against an offer for a single job they always win, and say nothing of buying. The reference
    stays.
    """
    names = {name for work in works.values() for name in work.have}
    there = options["instance"].isin(names) & options["purchase"].eq("own") & ~options["is_reference"].astype(bool)
    return options.assign(in_answer=options["in_answer"].astype(bool) & ~there)


def left_out_table(
    inputs: "Inputs", options: pd.DataFrame, choices: pd.DataFrame, settings: Settings, needs: Needs
) -> pd.DataFrame:
    """One row a workload and offer that is neither in `options` nor, of a plan, in `choices` (COLUMNS). `options`: all,
    those that do not fit among them; `needs`: of all workloads (`load_needs`; of one of months, of its classes).
    `model`: null where the workload names none, or nothing is known of it. Rules: no_figure, other_batch (figures at
    other batches than the one asked for), too_few_devices, does_not_fit, not_asked (a price list that the answer leaves
    out, a machine that is there already), and a status of costs or plans (too_slow, never_finishes, oom, ...). Raises
    UserError for an offer that is missing for none of these: a mistake of the program ends the run.
    """
    found = []
    for case in _missing(inputs, options, choices, needs):
        reason, key = _why(case, settings, needs), [case.offer[name] for name in OFFER]
        if reason is None:
            offer, work = ", ".join(map(str, key)), case.workload
            raise UserError(f"{offer}: the offer is in no table of workload {work}; expected it or a reason")
        found.append((case.workload, *key, case.model, *reason))
    return pd.DataFrame(found, columns=list(COLUMNS))


def _missing(inputs: "Inputs", options: pd.DataFrame, choices: pd.DataFrame, needs: Needs) -> Iterator[_Case]:
    """Single jobs and classes of jobs first, then plans of phases; of each the offers in their order."""
    offers, costs, plans = inputs.offers, inputs.costs, inputs.plans
    totals = plans[plans["phase"] == TOTAL].assign(workload=plans["plan"]) if len(plans) else plans
    planned = dict.fromkeys(totals.get("workload", ()))
    jobs = [name for name in dict.fromkeys([*needs, *costs.get("workload", ())]) if name not in planned]
    of_offers, of_options = _places(offers), _places(options)
    for name in (*jobs, *planned):
        both = (totals, choices) if name in planned else (costs, options)
        rows, taken = (table[table["workload"] == name] if len(table) else table for table in both)
        there, own = _places(taken), _places(rows)
        model = next(iter(rows["model"].dropna()), None) if len(rows) else None
        for key, (first, *_) in of_offers.items():
            if key not in there:
                known, mine = options.iloc[of_options.get(key, [])], rows.iloc[own.get(key, [])]
                yield _Case(name, model, name in planned, offers.iloc[first], mine, known)


def _places(table: pd.DataFrame) -> dict[Row, list[int]]:
    """The places of the rows of each offer in a table; one without any rows may have no columns."""
    found: dict[Row, list[int]] = {}
    for place, key in enumerate(zip(*(table[name] for name in OFFER), strict=True) if len(table) else ()):
        found.setdefault(key, []).append(place)
    return found


def _why(case: _Case, settings: Settings, needs: Needs) -> Why | None:
    need = needs.get(case.workload)
    wanted, has = None if need is None else need.devices, case.offer.get("gpus")
    if case.planned and settings.answer_prices and case.offer["price_list"] not in settings.answer_prices:
        return NOT_ASKED, "answer_prices leaves its price list out"
    if case.rows.empty and wanted is not None and has is not None and has < wanted:
        return TOO_FEW, f"it has {has:g} devices, and a job takes {wanted}"
    if case.rows.empty:
        return "no_figure", f"no figure of {case.model or 'its model'} is known"
    if case.planned:
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
    own = case.rows.merge(options[list(CELL[1:])].drop_duplicates())
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


def left_out_warnings(
    table: pd.DataFrame,
    inputs: "Inputs",
    options: pd.DataFrame,
    settings: Settings,
    needs: Needs,
    monthly: "Mapping[str, Monthly]",
) -> Iterator[Row]:
    """Rows of the warning table: workloads that no offer serves, and by `table` machines that take no part in one. Not
    what the reader left out, nor a machine without any figure (`machines_alone` names it once). Of the classes of work
    of months (`monthly`) what has no speed for them is told, of the price lists that the answer takes.
    """
    of_months, plans = tuple(f"{name}." for name in monthly), inputs.plans
    served = {*options["workload"], *(plans.loc[plans["status"] == "ok", "plan"] if len(plans) else ())}
    for name in needs:
        if name not in served and not name.startswith(of_months):
            yield _no_speed(f"workload {name}: {NOBODY} it; it takes no part")
    told = table[(table["rule"] != NOT_ASKED) & table["instance"].isin(options["instance"])]
    for row in told.drop_duplicates(["workload", "instance", "reason"]).itertuples():
        if not row.workload.startswith(of_months):
            rule = "no_speed" if row.rule == "no_figure" else "takes_no_part"
            message = f"{row.workload}: {row.reason}; it takes no part"
            yield ("comparison", row.instance, row.model, pd.NA, rule, message)
    offered, lacking = (
        rows[rows["price_list"].isin(list(settings.answer_prices)) | (not settings.answer_prices)]
        for rows in (inputs.offers, table[table["rule"] != TOO_FEW])
    )
    for name, job in ((name, job) for name, work in monthly.items() for job in work.jobs):
        rows = lacking[lacking["workload"] == f"{name}.{job.name}"]
        if len(rows) == len(offered):
            yield _no_speed(f"{name}.{job.name}: {NOBODY} model {job.model}; it takes no part", job.model)
            continue
        message = f"priced, but no speed for {job.name} (model {job.model}) of {name}; it does none of these jobs"
        yield from (_no_speed(message, job.model, instance) for instance in rows["instance"].unique())


def _no_speed(message: str, model: str | None = None, instance: str | None = None) -> Row:
    return ("comparison", instance, model, pd.NA, "no_speed", message)


def machines_alone(inputs: "Inputs", options: pd.DataFrame, led: pd.DataFrame, settings: Settings) -> Iterator[Row]:
    """Rows of the warning table: machines that have a price and no figure of any model of the study, and the other way
    round, but those that another machine's figure rests on; none is named where nothing has a price. `led`: rows of the
    extrapolation that costs are made of.
    """
    priced, speeds = set(inputs.offers.get("instance", ())), inputs.throughput
    for name in sorted(priced - set(options["instance"])):
        message = "it is offered, but no figure of a model of the study is known; it takes no part"
        yield ("comparison", name, None, pd.NA, "no_figure", message)
    parts = [part for part in (speeds[speeds["status"].isin(USABLE)], led) if len(part)]
    known = {name for part in parts for name in part.loc[part["model"].isin(list(settings.batch_sizes)), "instance"]}
    for name in sorted(known - priced - set(settings.stands_behind)) if priced else ():
        message = "its figures are known, but no price list offers it; it takes no part"
        yield ("comparison", name, None, pd.NA, "no_price", message)


def warning_table(
    inputs: "Inputs", options: pd.DataFrame, settings: Settings, needs: Needs, more: Iterable[Row] = ()
) -> pd.DataFrame:
    """One row per warning: WARNINGS. Every pair of the tables' columns `warnings` is in it, whatever its rule.
    `options`: all, those that do not fit among them; `more`: rows found elsewhere (`offers_left_out`). Scope:
    throughput, efficiency, extrapolation (of the headline method), price, comparison (what the decision itself had to
    assume). Rules found here: a status without a warning of its own, left_out (not measured, for the budget),
    no_interval, no_figure and no_price (machines that have the other alone, unless another machine's figure rests on
    them), those of `fits`, mixed_protocol (figures measured here beside figures of others), rounds_apart (published
    times of several rounds), and stale_price for the price lint's `stale` and `stale_rate`.
    """
    led = inputs.extrapolation
    led = led[led["headline"].astype(bool)] if "headline" in led.columns else led.head(0)
    rows = [
        *_told("throughput", inputs.throughput),
        *_of_runs(inputs),
        *_told("efficiency", inputs.efficiency),
        *_told("extrapolation", led),
        *_of_prices(inputs.price_lint),
        *_of_options(options),
        *_of_rounds(options),
        *machines_alone(inputs, options, led, settings),
        *fit_warnings(options, needs),
        *memory_warnings(options, inputs.throughput, needs),
        *more,
    ]
    table = pd.DataFrame(rows, columns=list(WARNINGS)).drop_duplicates()
    return table.sort_values(list(WARNINGS[:5]), kind="stable", na_position="first").reset_index(drop=True)


def decisive_rows(
    verdict: pd.DataFrame, choices: pd.DataFrame, sources: pd.DataFrame, options: pd.DataFrame
) -> list[Option]:
    """The options whose figures carry the answer: those that its verdict names, or that do the work of a mix so named.
    Of a work with parts (`lab.bert` of `lab`) the rows of all its parts; of a plan of phases those of its model.
    """
    answer = verdict[verdict["is_answer"].astype(bool)]
    if answer.empty:
        return []
    name, told = answer["workload"].iloc[0], set(answer[list(NAMED)].iloc[0].dropna())
    mine = choices[choices["workload"] == name]
    if mine["cost"].eq(DISPATCH).any():
        own = options[options["workload"].str.startswith(f"{name}.")]
        told = set(sources.loc[(sources["workload"] == name) & sources["mix"].isin(told), "option"])
    elif mine["cost"].eq(ROUNDS).any():
        own = options[options["model"] == mine["model"].iloc[0]]
    else:
        own = options[options["workload"] == name]
    return records(own[own["option"].isin(told)].drop_duplicates(["option", "model"]))


def with_decisive(table: pd.DataFrame, named: Sequence[Option], offers: pd.DataFrame) -> pd.DataFrame:
    """`table` with a column `decisive` (bool): the warning could change the answer. It concerns the cell of an option
    in `named`, or stands beside its offer (`offers.parquet`), or concerns its model as a whole.
    """
    cells = {(row["instance"], row["model"], row["batch_size"]) for row in named}
    models, bought = {model for _, model, _ in cells}, {tuple(row[name] for name in OFFER) for row in named}
    paid = [row for row in offers.to_dict("records") if tuple(row[name] for name in OFFER) in bought]
    priced = {(row["instance"], pair.message) for row in paid for pair in pairs(row.get("warnings"))}
    priced |= {(None, message) for _, message in priced}  # a finding on a whole list names no instance

    def decides(row: Any) -> bool:
        if row.scope == "price":
            return (None if pd.isna(row.instance) else row.instance, row.message) in priced
        if pd.isna(row.instance):
            return row.model in models
        return (row.instance, row.model, row.batch_size) in cells

    return table.assign(decisive=[decides(row) for row in table.itertuples()]).astype({"decisive": bool})


def _told(scope: str, table: pd.DataFrame) -> Iterator[Row]:
    """The pairs of a table's column `warnings`, with the cell that they stand beside."""
    for row in table.to_dict("records"):
        for rule, message in pairs(row.get("warnings")):
            yield (scope, row["instance"], row["model"], row["batch_size"], rule, message)


def _of_runs(inputs: "Inputs") -> Iterator[Row]:
    for row in inputs.throughput[~inputs.throughput["status"].isin(USABLE)].itertuples():
        if row.status not in {pair.rule for pair in pairs(row.warnings)}:
            yield ("throughput", row.instance, row.model, row.batch_size, row.status, f"status {row.status}")
    for row in inputs.left_out.itertuples():
        cell = f"{row.framework}, {row.gpus} device(s), {row.precision}, variant {row.variant}"
        message = f"not measured within {row.budget}: run {row.runs} ({cell}); a larger budget adds it"
        yield ("throughput", row.instance, row.model, row.batch_size, "left_out", message)


def _of_prices(price_lint: pd.DataFrame) -> Iterator[Row]:
    for row in price_lint.itertuples():
        if row.severity == "warning":
            rule = "stale_price" if row.rule.startswith("stale") else row.rule
            yield ("price", row.instance or None, None, pd.NA, rule, row.message)


def _of_options(options: pd.DataFrame) -> Iterator[Row]:
    without = options[options["assumed_interval"].astype(bool)].drop_duplicates(["instance", "model"])
    for row in without.itertuples():
        factor = row.images_per_s_high / row.images_per_s
        message = f"a factor of {factor:.2f} is assumed for what is {row.throughput_basis}"
        yield ("comparison", row.instance, row.model, row.batch_size, "no_interval", message)
    for model, rows in options[options["throughput_basis"].notna()].groupby("model"):
        here = rows["throughput_basis"] == "measured"
        if here.any() and not here.all():
            message = "figures measured here stand beside published ones: other software and another protocol"
            yield ("comparison", None, model, rows["batch_size"].iloc[0], "mixed_protocol", message)


def _of_rounds(options: pd.DataFrame) -> Iterator[Row]:
    """Times that are published in several rounds, and held against each other."""
    apart = options.reindex(columns=["model", "gpu", "round", "rounds_behind", "in_answer"]).dropna(subset=["round"])
    for model, rows in apart[apart["in_answer"].astype(bool)].groupby("model"):
        names = rows.sort_values("rounds_behind").groupby("round", sort=False)["gpu"].agg(lambda of: sorted(set(of)))
        if len(names) > 1:
            told = "; ".join(f"{name}: {', '.join(devices)}" for name, devices in names.items())
            message = (
                f"published times of several rounds are compared ({told}); the same machine became {ROUND_LOW:g} to "
                f"{ROUND_HIGH:g} times as fast from one round to the next, and so much is drawn for each round between"
            )
            yield ("comparison", None, model, pd.NA, "rounds_apart", message)
