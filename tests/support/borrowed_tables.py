"""The tables of a study that the workflow has made, for tests that decide anew or calculate by hand."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
from study_tables import made_tables


@dataclass(frozen=True)
class Tables:
    throughput: pd.DataFrame
    extrapolation: pd.DataFrame
    priced: dict[str, pd.DataFrame]
    comparison: dict[str, pd.DataFrame]

    @property
    def claims(self) -> pd.DataFrame:
        """The claims by their id."""
        return self.comparison["claims"].set_index("id")

    def only(self, kind: str, **key: str) -> pd.Series:
        """The one row of all price lists' `costs`, `bills` or `offers`, or of a comparison table, with these values."""
        rows = self.priced[kind] if kind in self.priced else self.comparison[kind]
        for name, value in key.items():
            rows = rows[rows[name] == value]
        assert len(rows) == 1, key
        return rows.iloc[0]

    def cost(self, price_list: str, instance: str, workload: str, purchase: str = "on_demand") -> pd.Series:
        """The one cost of an offer and workload."""
        return self.only("costs", price_list=price_list, instance=instance, workload=workload, purchase=purchase)


@cache
def borrowed_tables(results: Path) -> Tables:
    """Read the tables of one study from its folder of results; nobody changes them."""
    priced = {
        kind: pd.concat([pd.read_parquet(file) for file in sorted((results / kind).glob("*.parquet"))])
        for kind in ("costs", "offers", "plans", "bills")
    }
    made = made_tables(results)
    return Tables(made["throughput"], pd.read_parquet(results / "extrapolation.parquet"), priced, made)
