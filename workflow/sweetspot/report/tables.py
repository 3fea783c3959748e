"""The tables a report is made of, read and written."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from sweetspot.files import read_parquet, write_parquet

BY_PRICE_LIST = ("costs", "offers", "bills", "cash_flow", "price_lint")
Tables = dict[str, pd.DataFrame]


def read_tables(files: Mapping[str, Sequence[str]]) -> Tables:
    """Read the tables by name; those of one file a price list are put together under one name."""
    tables: Tables = {}
    # Text as plain objects: the page reads single cells, which Arrow strings make slow.
    with pd.option_context("future.infer_string", False):
        for name, paths in files.items():
            if name in BY_PRICE_LIST:
                tables[name] = _together([read_parquet(path) for path in paths])
            else:
                tables |= {Path(path).stem: read_parquet(path) for path in paths}
    return tables


def table_of(tables: Tables, name: str) -> pd.DataFrame:
    """The table of that name; empty where the study lacks it."""
    return tables.get(name, pd.DataFrame())


def unit_of(tables: Tables) -> str:
    """What this study's throughput counts (images, samples, runs, relative units); samples where it counts several."""
    rows = table_of(tables, "throughput")
    units = set(rows["unit"].dropna()) if "unit" in rows.columns else set()
    if units == {"relative"}:
        return "relative units"
    return (units or {"images"}).pop() if len(units) < 2 else "samples"


def _together(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    # Empty tables carry no types; leaving them out keeps those of the others.
    filled = [table for table in tables if len(table)] or list(tables[:1])
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def write_tables(tables: Tables, folder: Path) -> None:
    """Write every table whole as CSV and Parquet."""
    for name, table in sorted(tables.items()):
        write_parquet(table, folder / f"{name}.parquet", csv=True)
