"""All tables of results/<study>/comparison/, from the tables before it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from sweetspot.config import Study
from sweetspot.decision.breakeven import break_even, utilisation
from sweetspot.decision.checks import Evidence, check_claims
from sweetspot.decision.claims import Claim
from sweetspot.decision.options import build_options
from sweetspot.decision.ranks import pairs, ranks
from sweetspot.decision.simulate import DRAWS, simulate


@dataclass(frozen=True)
class Inputs:
    """The tables of results/<study>/ that the comparison reads, price lists put together."""

    costs: pd.DataFrame
    offers: pd.DataFrame
    throughput: pd.DataFrame
    extrapolation: pd.DataFrame
    efficiency: pd.DataFrame
    price_lint: pd.DataFrame


def compare(inputs: Inputs, study: Study, claims: Sequence[Claim], draws: int = DRAWS) -> dict[str, pd.DataFrame]:
    """Tables by the name of their file: break_even, utilisation, ranks, pairs, claims. Raises UserError."""
    options = build_options(inputs.costs, inputs.offers, inputs.throughput, inputs.extrapolation, study)
    drawn = simulate(options, study.seed, draws)
    reference = study.reference or ""
    evidence = Evidence(options, inputs.offers, inputs.extrapolation, inputs.efficiency, study.reference)
    return {
        "break_even": break_even(options, drawn, reference, study.month_days),
        "utilisation": utilisation(options, drawn, reference, study.month_days),
        "ranks": ranks(options, drawn),
        "pairs": pairs(options, drawn),
        "claims": check_claims(claims, evidence),
    }
