"""Gather run files and published figures into one table, one row a cell."""

from pathlib import Path
from typing import Any

from sweetspot.declared_tables import write_table
from sweetspot.study.instances import load_instances
from sweetspot.study.open_models import cell_work
from sweetspot.study.study import LogSource, StudyCells
from sweetspot.throughput.gather import gather_throughput
from sweetspot.transfer.plausibility import impossible_figures


def main(
    runs: list[str],
    question: dict[str, Any],
    as_of: str,
    instances: list[str],
    folder: str,
    logs: list[dict[str, Any]],
    pools: list[str],
    output: str,
) -> None:
    """Write results/<study>/throughput.parquet. pools: what a transfer learns from; none: nothing is transferred."""
    declared = load_instances(*(Path(file) for file in instances))
    sources = [LogSource(**entry) for entry in logs]
    table = gather_throughput(runs, StudyCells(**question), as_of, declared, Path(folder), sources, impossible_figures)
    if pools:
        from sweetspot.transfer.transferring import learn_devices
        from sweetspot.transfer.unmeasured import with_transferred

        learnt = learn_devices(Path(folder).parent)
        table = with_transferred(table, StudyCells(**question), declared, as_of, learnt)
    if any(map(cell_work, question["model"])):
        from sweetspot.transfer.unmeasured import with_arithmetic

        table = with_arithmetic(table, StudyCells(**question), declared, as_of)
    write_table(table, output)


if "snakemake" in globals():
    main(
        runs=list(snakemake.input.runs),
        question=snakemake.params.question,
        as_of=snakemake.params.as_of,
        folder=str(Path(snakemake.input.instances[-1]).parent),
        logs=snakemake.params.logs,
        instances=list(snakemake.input.instances),
        pools=list(snakemake.input.pools),
        output=snakemake.output[0],
    )
