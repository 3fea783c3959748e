"""Why a machine scales badly: its step split into computing, exchanging gradients and the rest."""

import numpy as np
import pandas as pd

from sweetspot.scaling.pooled import Pooled, parts_pooled

GOAL = 0.9
CELL = ["study", "gpu", "instance", "gpus", "framework", "model", "batch_size", "precision", "variant", "dataset"]
EXPLAIN_COLUMNS = (
    *CELL,
    "efficiency",
    "compute_share",
    "communication_share",
    "rest_share",
    "batch_for_90",
    "bandwidth_factor_for_90",
    "source",
    "warnings",
)


def explain(evidence: pd.DataFrame, pooled: Pooled) -> pd.DataFrame:
    """Split the step of each multi-device figure by the ring model fitted to all of them; EXPLAIN_COLUMNS.

    Of the step T_N = T_1 / efficiency, compute is T_1, communication what the ring model gives for bytes and starts
    (at most T_N - T_1), rest the remainder: waiting, input, slower kernels. Shares add to 1; where a figure is
    super-linear, compute is 1. batch_for_90: the batch per device at which efficiency reaches 90 %, since the
    exchange does not grow with the batch; bandwidth_factor_for_90: how many times faster the link must be; NaN where
    neither can reach it (the rest alone is too much) and 1 x the present one where it is reached already.
    """
    parts = parts_pooled(pooled, evidence)
    overhead = np.maximum(1 / evidence["efficiency"] - 1, 0)
    exchange = np.minimum(parts["c"] + parts["l"], overhead)
    carried = np.where(parts["c"] + parts["l"] > 0, parts["c"] / (parts["c"] + parts["l"]), 0) * exchange
    rest = overhead - exchange
    spare = 1 / GOAL - 1 - rest
    table = evidence.assign(
        compute_share=1 / (1 + overhead),
        communication_share=exchange / (1 + overhead),
        rest_share=rest / (1 + overhead),
        batch_for_90=np.ceil(evidence["batch_size"] * reach(exchange, spare)),
        bandwidth_factor_for_90=reach(carried, spare - (exchange - carried)),
    )
    return table[list(EXPLAIN_COLUMNS)].reset_index(drop=True)


def reach(part: pd.Series, spare: pd.Series) -> pd.Series:
    """Factor by which `part` must shrink to fit into `spare` (single-device steps); 1: it fits, NaN: never."""
    return (part / spare.where(spare > 0)).clip(lower=1.0)
