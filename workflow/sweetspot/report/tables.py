"""The tables a report is made of: read, asked for what the page needs, in the study's currency, written for all."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweetspot.files import read_arrow, write_arrow, write_csv
from sweetspot.report import pa, pd
from sweetspot.titles import unit_in_words
from sweetspot.wording import DISPATCH, ROUNDS, SHARE, Money, Words, words_of

if TYPE_CHECKING:
    from sweetspot.study.study import Study  # its models take longer to import than a step of these tables

# Names for people of the ways to tell the speed of several devices from one; scaling/methods.py says what each does.
METHOD_NAMES = {
    "mean_efficiency": "mean efficiency (2018)", "usl": "universal scaling law",
    "sum_of_parts": "sum of parts (learned)",
}  # fmt: skip
BY_PRICE_LIST = ("costs", "offers", "bills", "cash_flow", "price_lint")
Tables = dict[str, "pd.DataFrame"]
Files = Mapping[str, Sequence[str | Path]]


def read_tables(files: Files) -> Tables:
    """Read the tables by name; those of one file a price list are put together under one name."""
    return {name: _read(paths).to_pandas(use_threads=False) for name, paths in _by_table(files).items()}


def write_tables(files: Files, folder: Path) -> None:
    """Write every table whole as Parquet and CSV; lists are text in the CSV."""
    for name, paths in _by_table(files).items():
        content = _read(paths)
        write_arrow(content, folder / f"{name}.parquet", lasting=False)  # a copy that no step reads
        write_csv(content, folder / f"{name}.csv")


def table_of(tables: Tables, name: str) -> "pd.DataFrame":
    """The table of that name; empty where the study lacks it."""
    return tables.get(name, pd.DataFrame())


def of_plans(tables: Tables, name: str) -> "pd.DataFrame":
    """The rows of a table of the analyses that are of plans."""
    table = table_of(tables, name)
    return table[table["model"].isna()] if len(table) else table


def of_jobs(tables: Tables, name: str) -> "pd.DataFrame":
    """The rows of a table of the analyses that are of one job of a model."""
    table = table_of(tables, name)
    return table[table["model"].notna()] if len(table) else table


def asked_model(tables: Tables) -> str:
    """The model that the answer is about: of a work of several that of its first part; empty without an answer."""
    verdict, options, choices = (table_of(tables, name) for name in ("verdict", "options", "choices"))
    if verdict.empty:
        return ""
    name = str(verdict["workload"].iloc[0])
    parts = options[options["workload"].str.startswith(f"{name}.")] if len(options) else options
    known = [*choices.loc[choices["workload"] == name, "model"].dropna(), *parts.get("model", ()),
             *options.get("model", ())]  # fmt: skip
    return str(known[0]) if known else ""


def judged_option(tables: Tables, model: str) -> str:
    """The option of a model that the study judges: its reference, else the cheapest that stays; empty without any."""
    options, ranks = table_of(tables, "options"), table_of(tables, "ranks")
    if not model:
        return ""
    for table, name in ((options, "is_reference"), (ranks, "persistent"), (ranks, "in_answer")):
        rows = table[(table["model"] == model) & table[name].astype(bool)] if name in table.columns else table.head(0)
        if len(rows):
            return str(rows.sort_values("usd", kind="stable")["option"].iloc[0])
    return ""


def bills_decide(tables: Tables) -> bool:
    """Whether bills rank the options of some model, which no figure per USD then does."""
    ranks = table_of(tables, "ranks")
    return bool("by_bills" in ranks.columns and ranks["by_bills"].any())


def energy_columns(tables: Tables) -> list[str]:
    """Which of `kwh` and `kg_co2e` any option has."""
    ranks = table_of(tables, "ranks")
    return [name for name in ("kwh", "kg_co2e") if name in ranks.columns and ranks[name].notna().any()]


def hours_differ(tables: Tables) -> bool:
    """Whether time tells the options of a workload apart."""
    ranks = table_of(tables, "ranks")
    if ranks.empty:
        return True
    hours = ranks.groupby("workload")["hours"]
    return bool((hours.max() > 1.001 * hours.min()).any())


def leading(tables: Tables) -> str | None:
    """The cost of the plan that leads: dispatch where there is work of months, else rounds; None without any plan."""
    costs = set(table_of(tables, "choices").get("cost", ()))
    return next((cost for cost in (DISPATCH, ROUNDS) if cost in costs), None)


def method_name(method: object) -> str:
    """The name for people of a method."""
    return METHOD_NAMES.get(str(method), str(method).replace("_", " "))


def counted_in(tables: Tables) -> Words:
    """The words of this study; those of a training where there is no answer."""
    verdict = table_of(tables, "verdict")
    if verdict.empty or "counts" not in verdict.columns:
        return words_of("train")
    first = verdict.iloc[0]
    return words_of(str(first["counts"]), Money(str(first["currency"]), float(first["usd_per_unit"])))


def titles_of(tables: Tables) -> dict[str, str]:
    """Names for people by option."""
    ranks = table_of(tables, "ranks")
    return dict(zip(ranks["option"], ranks["title"], strict=True)) if len(ranks) else {}


def works(tables: Tables) -> dict[str, str]:
    """Names for people of workloads, plans among them; none in tables of before they had some."""
    named: dict[str, str] = {}
    choices, columns = table_of(tables, "choices"), ["workload", "workload_title"]
    plans = choices[choices["cost"] != SHARE] if len(choices) else choices
    for table in (table_of(tables, "options"), plans):
        if columns[1] in table.columns:
            named |= dict(table[columns].dropna().drop_duplicates().itertuples(index=False, name=None))
    return named


def unit_of(tables: Tables) -> str:
    """What this study's speeds count (`unit_in_words`)."""
    rows = table_of(tables, "throughput")
    return unit_in_words(set(rows["unit"].dropna()) if "unit" in rows.columns else set())


def _by_table(files: Files) -> dict[str, list[Path]]:
    """Files by the table's name, in the order of the names. A table that two rules' outputs name is one file."""
    found: dict[str, list[Path]] = {}
    for name, paths in files.items():
        if name in BY_PRICE_LIST:
            found[name] = [Path(path) for path in paths]
        else:
            found |= {Path(path).stem: [Path(path)] for path in paths}
    return dict(sorted(found.items()))


@lru_cache(maxsize=256)
def _read_once(path: Path, changed: int, size: int) -> "pa.Table":
    """The table of a file as it is now: three rules read the same in one process."""
    return read_arrow(path)


def _read(paths: Sequence[Path]) -> "pa.Table":
    tables = [_read_once(path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
    # Empty tables carry no types; leaving them out keeps those of the others.
    return pa.concat_tables([table for table in tables if len(table)] or tables, promote_options="permissive")


DOLLAR = re.compile(r"\bUSD\b")
PER_USD = "images_per_usd"
# Tables whose `unit` says in what the columns named here are counted, row by row.
BY_UNIT = {
    "tornado": ("value", "low", "high", "flip_value"),
    "worth_knowing": ("value", "turning_point"),
    "turning_points": ("value", "turning_value"),
}
# In the currency of the text that is checked, or of the price lists of two days.
AS_PRINTED = ("claims", "price_changes")


def money_of(study: "Study") -> Money:
    """What the study shows money in."""
    return Money() if study.currency is None else Money(study.currency.code, study.currency.usd_per_unit)


def shown_in(tables: "Tables", money: Money) -> "Tables":
    """`tables` for people: every column of USD divided by the rate, images per USD times it; units say the currency.

    A column of USD has `usd` among the words of its name. Sentences were made in the currency when they were made.
    """
    if money == Money():
        return tables
    return {
        name: table if name in AS_PRINTED else _by_unit(name, _converted(table, money), money)
        for name, table in tables.items()
    }


def in_words(text: str, money: Money) -> str:
    """A label with the currency's code where it says USD."""
    return DOLLAR.sub(money.code, text)


def everywhere(value: Any, money: Money) -> Any:
    """The strings of a specification (dicts, lists, texts) with the currency's code; keys stay."""
    if money == Money():
        return value
    if isinstance(value, dict):
        return {key: everywhere(entry, money) for key, entry in value.items()}
    if isinstance(value, list):
        return [everywhere(entry, money) for entry in value]
    return in_words(value, money) if isinstance(value, str) else value


def _converted(table: "pd.DataFrame", money: Money) -> "pd.DataFrame":
    changed = {}
    for name in table.columns:
        words = str(name).split("_")
        if "usd" in words and name != "usd_per_unit" and table[name].dtype.kind in "fiu":
            rate = 1 / money.usd_per_unit if str(name).startswith(PER_USD) else money.usd_per_unit
            changed[name] = table[name] / rate
    return table.assign(**changed)


def _by_unit(name: str, table: "pd.DataFrame", money: Money) -> "pd.DataFrame":
    columns = [column for column in BY_UNIT.get(name, ()) if column in table.columns]
    if not columns or "unit" not in table.columns:
        return table
    paid = table["unit"].astype(str).str.contains(DOLLAR)
    rate = paid.map({True: money.usd_per_unit, False: 1.0})
    changed: dict[str, Any] = {column: table[column] / rate for column in columns}
    return table.assign(**changed, unit=table["unit"].map(lambda unit: in_words(unit, money), na_action="ignore"))
