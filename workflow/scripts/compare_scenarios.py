"""Decide a study anew under each of its scenarios."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweetspot.declared_tables import write_table
from sweetspot.files import read_parquet
from sweetspot.report.decided_anew import Unpriced, scenario_table
from sweetspot.study.scenarios import load_scenarios


def main(inputs: Mapping[str, Any], lists: Sequence[str], params: Any, output: str, into: str) -> None:
    """Write comparison/scenarios.parquet, and each scenario's files below `into`. Raises UserError."""
    planned = {name: read_parquet(inputs[name]) for name in ("verdict", "choices")}
    files = {name: Path(file) for name, file in zip(lists, inputs["prices"], strict=True)}
    folder = Path(inputs["scenarios"][0]).parent.parent
    study = Unpriced.of_rule(inputs, params)
    table = scenario_table(load_scenarios(folder), study, files, planned, folder, Path(into))
    write_table(table, output)


if "snakemake" in globals():
    main(
        dict(snakemake.input.items()),
        snakemake.params.lists,
        snakemake.params,
        snakemake.output.table,
        snakemake.output.files,
    )
