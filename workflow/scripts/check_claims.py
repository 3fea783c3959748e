"""Recompute the claims of a study's text."""

from collections.abc import Mapping, Sequence

import pandas as pd
from sweetspot.claims.verdicts import check_claims, write_claims
from sweetspot.files import read_parquet
from sweetspot.study.claims import load_claims

TABLES = ("options", "offers", "costs", "bills", "throughput", "extrapolation", "efficiency")


def main(tables: Mapping[str, str | Sequence[str]], claims: Sequence[str], output: str) -> None:
    """Write comparison/claims.parquet.

    Parameters
    ----------
    tables
        File or files of each of TABLES.
    claims
        claims.yaml, if the study has one.
    output
        The file to write.
    """
    files = {name: [paths] if isinstance(paths, str) else paths for name, paths in tables.items()}
    frames = {name: pd.concat(map(read_parquet, paths), ignore_index=True) for name, paths in files.items()}
    write_claims(check_claims([claim for file in claims for claim in load_claims(file)], frames), output)


if "snakemake" in globals():
    main(
        tables={name: snakemake.input[name] for name in TABLES},
        claims=snakemake.input.claims,
        output=snakemake.output.claims,
    )
