"""Compare what a study says under its price lists of an earlier day with what it says under those of today."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from sweetspot.declared_tables import write_table
from sweetspot.files import read_parquet
from sweetspot.report.decided_anew import State, Unpriced, moved, state_under


def main(inputs: Mapping[str, Any], lists: Sequence[str], params: Any, output: str) -> None:
    """Write comparison/price_changes.parquet. `lists`: names of the price lists, as `inputs["then"]` has their files.

    Raises UserError.
    """
    then = {name: Path(file) for name, file in zip(lists, inputs["then"], strict=True)}
    before = state_under(then, Unpriced.of_rule(inputs, params))
    offers = pd.concat([read_parquet(file) for file in inputs["offers"]], ignore_index=True)
    after = State(offers, *(read_parquet(inputs[name]) for name in ("ranks", "verdict")))
    write_table(moved(before, after), output)


if "snakemake" in globals():
    main(
        dict(snakemake.input.items()),
        snakemake.params.lists,
        snakemake.params,
        snakemake.output[0],
    )
