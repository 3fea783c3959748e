"""A report made of the small tables of decision_tables, and a browser to look at it with."""

import atexit
import functools
import shutil
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
import yaml
from decision_tables import inputs, settings, study
from sweetspot.decision.compare import compare
from sweetspot.report import draw_figures, write_report

FIGURES = ("images_per_usd", "time_cost", "utilisation", "throughput")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def small_tables(given=None) -> dict[str, pd.DataFrame]:
    """All tables of a study with one box and one rented machine, on demand and as spot."""
    given = given or inputs()
    tables = compare(given, settings())
    tables |= {name: getattr(given, name) for name in ("throughput", "extrapolation", "efficiency", "costs", "offers")}
    tables["claims"] = pd.DataFrame()
    tables["bills"] = tables["cash_flow"] = pd.DataFrame()
    tables["throughput"] = tables["throughput"].assign(unit="images", as_of="2018-07-01")
    tables["extrapolation"] = tables["extrapolation"].assign(efficiency=0.83)
    return tables


def write_study(folder: Path, **changes) -> Path:
    """study.yaml of the small study in `folder`/paper."""
    file = folder / "paper" / "study.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    values = study(**changes).model_dump(mode="json", exclude_none=True)
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    return file


def make_report(folder: Path, tables=None, figures=FIGURES, **changes) -> Path:
    """Write the report of `tables` (default: the small ones) and return its folder."""
    tables, file = tables or small_tables(), write_study(folder, **changes)
    drawn = [folder / "report" / "figures" / f"{name}.svg" for name in figures]
    draw_figures(tables, file, drawn)
    write_report(tables, file, folder / "report", drawn)
    return folder / "report"


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
def opened(page: Path, width: int = 1280, javascript: bool = True):
    """The page in a browser without memory, and a list that collects what it says and what it asks of the network."""
    viewport = {"width": width, "height": 900}
    with browser().new_context(viewport=viewport, java_script_enabled=javascript) as context:
        tab, noise = context.new_page(), []
        tab.on("console", lambda message: noise.append(message.text))
        tab.on("pageerror", lambda error: noise.append(str(error)))
        tab.on(
            "request", lambda asked: noise.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None
        )
        tab.goto(page.as_uri())
        yield tab, noise
