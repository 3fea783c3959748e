"""Compare the options of a study: break-even, ranks, probabilities, claims."""

from pathlib import Path

import pandas as pd
from sweetspot.config import load_study
from sweetspot.decision.claims import load_claims
from sweetspot.decision.compare import Inputs, compare
from sweetspot.errors import exit_on_user_error
from sweetspot.files import write_parquet


def main(files: dict[str, list[str]], study: str, claims: str, outputs: list[str]) -> None:
    """Write results/<study>/comparison/*.parquet."""
    tables = {name: pd.concat(map(pd.read_parquet, paths), ignore_index=True) for name, paths in files.items()}
    found = compare(Inputs(**tables), load_study(Path(study).parent), load_claims(claims))
    for output in outputs:
        write_parquet(found[Path(output).stem], output)


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            files={name: list(snakemake.input[name]) for name in Inputs.__dataclass_fields__},
            study=snakemake.input.study,
            claims=snakemake.params.claims,
            outputs=list(snakemake.output),
        )
