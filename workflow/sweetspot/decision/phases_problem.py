"""A plan of phases: jobs dealt out in rounds to whole machines, as many as the plan's months need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce

import numpy as np
from pandas import DataFrame

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.price_paths import central_change, mean_factor
from sweetspot.bills.rates import possession
from sweetspot.bills.renting import contract_months, job_rounds, next_machine_count
from sweetspot.decision.decision_problem import (
    ALL_JOBS,
    BASELINE,
    FURTHEST,
    Array,
    BreakEvenCase,
    Choice,
    Costs,
    DecisionProblem,
    Parameter,
    ParameterValues,
    all_of,
    hour_change,
    parameters_of,
)
from sweetspot.decision.options import CELL, OFFER, Row, records
from sweetspot.decision.simulate import Draws

POSSESSION, TOTAL = "possession", "total"  # rows of results/<study>/plans that are no phase
FACTORS = 4097  # from a fifth to five times, at which it is computed where a machine pays
COARSE = 16  # of the samples every so many of them, and those between which machines are bought
INTERVAL_SAMPLES = 1000
CHOICE_COLUMNS = [
    "option", "title", "alternative", "counts", "boxes", "hours", "usd", "ownership_usd", "planned_hours",
    "device_hours", "room_hours", "renewed_term_months",
]  # fmt: skip


@dataclass(eq=False, kw_only=True)
class PhasesProblem(DecisionProblem):
    """A plan of phases, and USD and machines of each option for it at any parameter values.

    A price leaves the hours unchanged; a speed, the days of use and the amount of work change the hours, and with them
    the number of machines. Every further machine is paid for all months. A longer project has as much work in each
    month; machines are kept for all of it, and terms that are renewed too.

    Parameters
    ----------
    table
        A row per choice: option, title, alternative, `counts` (machines), at least `boxes` for any amount of work;
        hours, usd, of that `ownership_usd` for owning or committing; `planned_hours` of one owned machine,
        `device_hours` of the whole plan, `room_hours` in which one machine may work (NaN: unlimited),
        `renewed_term_months` of a term that is signed again until the plan ends (NaN: none is).
    jobs, phase_usd, job_hours, slots
        Number of jobs of each phase; USD by use, hours of a job, and jobs that a machine works on at once, phase x
        option.
    speed_of
        Label of the row whose speed determines the hours of a job, by phase and option; None: no such row.
    work_hours
        Hours of all jobs, as the plan states them.
    running_samples, ownership_samples
        Samples of USD by use and USD of ownership, option x sample.
    """

    table: DataFrame
    jobs: Array
    phase_usd: Array
    job_hours: Array
    slots: Array
    speed_of: list[list[int | None]]
    work_hours: float
    running_samples: Array
    ownership_samples: Array
    not_sampled = ("days_per_month",)  # They say how many machines are held: no sample has another number.

    @cached_property
    def rows_of_plan(self) -> list[Row]:
        """The rows of `table` as dictionaries."""
        return records(self.table)

    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return USD and machines of all options at what-if values, option x case, as turning points and sweeps need
        them. An option is priced again only where a figure of its machine or the amount of work changes.
        """
        usd, machines = (
            np.repeat(self.table[[name]].to_numpy(float), values.cases, axis=1) for name in ("usd", "counts")
        )
        is_work_changed = any(not parameter.rows for parameter in values.values)
        for index, (choice, *speeds) in enumerate(zip(self.choices, *self.speed_of, strict=True)):
            if is_work_changed or values.rows & {choice.row["row"], *speeds}:
                usd[index], machines[index] = self._option_cost(index, values)
        return Costs(usd, machines)

    def _option_cost(self, index: int, values: ParameterValues) -> tuple[Array, Array]:
        """Return (USD, machines) of the whole plan on one option at what-if values, one per case, for `cost_usd`.

        `index`: of the choice. The fewest machines that end in time are taken; infinite USD: no number is enough.
        """
        row = self.choices[index].row
        plan = self.rows_of_plan[index]
        unity = np.ones(values.cases)
        factor = values.of(row["row"])
        length = values.work("months") * unity
        speeds = [values.factor(labels[index], "images_per_s") * unity for labels in self.speed_of]
        hours = values.work(ALL_JOBS) * length / np.stack(speeds)

        # A plan's rents are those of its own months, or today's where it states none.
        mean_rent = partial(mean_factor, central_change(row))
        rent = np.nan_to_num(mean_rent(self.months * length) / mean_rent(self.months), nan=1.0)
        rate = month = hour_change(row, values, rent)
        paid = unity
        term = plan["renewed_term_months"]
        if row["purchase"] == "own":
            baseline = possession(row, BASELINE.of(None))
            paid = length
            month = possession(row, factor) / baseline if baseline else 1.0
        elif term > 0:
            paid = contract_months(self.months * length, term) / contract_months(self.months, term)

        rounds_on = partial(job_rounds, self.jobs[:, None], self.slots[:, index, None])
        available = np.nan_to_num(plan["room_hours"], nan=np.inf) * factor("days_per_month") * paid
        enough = np.full(values.cases, plan["boxes"])
        machines = np.zeros(values.cases)
        while (enough != machines).any():
            machines = enough
            longest, rounds = rounds_on(machines)
            total_hours = (longest * self.job_hours[:, index, None] * hours).sum(axis=0)
            enough, is_late = next_machine_count(machines, total_hours, available, float(self.jobs.max()))

        round_factor = rounds / rounds_on(np.full(1, plan["counts"]))[1]
        running = (self.phase_usd[:, index, None] * hours * round_factor).sum(axis=0) * rate
        ownership = plan["ownership_usd"] / plan["counts"] * machines * paid * month
        return np.where(is_late, np.inf, ownership + running), machines

    def break_even_cases(self) -> Iterator[BreakEvenCase]:
        """Yield, per owned option, USD owned less USD rented along the amount of work and along days of use.

        From each it is computed from how much work, or how many days of use a month, on buying pays.
        """
        is_owned = np.array([choice.row["purchase"] == "own" for choice in self.choices])
        owned, rented = (np.flatnonzero(self.eligible & mask).tolist() for mask in (is_owned, ~is_owned))
        amount, unit = (self.work_hours, "hours of work") if len(self.jobs) > 1 else (float(self.jobs[0]), "jobs")
        work = replace(all_of("the work of the plan"), value=amount, unit=unit)
        days = (parameter for parameter in self.parameters if parameter.quantity == "days_per_month")
        parameters = [*days, work]
        for index in owned if rented else ():
            for parameter in parameters:
                yield self._break_even_case(index, rented, parameter)

    def _break_even_case(self, index: int, rented: list[int], parameter: Parameter) -> BreakEvenCase:
        """Return USD of an owned option (index of the choice) less USD of the cheapest `rented` one (indices), by
        sample and factor of a parameter, from which the table of break-even values is made.

        The number of machines is that of central figures; contracts are repeated as often as the work requires.
        """
        factors = np.exp(np.linspace(-np.log(FURTHEST), parameter.log_limit(FURTHEST), FACTORS))
        costs = self.at(parameter, factors)
        counts = costs.counts[index]
        planned = np.abs(np.log(factors)).argmin()
        jumps = np.flatnonzero(np.diff(counts)) + 1
        selected = np.unique([*jumps, *jumps - 1, *range(0, FACTORS, COARSE), planned])

        # More machines than the jobs fill do none of them: then the electricity is that of the hours worked.
        work = factors if parameter.quantity == ALL_JOBS else np.ones(FACTORS)
        signed = costs.counts / self.table[["counts"]].to_numpy(float)
        too_late = np.where(np.isfinite(costs.usd), 0.0, np.inf)

        def difference(running: Array, ownership: Array, columns: Array | slice) -> Array:
            """Return USD owned less USD rented, sample x factor.

            Parameters
            ----------
            running, ownership, columns
                USD by use, and USD of the machines' price or contract, option x sample; indices of the factors.
            """

            def usd(option: int) -> Array:
                paid = ownership[option][:, None] * signed[option, columns] + too_late[option, columns]
                return np.asarray(paid + running[option][:, None] * work[columns])

            return np.asarray(usd(index) - reduce(np.minimum, map(usd, rented)))

        ownership = self.table[["ownership_usd"]].to_numpy(float)
        central = difference(self.table[["usd"]].to_numpy(float) - ownership, ownership, slice(None))
        samples = difference(self.running_samples, self.ownership_samples, selected)
        choice = self.choices[index]
        return BreakEvenCase(choice.option, choice.title, parameter, factors, central[0], counts, samples, selected)


def phases_problems(options: DataFrame, draws: Draws, plans: DataFrame, month_days: float) -> list[PhasesProblem]:
    """Return the decision of each plan of phases that some option can run, choices sorted by cost.

    Choices are the options (a machine at a price) that can run the plan and may be the answer.

    Parameters
    ----------
    options, draws, plans, month_days
        The table of options and their samples; rows of results/<study>/plans; days of a month.
    """
    in_answer = options[options["in_answer"]]
    if plans.empty or in_answer.empty:
        return []
    # The plan's row of an option is that of the cell the option was priced on.
    cells = in_answer.reset_index().drop_duplicates([*OFFER, "model"])
    key = [*OFFER, *CELL[1:]]
    rows = plans.merge(cells[["index", "option", "title", "alternative", *key]], on=key, how="inner")
    rows = rows[rows["status"] == "ok"].drop_duplicates(["plan", "phase", "option"])
    by_plan = rows.groupby("plan", sort=False)
    return [_phases_problem(str(name), table, in_answer, draws, month_days) for name, table in by_plan]


def sampled_costs(rows: DataFrame, running: Array, ownership: Array, draws: Draws) -> tuple[Array, Array]:
    """Return samples of (USD by use, USD by the month), option x sample, which give a plan's cost its range.

    Parameters
    ----------
    rows, running, ownership, draws
        The options; USD by use and by the month at central figures, by option; samples of speeds and prices.
    """
    labels = rows.index
    slower = rows["images_per_s"].to_numpy(float)[:, None] / draws.images_per_s[labels]
    variable, fixed = (rows[name].to_numpy(float)[:, None] for name in ("variable_usd_per_hour", "fixed_usd_per_month"))
    rate = np.divide(draws.variable[labels], variable, out=np.ones_like(slower), where=variable > 0)
    month = np.divide(draws.fixed[labels], fixed, out=rate.copy(), where=fixed > 0)
    return running[:, None] * slower * rate, ownership[:, None] * month


def _phases_problem(name: str, table: DataFrame, options: DataFrame, draws: Draws, month_days: float) -> PhasesProblem:
    """Return the decision of the plan `name`: who runs its phases, at what cost.

    `table`: its rows of the plans table (a row per option and phase); `options`: those in the answer.
    """
    total = table[table["phase"] == TOTAL].sort_values(["usd", "option"], kind="stable").set_index("option")
    owned = table[table["phase"] == POSSESSION].set_index("option").reindex(total.index)
    phases = table[~table["phase"].isin([TOTAL, POSSESSION])]
    jobs = phases.drop_duplicates("phase")["jobs"].to_numpy(int)
    phase_usd, job_hours, slots, instances = (
        phases.pivot(index="phase", columns="option", values=column)
        .reindex(index=phases["phase"].unique(), columns=total.index)
        .to_numpy()
        for column in ("usd", "job_hours", "slots", "speed_of")
    )

    offers = options.loc[total["index"]]
    rows = records(offers)
    months = float(total["plan_months"].iloc[0])
    total = total.assign(counts=owned["machines"].fillna(1.0), ownership_usd=owned["usd"].fillna(0.0))
    planned_hours = HOURS_A_DAY * offers["days_per_month"] * offers["months"]
    titles = zip(total["counts"], total["title"], strict=True)
    total = total.reset_index().assign(
        title=[f"{count:g} × {title}" if count > 1 else title for count, title in titles],
        device_hours=(jobs[:, None] * job_hours / slots).sum(axis=0) * offers["gpus"].clip(lower=1).array,
        planned_hours=planned_hours.where(offers["purchase"].eq("own")).array,
    )
    ownership_usd = total["ownership_usd"].to_numpy(float)
    running, ownership = sampled_costs(offers, total["usd"].to_numpy(float) - ownership_usd, ownership_usd, draws)

    is_none_persistent = not offers["persistent"].any()
    choices = tuple(Choice.of(row, bool(row["persistent"] or is_none_persistent)) for row in rows)
    eligible = [choice for choice in choices if choice.eligible]
    of_offers = parameters_of(eligible, [choice.row for choice in eligible], month_days)
    return PhasesProblem(
        workload=name,
        months=months,
        choices=choices,
        parameters=(*of_offers, all_of("amount of work")),
        samples_usd=running + ownership,
        table=total[CHOICE_COLUMNS],
        jobs=jobs,
        phase_usd=phase_usd,
        job_hours=job_hours,
        slots=slots,
        speed_of=[[_speed_of(*pair, rows) for pair in zip(rows, phase, strict=True)] for phase in instances],
        work_hours=float(total["work_hours"].iloc[0]),
        running_samples=running[:, :INTERVAL_SAMPLES],
        ownership_samples=ownership[:, :INTERVAL_SAMPLES],
    )


def _speed_of(row: Row, instance: str, rows: Sequence[Row]) -> int | None:
    """Return the label of the option row whose speed sets the hours of a phase's jobs, by which they change with that
    speed. It is the row of the machine `instance`, or of one device of the same kind as in `row`; None without one.
    `rows`: options of the plan.
    """
    matches = [option["row"] for option in (row, *rows) if option["instance"] == instance]
    matches += [option["row"] for option in rows if option["gpus"] == 1 and option.get("gpu") == row.get("gpu")]
    return matches[0] if matches else None
