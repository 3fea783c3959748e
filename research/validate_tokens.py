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
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sweetspot.study.open_models import open_models
from sweetspot.tokens.mfu import (
    LEAST_SPREAD,
    STACKS,
    PublishedShare,
    Range,
    expected_mfu,
    from_one_timing,
    on_device,
    on_model,
    published_figures,
    read_figures,
)
from sweetspot.transfer.figures import shipped_devices

HELD_BACK = ("software", "model", "gpu")
NOTHING, STACK, OTHER_DEVICE, OTHER_MODEL = "nothing known", "stack known", "other device", "other model"
SAME_BUT_ONE = ("software", "method", "precision", "sequence")

Expectation = tuple[PublishedShare, Range]


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


def validate(figures: Sequence[PublishedShare], blind: bool = False) -> dict[str, Any]:
    """Return the errors of each method.

    Parameters
    ----------
    figures
        The figures that are expected.
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
            methods[known] = [(one, _expected(published_figures(), one, known)) for one in figures]
        else:
            methods |= {f"{known}, no {name}": list(_held_back(figures, name, known)) for name in HELD_BACK}
    methods[OTHER_DEVICE] = [(wanted, _to_device(known, wanted)) for known, wanted in pairs(figures, "gpu")]
    for stack in STACKS:
        of_stack = [pair for pair in pairs(figures, "model") if pair[0].stack == stack]
        methods[f"{OTHER_MODEL}, {stack}"] = [(wanted, _to_model(known, wanted)) for known, wanted in of_stack]
    rows = [summarize(method, expected) for method, expected in methods.items() if expected]
    return {"headline": rows[0]["method"], "methods": rows}


def pairs(figures: Sequence[PublishedShare], but: str) -> list[tuple[PublishedShare, PublishedShare]]:
    """List pairs of figures that differ in `but` ('gpu' or 'model') alone, apart from the share."""
    same = (*SAME_BUT_ONE, "model" if but == "gpu" else "gpu")
    return [
        (known, wanted)
        for known in figures
        for wanted in figures
        if getattr(known, but) != getattr(wanted, but)
        and all(getattr(known, name) == getattr(wanted, name) for name in same)
    ]


def summarize(method: str, expected: Sequence[Expectation]) -> dict[str, Any]:
    """Return rows, median and 90th percentile of |expected / printed - 1|, and the share inside the 90 % interval."""
    errors = [abs(share.middle / figure.mfu - 1) for figure, share in expected]
    inside = [share.low <= figure.mfu <= share.high for figure, share in expected]
    return {
        "method": method, "rows": len(errors), "median_abs_error": float(np.median(errors)),
        "p90_abs_error": float(np.quantile(errors, 0.9)), "coverage90": float(np.mean(inside)),
    }  # fmt: skip


def _held_back(figures: Sequence[PublishedShare], name: str, known: str) -> Iterator[Expectation]:
    for value in sorted({str(getattr(figure, name)) for figure in figures}):
        rest = [figure for figure in figures if getattr(figure, name) != value]
        for figure in figures:
            if getattr(figure, name) == value and any(known == NOTHING or figure.stack == one.stack for one in rest):
                yield figure, _expected(rest, figure, known)


def _expected(rest: Sequence[PublishedShare], figure: PublishedShare, known: str) -> Range:
    stack = figure.stack if known == STACK else None
    return expected_mfu(rest, figure.method, figure.precision, stack, figure.mixture)


def _to_device(known: PublishedShare, wanted: PublishedShare) -> Range:
    devices = shipped_devices()
    share = from_one_timing(known.mfu, LEAST_SPREAD)
    return on_device(share, devices.get(known.gpu), devices.get(wanted.gpu), wanted.precision)


def _to_model(known: PublishedShare, wanted: PublishedShare) -> Range:
    sizes = [math.log(open_models()[figure.model].active_parameters) for figure in (known, wanted)]
    return on_model(from_one_timing(known.mfu, LEAST_SPREAD), math.exp(sizes[1] - sizes[0]), known.stack)
