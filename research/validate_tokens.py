"""How wrong are speeds of training on tokens that follow from no figure, or from one?

FILE has the columns of the pool tokens-2026: model, method, gpu, gpus, precision, sequence, tokens_per_s, stack,
software.
Its figures are expected from the pool alone, and from one other figure of FILE: of the same model on another device, or
of another model on the same device. Without FILE each software, model and device of the pool is held back in turn.

    python -m research validate-tokens
    python -m research validate-tokens FILE --json
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sweetspot.study.open_models import open_models
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.mfu import (
    STACKS,
    Range,
    carry_speed,
    expected_mfu,
    published_figures,
    read_figures,
)

HELD_BACK = ("software", "model", "gpu")
NOTHING, STACK, OTHER_DEVICE, OTHER_MODEL = "nothing known", "stack known", "other device", "other model"
SHARE_COLUMNS = ["model", "method", "gpu", "stack", "software", "mixture", "mfu"]
SAME_BUT_ONE = ["software", "method", "precision", "sequence", "stack"]

Expectation = tuple[float, Range]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command line of `python -m research validate-tokens`."""
    parser.add_argument("file", type=Path, metavar="FILE", nargs="?", help="CSV of figures; default: the pool")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments: argparse.Namespace) -> None:
    """Print the errors. Raises UserError for a device that nobody has specified."""
    result = validate(read_figures(arguments.file), blind=True) if arguments.file else validate(published_figures())
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"{'method':<32}{'rows':>6}{'median':>8}{'p90':>8}{'in 90 %':>9}")
    for row in result["methods"]:
        shares = f"{row['median_abs_error']:>8.0%}{row['p90_abs_error']:>8.0%}{row['coverage90']:>9.0%}"
        print(f"{row['method']:<32}{row['rows']:>6}{shares}")


def validate(figures: pd.DataFrame, blind: bool = False) -> dict[str, Any]:
    """Return the errors of each method.

    Parameters
    ----------
    figures
        `read_figures` of what is expected.
    blind
        True: nothing is learnt from them; False: they are the pool, held back in turn.

    Returns
    -------
    dict
        headline (the method of `sweetspot estimate`), methods (method, rows, median_abs_error, p90_abs_error,
        coverage90).

    """
    methods: dict[str, list[Expectation]] = {}
    for known in (NOTHING, STACK):
        if blind:
            kinds = [rows for _, rows in figures.groupby(["method", "stack", "mixture"])]
            methods[known] = [pair for rows in kinds for pair in _expected(published_figures(), rows, known)]
        else:
            methods |= {f"{known}, no {name}": list(_held_back(figures, name, known)) for name in HELD_BACK}
    methods[OTHER_DEVICE] = [_carried(row) for row in pairs(figures, "gpu").itertuples()]
    of_models = pairs(figures, "model")
    for stack in STACKS:
        methods[f"{OTHER_MODEL}, {stack}"] = [
            _carried(row) for row in of_models[of_models["stack"] == stack].itertuples()
        ]
    rows = [summarize(method, expected) for method, expected in methods.items() if expected]
    return {"headline": rows[0]["method"], "methods": rows}


def pairs(figures: pd.DataFrame, but: str) -> pd.DataFrame:
    """Join figures that differ in `but` ('gpu' or 'model') alone; columns of the known one end in `_known`."""
    same = [*SAME_BUT_ONE, "model" if but == "gpu" else "gpu"]
    table = figures.merge(figures, on=same, suffixes=("", "_known"))
    return table[table[but] != table[f"{but}_known"]]


def summarize(method: str, expected: list[Expectation]) -> dict[str, Any]:
    """Return rows, median and 90th percentile of |expected / printed - 1|, and the share inside the 90 % interval."""
    errors = [abs(estimate.middle / printed - 1) for printed, estimate in expected]
    inside = [estimate.low <= printed <= estimate.high for printed, estimate in expected]
    return {
        "method": method, "rows": len(errors), "median_abs_error": float(np.median(errors)),
        "p90_abs_error": float(np.quantile(errors, 0.9)), "coverage90": float(np.mean(inside)),
    }  # fmt: skip


def _held_back(figures: pd.DataFrame, name: str, known: str) -> Iterator[Expectation]:
    figures = figures[SHARE_COLUMNS]  # Each fold copies its rows: a third of the columns is a third of the time.
    for value in figures[name].unique():
        is_held_back = figures[name] == value
        rest = figures[~is_held_back]
        dense_methods = set(rest.loc[~rest["mixture"], "method"])
        for (method, stack, _), rows in figures[is_held_back].groupby(["method", "stack", "mixture"]):
            has_method = method != "grpo" or method in dense_methods
            if has_method and (known == NOTHING or stack in set(rest["stack"])):
                yield from _expected(rest, rows, known)


def _expected(rest: pd.DataFrame, rows: pd.DataFrame, known: str) -> Iterator[Expectation]:
    """Yield the share of each row, printed and expected from `rest`; the rows are of one method, stack and kind."""
    first = rows.iloc[0]
    share = expected_mfu(rest, first["method"], first["stack"] if known == STACK else None, first["mixture"])
    yield from ((printed, share) for printed in rows["mfu"])


def _carried(row: Any) -> Expectation:
    """Return the speed of a pair's wanted figure, printed and expected from the known one."""
    known = {name: [getattr(row, f"{name}_known", getattr(row, name))] for name in ("model", "gpu", "flop_per_s")}
    device = shipped_devices().by_gpu[row.gpu]
    return row.flop_per_s, carry_speed(pd.DataFrame(known), open_models()[row.model], device, row.stack)
