"""The tables that a report is made of: read, queried for what the page needs, converted, written as files."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweetspot.files import read_arrow, write_arrow
from sweetspot.report import pa, pd
from sweetspot.report.csv_files import write_csv
from sweetspot.titles import unit_in_words
from sweetspot.wording import DISPATCH, ROUNDS, SHARE, Money, Words, words_of

if TYPE_CHECKING:
    from sweetspot.study.study import Study  # its models take longer to import than a step of these tables

BY_PRICE_LIST = ("costs", "offers", "bills", "price_lint")
DOLLAR = re.compile(r"\bUSD\b")
# Columns of tables whose `unit` says row by row in what they are counted.
BY_UNIT = {
    "tornado": ("value", "low", "high", "flip_value"),
    "worth_knowing": ("value", "turning_point"),
    "turning_points": ("value", "turning_value"),
}
AS_PRINTED = ("claims", "price_changes")  # in the currency of the text that is checked, or of the price lists
Tables = dict[str, "pd.DataFrame"]
Files = Mapping[str, Sequence[str | Path]]


def read_tables(files: Files) -> Tables:
    """Return result tables as {name: DataFrame}, read from files; those with a file per price list are concatenated.
    `files`: paths by table name, or by a name of a rule's input, whose files then have the tables' names.
    """
    return {name: _read(paths).to_pandas(use_threads=False) for name, paths in _by_table(files).items()}


def write_tables(files: Files, folder: Path) -> None:
    """Write every result table (`files`: paths by its name) to `folder` as <name>.parquet and <name>.csv."""
    for name, paths in _by_table(files).items():
        content = _read(paths)
        write_arrow(content, folder / f"{name}.parquet", lasting=False)  # a copy that no step reads
        write_csv(content, folder / f"{name}.csv")


def table_of(tables: Tables, name: str, *columns: str) -> "pd.DataFrame":
    """Return the table called `name`, or an empty one, with all of `columns` (NaN if it lacks one), to read safely."""
    table = tables.get(name, pd.DataFrame())
    lacking = [column for column in columns if column not in table.columns]
    return table.reindex(columns=[*table.columns, *lacking]) if lacking else table


def of_plans(tables: Tables, name: str) -> "pd.DataFrame":
    """Return the rows of table `name` (an analysis) about whole plans, whose `model` is missing."""
    table = table_of(tables, name, "model")
    return table[table["model"].isna()]


def of_jobs(tables: Tables, name: str) -> "pd.DataFrame":
    """Return the rows of table `name` (an analysis) about one job of a model, whose `model` is stated."""
    table = table_of(tables, name, "model")
    return table[table["model"].notna()]


def asked_model(tables: Tables) -> str:
    """Return the key of the model (network) that the answer's workload trains, the first of several; or ''. Charts and
    sentences on single jobs are about this model.
    """
    verdict = table_of(tables, "verdict")
    if verdict.empty:
        return ""
    name = str(verdict["workload"].iloc[0])
    choices, options = (table_of(tables, table, "workload", "model") for table in ("choices", "options"))
    is_section = options["workload"].astype(str).str.startswith(f"{name}.")
    models = (
        choices.loc[choices["workload"] == name, "model"].dropna(),
        options.loc[is_section, "model"],
        options["model"],
    )
    return next(map(str, chain(*models)), "")


def judged_option(tables: Tables, model: str) -> str:
    """Return the option (a key) of a model that the page compares others with and draws in black; '' without any. It is
    the reference, else the cheapest persistent one or the cheapest in the answer.
    """
    for table, name in (("options", "is_reference"), ("ranks", "persistent"), ("ranks", "in_answer")):
        rows = table_of(tables, table, "model", name)
        rows = rows[(rows["model"] == model) & rows[name].eq(True)]
        if len(rows):
            return str(rows.sort_values("usd", kind="stable")["option"].iloc[0])
    return ""


def bills_decide(tables: Tables) -> bool:
    """Return whether options of some model are ranked by their bills (whole hours, fees), not by a figure per USD."""
    return bool(table_of(tables, "ranks", "by_bills")["by_bills"].eq(True).any())


def energy_columns(tables: Tables) -> list[str]:
    """Return which of the columns `kwh` and `kg_co2e` of `ranks` have a number, and so a column on the page."""
    return [name for name in ("kwh", "kg_co2e") if table_of(tables, "ranks", name)[name].notna().any()]


def hours_differ(tables: Tables) -> bool:
    """Return whether `hours` in table `ranks` differ by over 0.1 % within a workload, so that time is worth a chart.
    True if nothing is ranked.
    """
    ranks = table_of(tables, "ranks", "workload", "hours")
    hours = ranks.groupby("workload")["hours"]
    return ranks.empty or bool((hours.max() > 1.001 * hours.min()).any())


def leading(tables: Tables) -> str | None:
    """Return how the study's leading plan is priced (column `cost`): DISPATCH (monthly jobs on a mix of machines), else
    ROUNDS (phases on whole machines); None without a plan. The page chooses its wording by it.
    """
    costs = set(table_of(tables, "choices", "cost")["cost"])
    return next((cost for cost in (DISPATCH, ROUNDS) if cost in costs), None)


def counted_in(tables: Tables) -> Words:
    """Return the words for what a study's bills pay for (a training, a run, a month) and its currency, for sentences.
    From the table `verdict`; without one, the words for trainings in USD.
    """
    verdict = table_of(tables, "verdict", "counts", "currency", "usd_per_unit")
    for row in verdict.head(1).dropna(subset="counts").itertuples():
        return words_of(str(row.counts), Money(str(row.currency), float(row.usd_per_unit)))
    return words_of("train")


def titles_of(tables: Tables) -> dict[str, str]:
    """Return {option: name for people} from the table `ranks`."""
    ranks = table_of(tables, "ranks", "option", "title")
    return dict(zip(ranks["option"], ranks["title"], strict=True))


def works(tables: Tables) -> dict[str, str]:
    """Return {workload or plan: title} from the tables `options` and `choices`, for headings; untitled are left out."""
    names: dict[str, str] = {}
    for name in ("options", "choices"):
        table = table_of(tables, name, "workload", "workload_title", "cost")
        titled = table.loc[table["cost"] != SHARE, ["workload", "workload_title"]].dropna()
        names |= dict(titled.itertuples(index=False, name=None))
    return names


def unit_of(tables: Tables) -> str:
    """Return in words what the study's speeds count, such as `images` (`unit_in_words`)."""
    return unit_in_words(set(table_of(tables, "throughput", "unit")["unit"].dropna()))


def _by_table(files: Files) -> dict[str, list[Path]]:
    """Return {table name: its files}, sorted by name, from the files of a rule's inputs. Only tables in BY_PRICE_LIST
    have several files, one per price list.
    """
    by_table: dict[str, list[Path]] = {}
    for name, paths in files.items():
        for path in map(Path, paths):
            if name in BY_PRICE_LIST:
                by_table.setdefault(name, []).append(path)
            else:
                by_table[path.stem] = [path]
    return dict(sorted(by_table.items()))


@lru_cache(maxsize=256)
def _read_once(path: Path, changed: int, size: int) -> "pa.Table":
    """Return the Arrow table in a file, cached by path, time of change and size: rules in one process share tables."""
    return read_arrow(path)


def _read(paths: Sequence[Path]) -> "pa.Table":
    """Return the files of one table as one Arrow table, their rows in the order of the files."""
    tables = [_read_once(path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
    # Empty tables carry no types; leaving them out keeps those of the others.
    return pa.concat_tables([table for table in tables if len(table)] or tables, promote_options="permissive")


def money_of(study: "Study") -> Money:
    """Return the currency in which the study shows money, with its rate; USD if it states none."""
    return Money() if study.currency is None else Money(study.currency.code, study.currency.usd_per_unit)


def in_words(text: str, money: Money) -> str:
    """Return `text` with the code of the currency `money` in place of USD."""
    return DOLLAR.sub(money.code, text)


def shown_in(tables: Tables, money: Money) -> Tables:
    """Return `tables` (by name) with all USD converted to the currency `money`, for the page; figures per USD
    inversely. Converted are columns with `usd` as a word of their name; tables in BY_UNIT state the unit in each row.
    """
    if money == Money():
        return tables
    return {
        name: table if name in AS_PRINTED else _converted(table, BY_UNIT.get(name, ()), money)
        for name, table in tables.items()
    }


def _converted(table: "pd.DataFrame", columns_by_unit: Sequence[str], money: Money) -> "pd.DataFrame":
    """Return a table in the currency `money`, as the page shows it: its `usd` columns converted. `columns_by_unit`:
    further columns, which are converted where the row's `unit` has USD.
    """
    rate = money.usd_per_unit
    changed: dict[str, Any] = {
        name: table[name] * rate if name.startswith("images_per_usd") else table[name] / rate
        for name in table.select_dtypes("number").columns
        if "usd" in name.split("_") and name != "usd_per_unit"
    }
    if columns_by_unit and "unit" in table.columns:
        row_rates = table["unit"].astype(str).str.contains(DOLLAR).map({True: rate, False: 1.0})
        changed |= {name: table[name] / row_rates for name in columns_by_unit if name in table.columns}
        changed["unit"] = table["unit"].str.replace(DOLLAR, money.code, regex=True)
    return table.assign(**changed)
