"""`python -m research COMMAND`, from the root of the checkout."""

from sweetspot.commands.command_line import program

COMMANDS = {
    "fit-price-paths": "recompute the presets of price paths and resale curves from their history",
    "back-test": "replay the history month by month: what would the advice have cost?",
    "compare-results": "whether two results are equal, number by number: what a change of the program did",
    "validate-scaling": "how wrong the extrapolation is on figures of your own, or on shipped ones that were left out",
    "validate-transfer": "how wrong the transfer from one device to another is, on figures left out or of a file",
    "validate-tokens": "how wrong speeds of training on tokens are, on figures held back or of a file",
    "flop": "the arithmetic of a training step beside the counters of torch and XLA; what share of a peak was reached",
}

if __name__ == "__main__":
    program("research", COMMANDS)
