"""Compare what a study says under its price lists of an earlier day with what it says under those of today."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
from sweetspot.files import read_parquet, write_parquet
from sweetspot.report.price_changes import State, Unpriced, answer_of, moved, plans_of, state_under
from sweetspot.study.energy_facts import Energy
from sweetspot.study.settings import Settings
from sweetspot.throughput.published import read_published

SPEED = ("throughput", "extrapolation", "efficiency", "left_out")


def main(inputs: Mapping[str, Any], lists: Sequence[str], params: Any, output: str) -> None:
    """Write comparison/price_changes.parquet. `lists`: names of the price lists, as `inputs["then"]` has their files.

    Raises UserError.
    """
    figures = [read_published(Path(file)) for file in inputs["published"]]
    study = Unpriced(
        tables={name: Path(inputs[name]) for name in SPEED},
        workloads=Path(inputs["workloads"]),
        instances=[Path(file) for file in inputs["instances"]],
        settings=Settings(**params.settings),
        month_days=params.month_days,
        as_of=date.fromisoformat(params.as_of),
        energy=None if params.energy is None else Energy.model_validate(params.energy),
        price_paths=params.price_paths,
        published=pd.concat(figures, ignore_index=True) if figures else None,
    )
    before = state_under({name: Path(file) for name, file in zip(lists, inputs["then"], strict=True)}, study)
    offers = pd.concat([read_parquet(file) for file in inputs["offers"]], ignore_index=True)
    ranks, verdict, choices = (read_parquet(inputs[name]) for name in ("ranks", "verdict", "choices"))
    after = State(offers, ranks, answer_of(verdict), plans_of(verdict, choices))
    write_parquet(moved(before, after), output)


if "snakemake" in globals():
    main(
        dict(snakemake.input.items()),
        snakemake.params.lists,
        snakemake.params,
        snakemake.output[0],
    )
