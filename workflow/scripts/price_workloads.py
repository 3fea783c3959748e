"""Price every workload on every cell under one price list."""

from datetime import date
from pathlib import Path
from typing import Any

from sweetspot.bills.pricing import price_study
from sweetspot.errors import exit_on_user_error
from sweetspot.files import read_parquet, write_parquet


def main(inputs: Any, price_list: str, params: Any, outputs: Any) -> None:
    """Write the costs, offers, bills, cash flow, plans and lint of one price list."""
    tables = price_study(
        throughput=read_parquet(inputs.throughput),
        extrapolation=read_parquet(inputs.extrapolation),
        price_file=Path(inputs.prices),
        workload_file=Path(inputs.workloads),
        instance_files=[Path(file) for file in inputs.instances],
        name=price_list,
        month_days=params.month_days,
        study_date=date.fromisoformat(params.as_of),
    )
    for kind, table in tables.items():
        write_parquet(table, outputs[kind])


if "snakemake" in globals():
    with exit_on_user_error():
        main(snakemake.input, snakemake.wildcards.price_list, snakemake.params, dict(snakemake.output.items()))
