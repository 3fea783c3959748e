"""Plans of phases decided: their options, and what each rests on."""

from collections.abc import Sequence

import pandas as pd

from sweetspot.decision.analyses import analysed
from sweetspot.decision.cost_rounds import Planned, pays_of_rounds, rounds_question
from sweetspot.decision.phase_options import option_table
from sweetspot.decision.phases import PricedPhase
from sweetspot.decision.settings import Settings
from sweetspot.decision.simulate import Draws
from sweetspot.decision.tornado import turned


def decide_phases(
    phases: Sequence[PricedPhase], options: pd.DataFrame, draws: Draws, plans: pd.DataFrame, settings: Settings
) -> tuple[dict[str, pd.DataFrame], list[Planned]]:
    """What the plans among `phases` (`phases.phases`) rest on (`plan_options`, and as `analysed`), and their questions.

    `plans`: the rows of results/<study>/plans that fit.
    """
    whole = [phase for phase in phases if phase.plan is not None and phase.whole]
    planned = [rounds_question(phase, options, plans, settings.month_days) for phase in whole]
    asked = [turned(one.question) for one in planned]
    paying = ((one.question.workload, pays_of_rounds(one, options, draws)) for one in planned)
    tables = {
        "plan_options": option_table(phases),
        **analysed(asked, options, draws, settings.money, paying),
    }
    return tables, planned
