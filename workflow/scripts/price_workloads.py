"""Price every workload on every cell under one price list."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from sweetspot.bills.pricing import price_study
from sweetspot.declared_tables import VERSION
from sweetspot.files import read_arrow, write_arrow
from sweetspot.study.energy_facts import Energy


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
        energy=None if params.energy is None else Energy.model_validate(params.energy),
        price_paths=getattr(params, "price_paths", None),
    )
    for kind, file in outputs.items():
        write_arrow(tables[kind].replace_schema_metadata((tables[kind].schema.metadata or {}) | VERSION), file)


if "snakemake" in globals():
    main(snakemake.input, snakemake.wildcards.price_list, snakemake.params, dict(snakemake.output.items()))
