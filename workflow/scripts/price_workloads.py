"""Price every workload on every cell under one price list."""

import sys
from collections.abc import Mapping
from datetime import date
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from sweetspot.bills.pricing import price_study
from sweetspot.errors import exit_on_user_error
from sweetspot.files import read_arrow, write_arrow


class WithoutPandas(MetaPathFinder):
    """Pricing needs no pandas, but pyarrow imports it to recognise its objects, for half of this job's CPU time."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Say that there is none, which pyarrow takes for an answer."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def main(inputs: Any, price_list: str, params: Any, outputs: Mapping[str, str]) -> None:
    """Write all tables that one price list makes."""
    tables = price_study(
        throughput=read_arrow(inputs.throughput),
        extrapolation=read_arrow(inputs.extrapolation),
        price_file=Path(inputs.prices),
        workload_file=Path(inputs.workloads),
        instance_files=[Path(file) for file in inputs.instances],
        name=price_list,
        month_days=params.month_days,
        study_date=date.fromisoformat(params.as_of),
    )
    for kind, file in outputs.items():
        write_arrow(tables[kind], file)


if "snakemake" in globals():
    sys.meta_path.insert(0, WithoutPandas())
    with exit_on_user_error():
        main(snakemake.input, snakemake.wildcards.price_list, snakemake.params, dict(snakemake.output.items()))
