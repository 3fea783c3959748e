"""The names of what one could do, of a verdict's levels, and of the reasons why a choice is not the answer."""

KEEP, RENT, CONTRACT, BUY, MIX = "keep", "rent", "contract", "buy", "mix"  # kinds of choices
COMMIT, MACHINE = "commit", "machine"  # levels of a verdict
NOT_DECIDED = "not decided"  # confidence of a verdict where what could turn it has no speed
MAY_STOP, EXCLUDED, CANNOT, LIMIT = "interruptible", "not_asked", "cannot", "limit"  # why a choice is not the answer
FACTOR = "times the plan"  # unit of what is said as a factor of the plan
