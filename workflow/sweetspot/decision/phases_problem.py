"""A plan of phases: jobs dealt out in rounds to whole machines, as many as the plan's months need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd

from sweetspot.bills.owning import HOURS_A_DAY
from sweetspot.bills.price_paths import central_change, mean_factor
from sweetspot.bills.rates import Number, possession
from sweetspot.bills.renting import contract_months, job_rounds, next_machine_count
from sweetspot.decision.decision_problem import (
    ALL_JOBS,
    BASELINE,
    FURTHEST,
    Array,
    Choice,
    Costs,
    DecisionProblem,
    Parameter,
    ParameterValues,
    hour_change,
)
from sweetspot.decision.options import CELL, OFFER, Row, records
from sweetspot.decision.parameters import all_of, parameters_of
from sweetspot.decision.simulate import Draws
from sweetspot.decision.turning import BreakEvenCase, CostDifference

POSSESSION, TOTAL = "possession", "total"  # rows of results/<study>/plans that are no phase
FACTORS = 4097  # from a fifth to five times, at which it is computed where a machine pays
COARSE = 16  # of the samples every so many of them, and those between which machines are bought
INTERVAL_SAMPLES = 1000


@dataclass(eq=False, kw_only=True)
class PhasesProblem(DecisionProblem):
    """A plan of phases, and USD and machines of each option for it at any parameter values.

    A price leaves the hours unchanged; a speed, the days of use and the amount of work change the hours, and with them
    the number of machines. Every further machine is paid for all months. A longer project has as much work in
    each month; machines are kept for all of it, and terms that are renewed too.

    Parameters
    ----------
    table
        A row per choice: option, title, alternative, `counts` (machines), hours, usd, of that
        `ownership_usd` by the month, `planned_hours` of one owned machine, `device_hours` of the whole plan.
    jobs
        Number of jobs of each phase.
    phase_usd, job_hours, slots
        USD by use, hours of a job, and jobs that a machine works on at once; phase x option.
    speed_of
        Label of the row whose speed determines the hours of a job, by phase and option; None: no such row.
    ownership_usd
        USD for owning or committing to all machines over the plan, by option.
    machines, minimum
        Number of machines, and least number for any amount of work, by option.
    available_hours
        Hours in which one machine may work over the plan, by option; infinite: unlimited.
    renewed_months
        Months of a term that is signed again until the plan ends; NaN: none is.
    work_hours
        Hours of all jobs, as the plan states them.
    running_samples, ownership_samples
        Samples of USD by use and USD of ownership, option x sample.
    """

    table: pd.DataFrame
    jobs: Array
    phase_usd: Array
    job_hours: Array
    slots: Array
    speed_of: list[list[int | None]]
    ownership_usd: Array
    machines: Array
    minimum: Array
    available_hours: Array
    renewed_months: Array
    work_hours: float
    running_samples: Array
    ownership_samples: Array
    not_sampled = ("days_per_month",)  # They say how many machines are held: no sample has another number.

    @property
    def running_usd(self) -> Array:
        """USD by use of all phases, by option."""
        return np.asarray(self.phase_usd.sum(axis=0))

    def cost_usd(self, values: ParameterValues) -> Costs:
        """Return USD and machines of all options in each case, option x case."""
        usd = np.repeat((self.running_usd + self.ownership_usd)[:, None], values.cases, axis=1)
        machines = np.repeat(self.machines[:, None], values.cases, axis=1)
        is_work_changed = not isinstance(values.work(ALL_JOBS) * self._length(values), float)
        for index, (choice, *speeds) in enumerate(zip(self.choices, *self.speed_of, strict=True)):
            if is_work_changed or values.rows & {choice.row["row"], *speeds}:
                usd[index], machines[index] = self._option_cost(index, values)
        return Costs(usd, machines)

    def _length(self, values: ParameterValues) -> Number:
        """Return the length of the project as a multiple of the planned one; 1 where the plan states none."""
        return 1.0 if np.isnan(self.months) else values.work("months")

    def _option_cost(self, index: int, values: ParameterValues) -> tuple[Array, Array]:
        """Return USD and machines of one option, one value per case; infinite USD: no number of machines is enough."""
        row, unity, term = self.choices[index].row, np.ones(values.cases), self.renewed_months[index]
        factor, is_owned, length = values.of(row["row"]), row["purchase"] == "own", self._length(values)
        speeds = [values.factor(speeds[index], "images_per_s") * unity for speeds in self.speed_of]
        hours = unity * values.work(ALL_JOBS) * length / np.stack(speeds)
        # A plan's rents are those of its own months, or today's where it states none.
        months: Number = factor("months") if is_owned else 1.0
        rent: Number = 1.0
        change = central_change(row)
        if not np.isnan(self.months):
            rent = mean_factor(change, self.months * length) / mean_factor(change, self.months)
            months = length if is_owned else 1.0
            if not np.isnan(term):
                months = contract_months(self.months * length, term) / contract_months(self.months, term)
        machines, is_late = self.machines[index] * unity, np.zeros(values.cases, bool)
        rounds = baseline_rounds = self._rounds(index, machines[:1])[1]
        if np.isfinite(self.available_hours[index]):
            hours_per_machine = self.available_hours[index] * factor("days_per_month") * months * unity
            machines, rounds, is_late = self._machines(index, hours, hours_per_machine)
        rate = month = hour_change(row, values, rent)
        if is_owned:
            baseline = possession(row, BASELINE.of(None))
            month = possession(row, factor) / baseline if baseline else 1.0
        running = (self.phase_usd[:, index, None] * hours * rounds / baseline_rounds).sum(axis=0) * rate
        ownership = self.ownership_usd[index] / self.machines[index] * machines * months * month
        return np.where(is_late, np.inf, ownership + running), machines

    def _rounds(self, index: int, machines: Array) -> tuple[Array, Array]:
        """Return the rounds on the machine with most jobs, and the rounds of all machines together, phase x case."""
        return job_rounds(self.jobs[:, None], self.slots[:, index, None], machines)

    def _machines(self, index: int, hours: Array, hours_per_machine: Array) -> tuple[Array, Array, Array]:
        """Return by case the machines needed, rounds of all (phase x case), and whether no number is enough."""
        machines = np.full(hours_per_machine.shape, self.minimum[index])
        while True:
            longest, rounds = self._rounds(index, machines)
            total = (longest * self.job_hours[:, index, None] * hours).sum(axis=0)
            enough, is_late = next_machine_count(machines, total, hours_per_machine, float(self.jobs.max()))
            if (enough == machines).all():
                return machines, rounds, is_late
            machines = enough

    def break_even_cases(self) -> Iterator[BreakEvenCase]:
        """Yield a case per owned option with the amount of work, and with days of use if hours are limited."""
        usd = self.running_samples + self.ownership_samples
        is_owned = np.array([choice.row["purchase"] == "own" for choice in self.choices])
        rented = np.flatnonzero(self.eligible & ~is_owned)
        if not rented.size:
            return
        amount, unit = (self.work_hours, "hours of work") if len(self.jobs) > 1 else (float(self.jobs[0]), "jobs")
        for index in map(int, np.flatnonzero(self.eligible & is_owned)):
            choice, p_pays = self.choices[index], float(np.mean(usd[index] <= usd[rented].min(axis=0)))
            for parameter in self.parameters:
                if parameter.quantity == ALL_JOBS:
                    label = ("the work of the plan", ALL_JOBS, amount, unit)
                elif parameter.quantity == "days_per_month" and np.isfinite(self.available_hours[index]):
                    label = (parameter.name, parameter.quantity, parameter.value, parameter.unit)
                else:
                    continue
                difference = self._cost_difference(index, rented, parameter)
                yield BreakEvenCase(choice.option, choice.title, parameter, *label, difference, p_pays)

    def _cost_difference(self, index: int, rented: Array, parameter: Parameter) -> CostDifference:
        """Return USD of an owned option less USD of the cheapest rented one, by sample and factor of a parameter.

        The number of machines is that of central figures; contracts are repeated as often as the work requires.
        """
        factors = np.exp(np.linspace(-np.log(FURTHEST), parameter.log_limit(FURTHEST), FACTORS))
        costs = self.at(parameter, factors)
        is_jump = np.diff(costs.counts[index], prepend=costs.counts[index, 0]) != 0
        selected = is_jump | (np.arange(FACTORS) % COARSE == 0)
        selected[np.abs(np.log(factors)).argmin()] = True
        selected[:-1] |= is_jump[1:]
        # More machines than the jobs fill do none of them: then the electricity is that of the hours worked.
        work = factors if parameter.quantity == ALL_JOBS else np.ones(FACTORS)
        signed, is_able = costs.counts / self.machines[:, None], np.isfinite(costs.usd)

        def difference(running: Array, ownership: Array, columns: Array) -> Array:
            """Return USD owned less USD rented, sample x factor."""

            def usd(option: int) -> Array:
                paid = ownership[option][:, None] * signed[option, columns]
                paid = paid + running[option][:, None] * work[columns]
                return np.where(is_able[option, columns], paid, np.inf)

            return usd(index) - reduce(np.minimum, map(usd, rented))

        central = difference(self.running_usd[:, None], self.ownership_usd[:, None], np.ones(FACTORS, bool))
        samples = difference(self.running_samples, self.ownership_samples, selected)
        counts = costs.counts[index, selected]
        is_sample_jump = np.diff(counts, prepend=counts[0]) != 0
        return CostDifference(factors, central, samples, factors[selected], is_jump, is_sample_jump)


def phases_problems(options: pd.DataFrame, draws: Draws, plans: pd.DataFrame, month_days: float) -> list[PhasesProblem]:
    """Return the decision of each plan of phases that some option can run.

    Parameters
    ----------
    options, draws
        The table of options and their samples.
    plans
        Rows of results/<study>/plans.
    month_days
        Days of a month.

    Returns
    -------
    list of PhasesProblem
        One per plan; choices are the options that can run the plan and may be the answer, the cheapest first.
    """
    in_answer = options[options["in_answer"].astype(bool)]
    if plans.empty or in_answer.empty:
        return []
    # The plan's row of an option is that of the cell the option was priced on.
    cells = in_answer.reset_index().drop_duplicates([*OFFER, "model"])
    key = [*OFFER, *CELL[1:]]
    rows = plans.merge(cells[["index", "option", "title", "persistent", "alternative", *key]], on=key, how="inner")
    rows = rows[rows["status"] == "ok"].drop_duplicates(["plan", "phase", "option"])
    by_plan = rows.groupby("plan", sort=False)
    return [_phases_problem(str(name), table, in_answer, draws, month_days) for name, table in by_plan]


def sampled_costs(rows: pd.DataFrame, running: Array, ownership: Array, draws: Draws) -> tuple[Array, Array]:
    """Return samples of USD by use and by the month, from central USD and the draws of speeds and prices.

    Parameters
    ----------
    rows
        The options.
    running, ownership
        USD by use and USD by the month at central figures, by option.
    draws
        The samples of all options.

    Returns
    -------
    running, ownership
        USD by use and USD by the month, option x sample.
    """
    labels = rows.index.to_numpy()
    slower = rows["images_per_s"].to_numpy(float)[:, None] / draws.images_per_s[labels]
    variable, fixed = (rows[name].to_numpy(float)[:, None] for name in ("variable_usd_per_hour", "fixed_usd_per_month"))
    rate = np.divide(draws.variable[labels], variable, out=np.ones_like(slower), where=variable > 0)
    month = np.divide(draws.fixed[labels], fixed, out=rate.copy(), where=fixed > 0)
    return running[:, None] * slower * rate, ownership[:, None] * month


def _phases_problem(
    name: str, table: pd.DataFrame, options: pd.DataFrame, draws: Draws, month_days: float
) -> PhasesProblem:
    """Return the decision of the plan `name`, from its rows of the plans table and the options in the answer."""
    total = table[table["phase"] == TOTAL].sort_values(["usd", "option"], kind="stable").set_index("option")
    ownership = table[table["phase"] == POSSESSION].set_index("option").reindex(total.index)
    ownership_usd = ownership["usd"].fillna(0.0).to_numpy(float)
    machines = ownership["machines"].fillna(1.0).to_numpy(float)
    phases = table[~table["phase"].isin([TOTAL, POSSESSION])]
    jobs = phases.drop_duplicates("phase")["jobs"].to_numpy(int)
    phase_usd, job_hours, slots, instances = (
        phases.pivot(index="phase", columns="option", values=column)
        .reindex(index=phases["phase"].unique(), columns=total.index)
        .to_numpy()
        for column in ("usd", "job_hours", "slots", "speed_of")
    )
    offers = options.loc[total["index"]]
    rows, months = records(offers), float(total["plan_months"].iloc[0])
    samples = sampled_costs(offers, total["usd"].to_numpy(float) - ownership_usd, ownership_usd, draws)
    planned_hours = HOURS_A_DAY * offers["days_per_month"] * offers["months"]
    device_hours = (jobs[:, None] * job_hours / slots).sum(axis=0)
    choice_rows = total.reset_index()[["option", "alternative", "hours", "usd"]].assign(
        title=[
            f"{count:g} × {title}" if count > 1 else title
            for count, title in zip(machines, total["title"], strict=True)
        ],
        counts=machines,
        ownership_usd=ownership_usd,
        device_hours=device_hours * [float(row["gpus"] or 1) for row in rows],
        planned_hours=planned_hours.where(offers["purchase"].eq("own")).array,
    )
    is_none_persistent = not offers["persistent"].any()
    choices = tuple(Choice.of(row, bool(row["persistent"] or is_none_persistent)) for row in rows)
    eligible = [choice for choice in choices if choice.eligible]
    of_offers = parameters_of(eligible, [choice.row for choice in eligible], month_days)
    return PhasesProblem(
        workload=name,
        months=months,
        size_text="the plan" if np.isnan(months) else f"{months:g} months",
        choices=choices,
        parameters=(*of_offers, all_of("amount of work")),
        samples_usd=samples[0] + samples[1],
        table=choice_rows,
        jobs=jobs,
        phase_usd=phase_usd,
        job_hours=job_hours,
        slots=slots,
        speed_of=[[_speed_of(*pair, rows) for pair in zip(rows, phase, strict=True)] for phase in instances],
        ownership_usd=ownership_usd,
        machines=machines,
        minimum=total["boxes"].to_numpy(float),
        available_hours=total["room_hours"].fillna(np.inf).to_numpy(float),
        renewed_months=total.reindex(columns=["renewed_term_months"]).to_numpy(float)[:, 0],
        work_hours=float(total["work_hours"].iloc[0]),
        running_samples=samples[0][:, :INTERVAL_SAMPLES],
        ownership_samples=samples[1][:, :INTERVAL_SAMPLES],
    )


def _speed_of(row: Row, instance: str, rows: Sequence[Row]) -> int | None:
    """Return the label of the row whose speed a phase's jobs have: of `instance`, or of one device; None: no row."""
    matches = [other["row"] for other in (row, *rows) if other["instance"] == instance]
    matches += [other["row"] for other in rows if other["gpus"] == 1 and other.get("gpu") == row.get("gpu")]
    return matches[0] if matches else None
