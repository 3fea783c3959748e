"""The small study, without any plan and with one of phases laid over it."""

import pandas as pd
from phase_tables import CLOUDS, box, phase_tables
from report_tables import one_job as one_job  # for the tests of phases


def reference(tables):
    options = tables["options"]
    return options.loc[options["is_reference"], "option"].iloc[0]


def with_phases(tables, *rows, **sure):
    """The small study with a project; its box is the option that the study judges."""
    own = box(choice=reference(tables), title="office box")
    plan = phase_tables(*(rows or (own, *CLOUDS)), **sure)["choices"]
    return tables | {"choices": pd.concat([plan, tables["choices"]], ignore_index=True)}
