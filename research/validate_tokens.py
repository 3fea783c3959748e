"""How wrong is `sweetspot estimate`?

Published figures are held back in turn, by software, by model and by device: median and 90th percentile of the error,
and the share within the intervals of 90 %.

    python -m research validate-tokens > errors.txt
"""

import argparse

from sweetspot.tokens.held_back import with_one_figure, without
from sweetspot.tokens.mfu import published_figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `python -m research validate-tokens`: it has no flags."""


def run(arguments: argparse.Namespace) -> None:
    """Print the table."""
    figures = published_figures()
    rows = [*without(figures, stack_known=False), *without(figures, stack_known=True), *with_one_figure(figures)]
    print(f"{'left out':<10}{'known':<12}{'figures':>8}{'median':>8}{'p90':>7}{'in 90 %':>9}")
    for row in rows:
        print(f"{row.left_out:<10}{row.known:<12}{row.figures:>8}{row.median:>8.0%}{row.p90:>7.0%}{row.coverage:>9.0%}")
