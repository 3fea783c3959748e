"""Prediction intervals from errors on families that were left out of the fit."""

import numpy as np
import pandas as pd

LEVELS = (0.5, 0.9)


def scores(efficiency: pd.Series, predicted: pd.DataFrame) -> np.ndarray:
    """|log(efficiency / predicted)| / scale: how many of its own standard deviations a prediction was off."""
    return np.abs(np.log(efficiency / predicted["efficiency"])).to_numpy() / predicted["scale"].to_numpy()


def interval(predicted: pd.DataFrame, width: float) -> pd.DataFrame:
    """low, high of the efficiency: predicted x exp(-+ width x scale); same index."""
    spread = np.exp(width * predicted["scale"])
    return pd.DataFrame({"low": predicted["efficiency"] / spread, "high": predicted["efficiency"] * spread})
