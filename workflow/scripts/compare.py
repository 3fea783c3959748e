"""Compare the options of a study: break-even, ranks, front, what carries the answer, recommendation, claims."""

from collections.abc import Sequence
from pathlib import Path

from sweetspot.decision.compare import Inputs, compare
from sweetspot.decision.phases import load_groups
from sweetspot.errors import exit_on_user_error
from sweetspot.files import write_parquet
from sweetspot.study.claims import load_claims
from sweetspot.study.study import load_study


def main(tables: dict[str, str | Sequence[str]], study: str, outputs: Sequence[str]) -> None:
    """Write results/<study>/comparison/*.parquet. `tables`: files of each field of Inputs."""
    folder = Path(study).parent
    found = compare(
        Inputs.read(tables),
        load_study(folder),
        load_claims(folder / "claims.yaml"),
        load_groups(folder / "workloads.yaml"),
    )
    for output in outputs:
        write_parquet(found[Path(output).stem], output)


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            tables={name: snakemake.input[name] for name in Inputs.__dataclass_fields__},
            study=snakemake.input.study,
            outputs=list(snakemake.output),
        )
