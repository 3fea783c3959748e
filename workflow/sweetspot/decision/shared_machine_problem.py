"""A job that is repeated as often as the planned use of the reference allows, on a share of each machine."""

from dataclasses import dataclass

import numpy as np
from pandas import DataFrame

from sweetspot.bills.owning import HOURS_A_DAY, usd_per_hour_of_use
from sweetspot.bills.rates import Number, by_contract, or_zero, rates
from sweetspot.decision.decision_problem import (
    BASELINE,
    Array,
    Choice,
    Costs,
    DecisionProblem,
    ParameterValues,
    parameters_of,
)
from sweetspot.decision.options import Row, records, staying, trained
from sweetspot.decision.simulate import Draws
from sweetspot.draws import interval

DAYS = ("break_even_value", "break_even_low", "break_even_high", "days", "days_low", "days_high")


@dataclass(eq=False, kw_only=True)
class SharedMachineProblem(DecisionProblem):
    """A job repeated over the project; `baseline_usd`: USD of all repetitions, by choice.

    The number of repetitions is proportional to days of use and months; a speed changes the hours of the same work.
    """

    baseline_usd: Array

    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return USD of all choices at what-if values, choice x case, as turning points and the tornado need them.

        Every choice takes one machine. `values`: parameters as factors of what is planned, one per case.
        """
        work = np.ones(values.cases) * values.work("days_per_month") * values.work("months")
        usd = self.baseline_usd[:, None] * work

        for index, choice in enumerate(self.choices):
            row = choice.row
            if row["row"] in values.rows or by_contract(row):
                with np.errstate(divide="ignore"):  # An interval of the speed may begin at 0.
                    change = _hour_at(row, values) / _hour_at(row, BASELINE)
                    usd[index] *= change / values.factor(row["row"], "images_per_s")
        return Costs(usd, np.ones(usd.shape))


def shared_machine_problems(options: DataFrame, draws: Draws, month_days: float) -> list[SharedMachineProblem]:
    """Return the decision of each model (network) that two options or more can train, choices sorted by cost.

    Where the reference is owned, the work is all that the reference can run in its planned days over its months; else
    all workloads of the model that every option runs, once each, at their bills.

    Parameters
    ----------
    options, draws, month_days
        The table of options (those in the answer and persistent are choices, unless their cost is infinite in some
        sample); their samples; days of a month.
    """
    reference_rows = references(options)
    problems = []
    for model, table in trained(options).items():
        rows = records(staying(table))
        reference = reference_rows.get(model)
        months = np.nan
        label = None
        if len(rows) < 2:
            continue

        if reference is None or reference["purchase"] != "own":
            usd, samples = _all_workloads(model, rows, options, draws)
        else:
            usd, samples = _work_of_reference(rows, reference, draws, month_days)
            months = reference["months"]
            label = reference["row"]

        order = np.argsort(usd, kind="stable")
        order = order[np.isfinite(samples[order]).all(axis=1)]
        choices = tuple(Choice.of(rows[index]) for index in order)
        if len(choices) < 2:
            continue
        problems.append(
            SharedMachineProblem(
                workload=model,
                choices=choices,
                parameters=tuple(parameters_of(choices, [choice.row for choice in choices], month_days)),
                samples_usd=samples[order],
                model=model,
                baseline_usd=usd[order],
                months=months,
                reference=label,
            )
        )
    return problems


def _hour_at(row: Row, values: ParameterValues) -> Number:
    """Return USD per hour of use of an option row at parameter values, one per case."""
    hour = rates(row, values.of(row["row"]))
    return _usd_per_hour(row, hour.fixed, hour.variable, values.work("days_per_month"))


def _usd_per_hour(row: Row, fixed: Number, variable: Number, use: Number) -> Number:
    """Return USD per hour of an option row if the team uses machines on `use` times the planned days, for its cost.

    `fixed`, `variable`: its USD per month and per hour; a contract's hour costs `variable` / use, for the month is due.
    """
    if row["purchase"] == "own":
        return np.asarray(usd_per_hour_of_use(fixed, variable, row["days_per_month"] * use))
    return variable / use if by_contract(row) else variable


def _all_workloads(model: str, rows: list[Row], options: DataFrame, draws: Draws) -> tuple[Array, Array]:
    """Return (USD by row, samples row x sample) of doing once each workload of a model that every option can run.

    It is the work to compare options by where nothing is owned. `rows`: the model's options; `options`, `draws`: all
    options and their samples.
    """
    table = options[options["model"].eq(model) & options["option"].isin([row["option"] for row in rows])]
    is_common = table.groupby("workload")["option"].transform("nunique") == len(rows)
    groups = table[is_common].groupby("option").groups

    labels = [list(groups.get(row["option"], [row["row"]])) for row in rows]
    usd = np.array([options["usd"].to_numpy(float)[group].sum() for group in labels])
    return usd, np.stack([draws.usd[group].sum(axis=0) for group in labels])


def _work_of_reference(rows: list[Row], reference: Row, draws: Draws, month_days: float) -> tuple[Array, Array]:
    """Return (USD by row, samples row x sample) of the work that the owned reference machine does in its project.

    The work is what the reference does in its planned days over its months, less the hours it is broken; `rows`: the
    options that compete for it. A sample with more days of use has more work; monthly payments stay, so each image
    costs less.
    """
    label = reference["row"]
    days = reference["days_per_month"]
    months = reference["months"]
    use = np.minimum(draws.days[label], month_days) / days
    lengths = (figure.values for figure in draws.figures if figure.name == "months" and label in figure.rows)

    hours = HOURS_A_DAY * days * (1.0 - or_zero(reference["downtime_share"])) * months
    images = 3600.0 * reference["images_per_s"] * hours
    sampled_images = images * use * next(lengths, months) / months
    samples = []
    for row in rows:
        # The hour of a contract is sampled at the price list's days of use: here they are the team's.
        index = row["row"]
        variable = row["variable_usd_per_hour"] if by_contract(row) else draws.variable[index]
        hour = _usd_per_hour(row, draws.fixed[index], variable, use)
        samples.append(sampled_images * hour / (3600.0 * draws.images_per_s[index]))
    return np.array([images / row["images_per_usd"] for row in rows]), np.stack(samples)


def references(options: DataFrame) -> dict[str, Row]:
    """Return {model: row of its reference option}, the machine at a price that a study asks about.

    Break-even days and the amount of work are those of this machine; models without a reference are left out.
    """
    rows = options[options["is_reference"] & (options["images_per_s"] > 0)].drop_duplicates("model")
    return {row["model"]: row for row in records(rows)}


def break_even_rows(options: DataFrame, draws: Draws, month_days: float) -> list[Row]:
    """Return the days of use from which the owned reference is cheaper, for every alternative of each model.

    The result is the rows of the table `break_even`, one per model and alternative; none where the reference is not
    owned. `break_even_value`, with 90 % of the samples (NaN: beyond the month): days of use a month; `p_pays`: share of
    the samples in which some use within the month pays. An owned alternative is used on the same days as the reference,
    and so is a contract, paid whether used or not.

    Parameters
    ----------
    options, draws, month_days
        The table of options; their samples; days of a month.
    """
    rows_by_model = trained(options)
    table = []
    for model, owned in references(options).items():
        planned = np.append(owned["days_per_month"], draws.days[owned["row"]])
        for rival in records(rows_by_model[model]) if owned["purchase"] == "own" else ():
            if (rival["instance"], rival["purchase"]) == (owned["instance"], "own"):
                continue

            days = break_even_days(*_cost_differences(owned, rival, draws), planned)
            bounds = np.array([days[0], *interval(days[1:])])
            bounds[bounds > month_days] = np.nan
            table.append(
                dict(zip(DAYS, [*bounds, *bounds], strict=True))
                | {
                    "workload": model,
                    "model": model,
                    "reference": owned["option"],
                    "option": rival["option"],
                    "quantity": "days_per_month",
                    "planned": planned[0],
                    "p_pays": np.mean(days[1:] <= month_days),
                }
            )
    return table


def break_even_days(extra_usd: Array, saving_per_hour: Array, planned: Array) -> Array:
    """Return the days of use per month from which an owned machine costs no more than a rival: infinity: never; 0: on
    all days, or on all days up to the planned ones.

    Parameters
    ----------
    extra_usd, saving_per_hour, planned
        USD that the owned machine costs more per month, used or not; USD by which an hour of its work is cheaper; days
        of use as planned (arrays of one shape).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        days = np.maximum(extra_usd / (HOURS_A_DAY * saving_per_hour), 0.0)
    pays_as_planned = extra_usd / (HOURS_A_DAY * planned) <= saving_per_hour
    return np.where(saving_per_hour > 0, days, np.where(pays_as_planned, 0.0, np.inf))


def _cost_differences(owned: Row, rival: Row, draws: Draws) -> tuple[Array, Array]:
    """Return (USD more per month, USD less per hour) of an owned machine's work than a rival's, for `break_even_days`.

    First as planned, then by sample. `owned`, `rival`: option rows. An owned rival costs its own USD per month, a
    contract the months that the planned use takes, and a rented one USD per hour of the work.
    """

    def values(name: str, samples: Array) -> list[Array]:
        return [np.append(row[name], samples[row["row"]]) for row in (owned, rival)]

    fixed, rival_fixed = values("fixed_usd_per_month", draws.fixed)
    variable, rival_variable = values("variable_usd_per_hour", draws.variable)
    speed, rival_speed = values("images_per_s", draws.images_per_s)
    _, images_per_usd = values("images_per_usd", draws.images_per_usd)
    ratio = speed / rival_speed
    if by_contract(rival):
        hours = HOURS_A_DAY * owned["days_per_month"]
        return fixed - hours * rival["variable_usd_per_hour"] * ratio, -variable
    if rival["purchase"] == "own":
        return fixed - rival_fixed * ratio, rival_variable * ratio - variable
    return fixed, 3600.0 * speed / images_per_usd - variable
