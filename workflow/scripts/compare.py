"""Compare the options of a study: break-even, ranks, front, what carries the answer, the verdict."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from sweetspot.decision.compare import Inputs, compare
from sweetspot.declared_tables import schema_of, write_table
from sweetspot.study.settings import Settings
from sweetspot.study.stock import load_availability
from sweetspot.study.workloads import load_monthly, load_needs, load_titles


def main(
    tables: Mapping[str, str | Sequence[str]],
    workloads: str,
    settings: Mapping[str, Any],
    outputs: Sequence[str],
    stock: Sequence[str],
    as_of: str,
) -> None:
    """Write results/<study>/comparison/*.parquet. `tables`: files of each field of Inputs;
    `stock`: the study's availability.yaml, where it has one; `as_of`: its date.

    Raises UserError.
    """
    more = {"needs": load_needs(workloads), "monthly": load_monthly(workloads),
            "titles": load_titles(workloads),
            "availability": load_availability(*(stock or [None])[:1], date.fromisoformat(as_of))}  # fmt: skip
    found = compare(Inputs.read(tables), Settings(**settings), **more)
    for output in outputs:
        write_table(found[Path(output).stem], output)
    for file in Path(outputs[0]).parent.glob("*.parquet"):
        if not schema_of(file.stem).names:  # a table of an earlier version
            file.unlink()


if "snakemake" in globals():
    main(
        tables={name: snakemake.input[name] for name in Inputs.__dataclass_fields__},
        workloads=snakemake.input.workloads,
        settings=snakemake.params.settings,
        outputs=list(snakemake.output),
        stock=list(snakemake.input.stock),
        as_of=snakemake.params.as_of,
    )
