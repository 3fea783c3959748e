"""Write the months of a study's plan as FOCUS rows."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from sweetspot.files import read_parquet, to_arrow, write_csv
from sweetspot.use.focus_rows import focus_rows
from sweetspot.use.plan_months import TABLES, plan_of


def main(inputs: Mapping[str, Any], params: Any, output: str) -> None:
    """Write report/focus.csv. Raises UserError where the answer is not of months."""
    plan = plan_of({name: read_parquet(inputs[name]) for name in TABLES}, params.name)
    write_csv(to_arrow(focus_rows(plan, params.name, params.title, date.fromisoformat(params.as_of))), output)


if "snakemake" in globals():
    main(dict(snakemake.input.items()), snakemake.params, snakemake.output.table)
