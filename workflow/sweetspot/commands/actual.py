"""Hold the plan of a study against what was paid and used: by month, what explains it, whether the answer stays.

FILE is a bill in FOCUS 1.0 to 1.4 (CSV, gzip, Parquet), or with --format a record of jobs, which is priced as planned;
--jobs gives such a record beside the bill, and then the difference falls into price, speed, number of jobs and waiting.
A machine is found in the bill by its name in the study or in price catalogues, or by --resource. Money is
EffectiveCost without taxes. Machines that you own are in no bill: they count as planned. Reads results/STUDY/; writes
text, results/STUDY/actual.html, and nothing of the bill but sums.

    sweetspot actual start-up-2026 bill.csv --resource "NVIDIA RTX PRO 6000*=nebius-1xpro6000"
    sweetspot actual start-up-2026 bill.parquet --jobs sacct.txt --zone Europe/Berlin --rate EUR=1.14 --json
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.commands.diff import unpriced
from sweetspot.commands.json_values import without_nan
from sweetspot.errors import UserError
from sweetspot.files import read_parquet, write_whole
from sweetspot.matrix.invocation import instance_files, price_list_names
from sweetspot.report.decided_anew import scenario_table
from sweetspot.report.draw import LOOK
from sweetspot.report.lines import CHART_HEIGHT, CHART_WIDTH
from sweetspot.report.tables import money_of
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study
from sweetspot.study.workloads import Plan, load_monthly, load_workloads
from sweetspot.use.compared import NOW, SAME, SAYS, Compared, compared, known_now
from sweetspot.use.focus import machines_of, read_focus
from sweetspot.use.month_sums import job_months
from sweetspot.use.plan_months import PlanMonths, read_plan
from sweetspot.use.read_use import FOCUS, JOBS, of_bill, read_use
from sweetspot.wording import Money, money

MOST_RATE = 1e6
WITHIN, OUTSIDE = "paid, within the plan's 90 %", "paid, outside of it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot actual`."""
    add = parser.add_argument
    add("study", metavar="STUDY", help="a study with results")
    add("file", type=Path, metavar="FILE", help="the bill, or the record of jobs; - for a pipe")
    add("--format", choices=[FOCUS, *JOBS], default=FOCUS, help=f"what FILE is ({FOCUS})")
    add("--jobs", type=Path, metavar="RECORD", help="a record of jobs beside the bill")
    add("--jobs-format", choices=[*JOBS], default="sacct", help="what RECORD is (sacct)")
    add("--zone", default="UTC", help="whose clock times without an offset show in a record of jobs (UTC)")
    add("--resource", action="append", default=[], metavar="PATTERN=INSTANCE", help="what a charge is for; repeated")
    add("--rate", action="append", default=[], metavar="EUR=USD", help="USD for one unit of a currency of the bill")
    add("--json", action="store_true", help="print one JSON object instead of text")
    add("--config", type=Path, default=Path("config"), help="the project's config folder (config)")
    add("--results", type=Path, default=Path("results"), help="the folder of its results (results)")


def run(arguments: argparse.Namespace) -> None:
    """Print the comparison; write the chart. Raises UserError."""
    name, folder = arguments.study, arguments.config / "studies" / arguments.study
    study = load_study(folder)
    shown = money_of(study)
    plan = read_plan(arguments.results / name, name)
    found = compared(plan, _bill(arguments, shown), _used(arguments), _jobs_a_month(folder / "workloads.yaml", plan))
    now = _answer_now(found, name, arguments.config, arguments.results / name)
    page = arguments.results / name / "actual.html"
    told = "\n".join(_told(found, plan, now, shown))
    write_page(found.months, told, f"{name}: the plan and what was paid", shown, page)
    if arguments.json:
        sys.stdout.write(json.dumps(_json(found, plan, now, page), indent=2, allow_nan=False) + "\n")
    else:
        sys.stdout.write(f"{told}\nChart: {page}\n")


def _bill(arguments: argparse.Namespace, shown: Money) -> pd.DataFrame | None:
    if arguments.format != FOCUS:
        if arguments.jobs is not None:
            raise UserError(f"--jobs stands beside a bill; FILE is {arguments.format}, expected --format {FOCUS}")
        return None
    instances = load_instances(*instance_files(arguments.config, arguments.study))
    machines = machines_of(instances, arguments.resource)
    bill = of_bill(arguments.file, lambda file: read_focus(file, machines))
    if not (bill["machine"] != "").any():
        raise UserError(
            f"{arguments.file}: no charge names a machine of the study; expected one, or --resource PATTERN=INSTANCE"
        )
    rates = {"USD": 1.0, shown.code: shown.usd_per_unit} | dict(map(_rate, arguments.rate))
    worth = bill["currency"].map(rates)
    if worth.isna().any():
        code = bill["currency"][worth.isna()].iloc[0]
        raise UserError(f"{arguments.file}: is in {code} too; expected --rate {code}=USD, what one is worth")
    return bill.assign(effective_cost=bill["effective_cost"] * worth, billed_cost=bill["billed_cost"] * worth)


def _rate(text: str) -> tuple[str, float]:
    code, _, worth = text.partition("=")
    try:
        usd = float(worth)
    except ValueError:
        usd = np.nan
    if not code.isalpha() or not 0 < usd < MOST_RATE:
        raise UserError(f"--rate is {text!r}; expected CURRENCY=USD, such as EUR=1.14")
    return code.upper(), usd


def _used(arguments: argparse.Namespace) -> pd.DataFrame | None:
    file, kind = arguments.jobs, arguments.jobs_format
    if arguments.format != FOCUS:
        file, kind = arguments.file, arguments.format
    return None if file is None else job_months(read_use(kind, file, arguments.zone), str(file))


def _jobs_a_month(workloads: Path, plan: PlanMonths) -> float | None:
    """Jobs in a mean month of the plan, as the study has them; None for work that is not of jobs."""
    monthly = load_monthly(workloads).get(plan.work)
    if monthly is not None:
        months = np.arange(int(np.ceil(monthly.months)))
        return float(
            sum(job.per_month.value * np.mean((1 + job.growth_per_month.value) ** months) for job in monthly.jobs)
        )
    work = load_workloads(workloads).get(plan.work)
    return sum(phase.jobs for phase in work.phases) / plan.months if isinstance(work, Plan) else None


def _answer_now(found: Compared, name: str, config: Path, results: Path) -> dict[str, Any]:
    """What the study would say with what is known now: `scenario_table`'s row. Raises UserError."""
    folder = config / "studies" / name
    lists = {each: folder / "prices" / f"{each}.yaml" for each in price_list_names(folder / "prices")}
    planned = {each: read_parquet(results / "comparison" / f"{each}.parquet") for each in ("verdict", "choices")}
    study = unpriced(name, config, results)
    with tempfile.TemporaryDirectory() as into:
        scenarios = {NOW: known_now(found, lists)}
        rows = scenario_table(scenarios, study, lists, planned, folder / "scenarios", Path(into))
    return {str(key): value for key, value in rows.iloc[-1].to_dict().items()}


def _told(found: Compared, plan: PlanMonths, now: Mapping[str, Any], shown: Money) -> list[str]:
    months, paid = found.months, found.months["usd"].mean()
    span = " to ".join(dict.fromkeys(f"{months['month'].iloc[place]:%Y-%m}" for place in (0, -1)))
    lines = [
        plan.title,
        f"Paid {_signed(paid, shown)} a month in {len(months)} months of {span}; the plan says "
        f"{_signed(plan.usd, shown)} ({_signed(plan.usd_low, shown, '')} to {_signed(plan.usd_high, shown, '')}).",
    ]  # fmt: skip
    if (assumed := months["as_planned_usd"].mean()) > 0:
        lines.append(f"Of it {_signed(assumed, shown)} as planned: no bill tells them.")
    lines += ["", *_table(months, shown), ""]
    if abs(found.difference) > SAME * abs(plan.usd):
        lines += [f"What explains {_signed(found.difference, shown)} a month:"]
        lines += [f"- {SAYS[cause]}: {_signed(usd, shown)}" for cause, usd in found.explained.items()]
    else:
        lines += ["Paid as planned: nothing to explain."]
    stays = "The answer stays" if now["same_answer"] else "With what is known now the answer is another"
    best = "" if now["same_answer"] or not isinstance(now["best_title"], str) else f" ({now['best_title']})"
    return [*lines, "", f"{stays}: {now['sentence']}{best}"]


def _table(months: pd.DataFrame, shown: Money) -> list[str]:
    """The months as lines of a Markdown table, whose columns stand below each other."""
    heads = ("month", f"paid, {shown.code}", "plan", "within 90 %", "device-hours", "plan", "jobs", "taxes",
             "credits", "other")  # fmt: skip
    rows: list[tuple[str, ...]] = [heads]
    for row in months.to_dict("records"):
        usd, planned, *beside = (_signed(row[f"{kind}usd"], shown, "")
                                 for kind in ("", "plan_", "tax_", "credit_", "other_"))  # fmt: skip
        hours = (f"{row['device_hours']:,.0f}", f"{row['plan_device_hours']:,.0f}")
        jobs = "" if np.isnan(row["jobs"]) else f"{row['jobs']:g}"
        rows.append((f"{row['month']:%Y-%m}", usd, planned, "yes" if row["within"] else "no", *hours, jobs, *beside))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"| {' | '.join(map(str.ljust, row, widths))} |" for row in rows]
    return [lines[0], f"|{'|'.join('-' * (width + 2) for width in widths)}|", *lines[1:]]


def _signed(usd: float, shown: Money, code: str | None = None) -> str:
    """An amount for people, with its sign where it is below zero; what rounds to nothing is 0."""
    amount = shown.of(usd)
    text = "0" if abs(amount) < 0.005 else f"{'-' if amount < 0 else ''}{money(abs(amount))}"
    return f"{text} {shown.code}" if code is None else text


def _json(found: Compared, plan: PlanMonths, now: Mapping[str, Any], page: Path) -> dict[str, Any]:
    months = found.months.assign(month=found.months["month"].dt.strftime("%Y-%m")).to_dict("records")
    content = {
        "plan": {"work": plan.work, "title": plan.title, "usd_per_month": plan.usd,
                 "usd_per_month_low": plan.usd_low, "usd_per_month_high": plan.usd_high},
        "months": months, "difference_usd_per_month": found.difference, "explained_usd_per_month": found.explained,
        "work_ratio": found.work_ratio,
        "price_ratios": {" ".join(offer): ratio for offer, ratio in found.price_ratios.items()},
        "answer_now": {"same_answer": bool(now["same_answer"]), "sentence": now["sentence"],
                       "best_title": now["best_title"], "usd_per_month": now["usd_per_month"],
                       "changes": list(now["changes"])},
        "chart": str(page),
    }  # fmt: skip
    plain: dict[str, Any] = without_nan(content)
    return plain


def write_page(months: pd.DataFrame, told: str, title: str, money: Money, file: Path) -> None:
    """Write the page: what is told, and a chart of the plan of each month with its 90 % and what was paid."""
    import altair as alt

    named = ("usd", "plan_usd", "plan_usd_low", "plan_usd_high")
    rows = pd.DataFrame({name: months[name] / money.usd_per_unit for name in named})
    rows["month"] = months["month"].dt.strftime("%Y-%m")
    rows["stands"] = months["within"].map({True: WITHIN, False: OUTSIDE})
    x = alt.X("month:O", title="month", axis=alt.Axis(labelAngle=0, labelOverlap="greedy"))
    tooltip = [alt.Tooltip("month:O"), *(alt.Tooltip(f"{name}:Q", format=",.4~g") for name in named)]
    base = alt.Chart(rows).encode(x=x, tooltip=tooltip)
    band = base.mark_bar(opacity=0.25, color="#4c78a8").encode(
        y=alt.Y("plan_usd_low:Q", title=f"{money.code} a month", scale=alt.Scale(zero=True)), y2="plan_usd_high:Q"
    )
    plan = base.mark_tick(color="#4c78a8", thickness=3).encode(y="plan_usd:Q")
    key = alt.Scale(domain=[WITHIN, OUTSIDE], range=["#222", "#c1272d"])
    colour = alt.Color("stands:N", title=None, scale=key, legend=alt.Legend(orient="bottom"))
    paid = base.mark_point(filled=True, size=70, opacity=1).encode(y="usd:Q", color=colour)
    heading = alt.TitleParams("The plan's mean month (band: 90 %) and what was paid, by month", anchor="start")
    chart = alt.layer(band, plan, paid, width=CHART_WIDTH, height=CHART_HEIGHT).properties(title=heading)
    with write_whole(file) as temporary:
        page = chart.configure(**LOOK).to_html(inline=True)
        head, body, rest = page.rpartition("<body>")  # the last: the program above names it too
        head = head.replace("<head>", f"<head><title>{escape(title)}</title>", 1)
        temporary.write_text(f"{head}{body}<pre>{escape(told)}</pre>{rest}", encoding="utf-8")
