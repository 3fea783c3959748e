"""One market, from its price list on, asked as a job, as a plan of phases and as jobs a month; and edited as a file.

Whatever it is asked for, the tables are made of the list by the code that prices it; who is the best is read from
bills alone.
"""

import copy
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from decision_tables import study
from phase_plans import cells_of
from phase_plans import own as own  # for the tests of markets
from price_lists import MONTH_DAYS, machines, offers, planned, price_list, priced, works_of
from sweetspot.decision.compare import Inputs
from sweetspot.decision.decision_problem import DecisionProblem, Parameter, TurningPoint
from sweetspot.decision.monthly_problem import monthly_problem
from sweetspot.decision.monthly_work import MonthlyWork, monthly_work
from sweetspot.decision.options import build_options
from sweetspot.decision.phases_problem import PhasesProblem, phases_problems
from sweetspot.decision.shared_machine_problem import shared_machine_problems
from sweetspot.decision.simulate import Draws, simulate
from sweetspot.study.settings import Settings

SHARE, ROUNDS, DISPATCH = KINDS = ("share", "rounds", "dispatch")
OF_OWN = {"capex_usd": "capex", "residual_usd": "residual", "maintenance_usd_per_month": "maintenance_per_month",
          "months": "months", "kw": "kw", "usd_per_kwh": "per_kwh", "days_per_month": "days_per_month"}  # fmt: skip


@dataclass(frozen=True)
class Market:
    """Offers of a price list as plain data, images/s by machine, and the work: `jobs` a month of `hours` on a machine
    of 100 images/s, for `months`; `slow`: images/s that the hours of the plan's jobs hold at, on its own machine.
    """

    offers: tuple[dict[str, Any], ...]
    speeds: dict[str, float] = field(default_factory=dict)
    jobs: float = 100.0
    hours: float = 2.0
    months: float = 36.0
    growth: float = 0.0
    have: tuple[str, ...] = ()
    allowed: float | None = None

    @property
    def box(self) -> str:
        """The first machine that is owned."""
        return next(one["instance"] for one in self.offers if "own" in one)


def hourly(name: str, usd: Any, **keys: Any) -> dict[str, Any]:
    """A machine by the hour."""
    return {"instance": name, "per_hour": usd, **keys}


def put(market: Market, kind: str, assumption: Parameter, factor: float) -> Market:
    """The market whose price list, speeds or work say `factor` times what an assumption says."""
    quantity, subject, changed = assumption.quantity, assumption.subject, copy.deepcopy(market)
    for one in changed.offers:
        mine = subject in ("", one["instance"]) or quantity == "usd_per_kwh"
        if "own" in one and quantity in OF_OWN and mine:
            name = OF_OWN[quantity]
            if quantity == "residual_usd":  # an amount, instead of a curve
                one["own"][name] = assumption.value
            one["own"][name] = _times(one["own"][name], factor)
        elif "own" not in one and quantity in ("usd_per_hour", "rents", "rent_factor") and mine:
            one["per_hour"] = _times(one["per_hour"], factor)
    if quantity == "speed":
        name = subject.split("|")[1].removeprefix("card of ")
        faster = {name: market.speeds.get(name, 100.0) * factor}
        # The hours of a plan hold on the box: with another speed of it the work stays.
        stays = factor if kind == ROUNDS and name == market.box else 1.0
        changed = replace(changed, speeds=market.speeds | faster, hours=market.hours / stays)
    if quantity == "months" and kind != SHARE:  # as much work in each month; of a plan that is so much longer jobs
        longer = factor if kind == ROUNDS else 1.0
        changed = replace(changed, months=market.months * factor, jobs=market.jobs / longer,
                          hours=market.hours * longer)  # fmt: skip
    elif quantity in ("jobs", "per_month") and kind == ROUNDS:
        changed = replace(changed, hours=market.hours * factor)
    elif quantity in ("jobs", "per_month"):
        changed = replace(changed, jobs=market.jobs * factor)
    return changed


def _times(value: Any, factor: float) -> Any:
    return {name: end * factor for name, end in value.items()} if isinstance(value, dict) else value * factor


@dataclass(frozen=True)
class Priced:
    """A market's options with their draws, and all that the kinds of work read beside them."""

    tables: Inputs
    settings: Settings
    options: pd.DataFrame
    draws: Draws
    works: dict[str, Any]

    def share(self) -> DecisionProblem:
        """As often as the box's use allows."""
        (question,) = shared_machine_problems(self.options, self.draws, MONTH_DAYS)
        return question

    def rounds(self) -> PhasesProblem:
        """All its jobs, in rounds."""
        return next(iter(phases_problems(self.options, self.draws, self.tables.plans, MONTH_DAYS)))

    def posed(self) -> MonthlyWork:
        """Its jobs of a month, as mixes."""
        lab = (self.options, self.draws, self.tables.offers, MONTH_DAYS, self.settings.seed)
        return monthly_work("lab", self.works["lab"], *lab)

    def dispatch(self) -> DecisionProblem:
        """Its jobs of a month."""
        found = monthly_problem(self.posed())
        assert found is not None
        return found

    def question(self, kind: str) -> DecisionProblem:
        """The question of one kind of work."""
        return {SHARE: self.share, ROUNDS: self.rounds, DISPATCH: self.dispatch}[kind]()


def price(market: Market, draws: int = 2, kind: str | None = None) -> Priced:
    """The market's tables, from its price list on; `kind`: only what that one reads."""
    listed = price_list(*market.offers)
    known = machines(listed, **{one["instance"]: {"gpu": f"card of {one['instance']}"} for one in market.offers})
    speeds = {name: (rate, rate, rate) for name, rate in market.speeds.items()}
    cells = cells_of(known, speeds)
    samples = 360_000.0 * market.hours
    plan = {"kind": "plan", "model": "vgg16", "instance": market.box, "parallel": 1, "months": market.months,
            "renewed": True, "phases": [{"name": "jobs", "jobs": round(market.jobs * market.months),
                                         "hours": market.hours}]}  # fmt: skip
    of_class = {"name": "jobs", "model": "vgg16", "devices_per_job": 1, "source": "this test"}
    jobs = [of_class | {"samples": samples, "per_month": market.jobs, "growth_per_month": market.growth}]
    lab = {"kind": "monthly", "months": market.months, "jobs": jobs, "have": list(market.have)}
    lab |= {"at_most_up_front": market.allowed} if market.allowed else {}
    job = {"kind": "training", "model": "vgg16", "samples": samples}
    costs, _ = priced(listed, cells, known, job=job)
    if kind in (None, DISPATCH):  # as `load_workloads` has one job of a class
        costs = pd.concat([costs, costs.assign(workload="lab.jobs")], ignore_index=True)
    nothing = pd.DataFrame()
    found = pd.DataFrame(cells).assign(runs=0, warnings=None, nodes=None)
    tables = Inputs(
        costs, offers(listed, known).reset_index(), found, found.iloc[:0].assign(headline=True), nothing, nothing,
        planned(listed, cells, known, work=plan) if kind in (None, ROUNDS) else nothing, nothing
    )  # fmt: skip
    settings = Settings.of(study(reference=market.box))
    options = build_options(costs, tables.offers, found, tables.extrapolation, settings)
    return Priced(tables, settings, options, simulate(options, settings.seed, draws), works_of({"lab": lab}))


def best(market: Market, kind: str) -> str:
    """The alternative that is the best, by what is priced: what is bought, else who is rented."""
    made = price(market, kind=kind)
    if kind == SHARE:
        return str(made.options.sort_values("images_per_usd", kind="stable")["option"].iloc[-1])
    if kind == ROUNDS:
        return str(made.rounds().table["option"].iloc[0])
    mix = made.posed().mixes[0]
    return " + ".join(mix.bought) or mix.done.lead


def named(question: DecisionProblem, turn: TurningPoint) -> str:
    """What the best turns to, as `best` has it."""
    name = str(question.choices[turn.to].option)
    alternatives = {None, *(one.alternative for one in question.choices)}
    return name if turn.alternative in alternatives else str(turn.alternative)
