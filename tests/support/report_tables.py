"""A report made of the small tables of decision_tables, and a browser to look at it with."""

import atexit
import functools
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest
import vl_convert
import yaml
from decision_tables import inputs, settings, study
from phase_plans import ANALYSES, beside
from project_copy import ROOT, environment
from sweetspot.choice_kinds import MIX, RENT
from sweetspot.decision.compare import compare
from sweetspot.decision.verdict import choice_table, verdict_table
from sweetspot.declared_tables import columns_of
from sweetspot.report.charts import CHARTS
from sweetspot.report.draw import chart_of, draw_figures, vega_lite
from sweetspot.report.evidence_page import render_evidence
from sweetspot.report.page import write_report
from sweetspot.report.tables import BY_PRICE_LIST, read_tables, write_tables
from works import work

CLAIM = {
    "id": "total", "kind": "bill", "text": "The task costs 0.76 USD a month", "printed": 0.76, "computed": 0.760008,
    "computed_low": 0.76, "computed_high": 0.76, "unit": "USD/month", "verdict": "holds", "reason": "It adds up",
    "source": "paper", "rests_on": "", "detail": None, "lead": True
}  # fmt: skip
FIGURES = ("front", "throughput")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def small_tables(given=None, **changes) -> dict[str, pd.DataFrame]:
    """All tables of a study with one box and one rented machine, on demand and as spot; `changes` of its settings.

    The work of months is laid over it.
    """
    return beside(_compared(given, **changes), month_tables())


def one_job(given=None, **changes) -> dict[str, pd.DataFrame]:
    """The same study without a plan."""
    plans = {*month_tables()} - {"choices", "verdict", *ANALYSES}
    return {name: table for name, table in _compared(given, **changes).items() if name not in plans}


def _compared(given=None, **changes) -> dict[str, pd.DataFrame]:
    """The tables of that study without a plan's."""
    if given is None and not changes:
        return {name: table.copy() for name, table in _as_it_is().items()}
    return _made(given or inputs(), **changes)


@functools.cache
def _as_it_is() -> dict[str, pd.DataFrame]:
    return _made(inputs())


def _made(given, **changes) -> dict[str, pd.DataFrame]:
    tables = compare(given, replace(settings(), **changes))
    tables |= {name: getattr(given, name) for name in ("throughput", "extrapolation", "efficiency", "costs", "offers")}
    tables["claims"] = pd.DataFrame()
    tables["bills"] = pd.DataFrame()
    tables["throughput"] = tables["throughput"].assign(unit="images", as_of="2018-07-01")
    tables["extrapolation"] = tables["extrapolation"].assign(efficiency=0.83)
    own = tables["offers"]["purchase"] == "own"
    # The office hour without resale and maintenance: 6500 USD / 30 months, and 1.0 kW x 1.0 x 0.20 USD/kWh.
    tables["offers"] = tables["offers"].assign(
        fixed_usd_per_month=own.map({True: 6500 / 30, False: 0.0}),
        variable_usd_per_hour=tables["offers"]["usd_per_hour"].where(~own, 0.20),
    )
    return tables


def month_tables() -> dict[str, pd.DataFrame]:
    """The tables of a workload of months: one machine is there, one is bought, the peak is rented."""
    named = (("own-1", "RTX 4090", "there", 600.0), ("box", "office box", "bought", 300.0),
             ("c", "RunPod", "rented", 100.0))  # fmt: skip
    sources = [
        {"workload": "lab", "mix": "best", "option": option, "title": title, "kind": kind, "device_hours": done,
         "machines": 1.0, "capacity_device_hours": None if kind == "rented" else 2 * done}
        for option, title, kind, done in named
    ]  # fmt: skip
    due = dict.fromkeys(columns_of("deadlines")) | {
        "workload": "lab", "class": "runs", "within_hours": 24.0, "option": "c", "title": "RunPod", "hours": 12.7,
        "usd": 38.0, "p_in_time": 1.0, "wait_hours": 0.0
    }  # fmt: skip
    made = {"sources": sources, "deadlines": [due]}
    return {name: pd.DataFrame(rows) for name, rows in made.items()} | plan_tables() | lab_verdict()


def lab_verdict() -> dict[str, pd.DataFrame]:
    """The verdict on that workload: the mix costs 27,000 USD in 9 draws of 10 less than renting at 30,000."""
    box = {"capex_usd": 9000.0, "usd_per_capex": 1.0, "box_title": "office box"}
    box |= {"title": "1 × office box, the rest on RunPod"}
    rent = {"title": "RunPod beside your RTX 4090", "main_rented": "c"}
    mix = [27_000.0] * 9 + [31_000.0]
    lab = work(
        ("best", MIX, mix, box), ("cloud", RENT, [30_000.0] * 10, rent), name="lab", months=30.0, cost="dispatch"
    )
    learn = {"lab": "price of RunPod"}
    return {
        "choices": choice_table([lab], ()),
        "verdict": verdict_table([lab], "lab", plan_tables()["break_even"], learn),
    }


def plan_tables() -> dict[str, pd.DataFrame]:
    """What that plan hangs on: a rent that turns it, and the price of the box, which does not."""
    about = {"workload": "lab", "model": None, "assumption": "price of RunPod", "quantity": "usd_per_hour",
             "subject": "c", "unit": "USD/hour", "value": 0.7}  # fmt: skip
    ends = {"low": 0.56, "high": 0.84, "margin": 10 / 9, "margin_low": 0.9, "margin_high": 1.3,
            "range_basis": "assumed"}  # fmt: skip
    other = about | ends | {"assumption": "price of the office box", "quantity": "capex_usd", "unit": "USD",
                            "value": 9000.0, "margin_low": 1.2, "margin_high": 1.05, "low": 8000.0,
                            "high": 10_000.0}  # fmt: skip
    to = "nothing bought, RunPod beside your RTX 4090"
    points = [
        about | {"side": "below", "turning_value": 0.63, "factor": 0.9, "to_title": to},
        about | {"assumption": "runs a month", "unit": "jobs/month", "value": 60.0, "side": "below",
                 "turning_value": 51.0, "factor": 0.85, "to_title": to}
    ]  # fmt: skip
    pays = {"workload": "lab", "model": None, "title": "office box", "reference": "box", "quantity": "device_hours",
            "assumption": "the work of a month", "unit": "device-hours/month", "planned": 1000.0,
            "break_even_value": 850.0,
            "break_even_low": 700.0, "break_even_high": 1100.0, "p_pays": 0.8, "factor": 0.85,
            "pays_until": float("nan")}  # fmt: skip
    months = pays | {"quantity": "months", "assumption": "months that the purchase of the office box is spread over",
                     "unit": "months", "planned": 30.0, "break_even_value": 24.0}  # fmt: skip
    worth = about | {"figure": "price of RunPod", "title": "RunPod", "evppi_usd": 400.0, "evppi_usd_low": 300.0,
                     "evppi_usd_high": 500.0, "cost_to_learn_usd": None,
                     "learn_on_title": None, "turning_point": 0.63}  # fmt: skip
    made = {"tornado": [about | ends, other], "turning_points": points, "break_even": [pays, months],
            "worth_knowing": [worth]}  # fmt: skip
    return {name: pd.DataFrame(rows) for name, rows in made.items()}


def write_study(folder: Path, **changes) -> Path:
    """study.yaml of the small study in `folder`/paper."""
    file = folder / "paper" / "study.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    values = study(**changes).model_dump(mode="json", exclude_none=True)
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    return file


def files_of(tables, folder: Path) -> dict[str, list[Path]]:
    """Each table as a Parquet file in `folder`, by the names that the report's rules give them."""
    files = {name: [folder / f"{name}.parquet"] for name in tables}
    folder.mkdir(parents=True, exist_ok=True)
    for name, paths in files.items():
        tables[name].to_parquet(paths[0], index=False)
    return {name: files.pop(name) for name in BY_PRICE_LIST if name in files} | {"others": [*chain(*files.values())]}


def make_report(folder: Path, tables=None, figures=(), **changes) -> Path:
    """Write the report of `tables` (default: the small ones) and return its folder.

    Of the charts only `figures` are specified, the others are empty. Only a page with all of them can draw them: the
    script that does takes more than a second to put together.
    """
    files, study_file = files_of(tables or small_tables(), folder / "made"), write_study(folder, **changes)
    report = folder / "report"
    specs = [report / "figures" / f"{name}.vl.json" for name in CHARTS]
    real = [file for file in specs if chart_of(file) in figures]
    engine = report / "figures" / "vega.txt" if set(figures) == set(CHARTS) else None
    if real:
        words = [report / "captions" / f"{name}.rst" for name in figures]
        draw_figures(files, study_file, real, words, engine=engine)
    for file in set(specs) - set(real):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
    write_tables(files, report / "tables")
    write_report(read_tables(files), study_file, report, specs, engine=engine)
    return report


def evidence(tables=None, machines=None, **changes) -> str:
    """The page of evidence of `tables` (default: the small ones), its charts empty; `changes` of the study."""
    specs = dict.fromkeys(CHARTS, "{}")
    return render_evidence(small_tables() if tables is None else tables, study(**changes), specs, machines=machines)


def pictures(specs) -> dict[str, str]:
    """Specifications by name as SVG."""
    return {name: vl_convert.vegalite_to_svg(spec, vl_version=vega_lite()) for name, spec in specs.items()}


def draw_pictures(report: Path, figures=FIGURES) -> None:
    """The figures as SVG and PNG, by the script of their rule."""
    files = [str(report / "figures" / f"{name}.vl.json") for name in figures]
    script = ROOT / "workflow" / "scripts" / "draw_pictures.py"
    subprocess.run([sys.executable, script, *files], check=True, env=environment(ROOT))


@functools.cache
def browser():
    """One headless Chromium for all tests of this process; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    driver = sync_playwright().start()
    atexit.register(driver.stop)
    return driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


@contextmanager
def opened(page: Path, width: int = 1280, javascript: bool = True, scheme: str = "light"):
    """The page in a browser without memory, and a list that collects what it says and what it asks of the network.

    scheme: `light` or `dark`, as the reader prefers pages.
    """
    viewport = {"width": width, "height": 900}
    with browser().new_context(viewport=viewport, java_script_enabled=javascript, color_scheme=scheme) as context:
        tab, noise = context.new_page(), []
        tab.on("console", lambda message: noise.append(message.text))
        tab.on("pageerror", lambda error: noise.append(str(error)))
        tab.on(
            "request", lambda asked: noise.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None
        )
        tab.goto(page.as_uri())
        yield tab, noise
