"""Compare the options of a study: break-even, ranks, front, what carries the answer, recommendation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweetspot.decision.compare import Inputs, compare
from sweetspot.decision.phases import load_groups
from sweetspot.decision.settings import Settings
from sweetspot.files import write_parquet


def main(
    tables: Mapping[str, str | Sequence[str]], workloads: str, settings: Mapping[str, Any], outputs: Sequence[str]
) -> None:
    """Write results/<study>/comparison/*.parquet. `tables`: files of each field of Inputs."""
    found = compare(Inputs.read(tables), Settings(**settings), load_groups(workloads))
    for output in outputs:
        write_parquet(found[Path(output).stem], output)


if "snakemake" in globals():
    main(
        tables={name: snakemake.input[name] for name in Inputs.__dataclass_fields__},
        workloads=snakemake.input.workloads,
        settings=snakemake.params.settings,
        outputs=list(snakemake.output),
    )
