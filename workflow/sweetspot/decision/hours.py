"""What an hour of use costs, from what a month costs and what an hour adds."""

from typing import Any

from sweetspot.bills.owning import HOURS_A_DAY


def hour_of_use(fixed: Any, variable: Any, days: Any) -> Any:
    """USD an hour at `days` of use a month: fixed / (24 d) + variable (DESIGN.md, office hour).

    `fixed` in USD a month, `variable` in USD an hour of use: numbers, arrays or columns that go together.
    """
    return fixed / (HOURS_A_DAY * days) + variable
