"""What each model's figures count: one unit a model, or they cannot stand beside each other."""

from pathlib import Path

import pandas as pd

from sweetspot.errors import UserError


def units_of(published: pd.DataFrame, path: Path) -> dict[str, str]:
    """The unit of each model. published: model, unit, index of the rows of `path`.

    Raises UserError where two rows of a model count different things.
    """
    for model, rows in published.groupby("model"):
        other = rows[rows["unit"] != rows["unit"].iloc[0]]
        if len(other):
            raise UserError(
                f"{path}: {model} is counted in {rows['unit'].iloc[0]} and in {other['unit'].iloc[0]}; "
                "expected one unit a model"
            )
    return dict(zip(published["model"], published["unit"], strict=True))
