"""Recompute the claims of a study's text."""

from collections.abc import Mapping, Sequence

from sweetspot.claims.lookup import COLUMNS, Evidence, TableFiles, write_claims
from sweetspot.claims.verdicts import check_claims
from sweetspot.study.claims import load_claims


def main(tables: Mapping[str, str | Sequence[str]], claims: Sequence[str], output: str) -> None:
    """Write comparison/claims.parquet. `tables`: file or files by the table's name; `claims`: claims.yaml, if any."""
    found = [claim for file in claims for claim in load_claims(file)]
    write_claims(check_claims(found, Evidence(TableFiles(tables))), output)


if "snakemake" in globals():
    main(
        tables={name: snakemake.input[name] for name in COLUMNS},
        claims=snakemake.input.claims,
        output=snakemake.output.claims,
    )
