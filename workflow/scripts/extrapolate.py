"""Estimate the machines nobody has measured, by every method, with its interval."""

from typing import Any

import pandas as pd
from sweetspot.config import Question, Target
from sweetspot.errors import exit_on_user_error
from sweetspot.files import write_parquet
from sweetspot.scaling.mean_efficiency import mean_efficiency
from sweetspot.scaling.targets import extrapolation, target_cells


def main(throughput: str, averages: str, targets: list[dict[str, Any]], question: dict[str, Any], output: str) -> None:
    """Write results/<study>/extrapolation.parquet."""
    cells = target_cells(pd.read_parquet(throughput), [Target(**target) for target in targets], Question(**question))
    predicted = mean_efficiency(pd.read_parquet(averages), cells).assign(
        source="mean efficiency of the families", warning=None
    )
    write_parquet(extrapolation(cells, predicted, "mean_efficiency", headline=True), output)


if "snakemake" in globals():
    with exit_on_user_error():
        main(
            throughput=snakemake.input.throughput,
            averages=snakemake.input.averages,
            targets=snakemake.params.targets,
            question=snakemake.params.question,
            output=snakemake.output.extrapolation,
        )
