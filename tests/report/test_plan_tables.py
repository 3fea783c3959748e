"""The tables of what to do, made of a few rows by hand: which rows, in which order, what each cell says."""

import math
import re

import pandas as pd
from decision_tables import study
from sweetspot.report.cited import Provenance
from sweetspot.report.evidence_tables import EvidenceTables
from sweetspot.wording import SHARE

NAN = math.nan


def made(**tables):
    return EvidenceTables(tables, study(), Provenance(), {"a": "Machine A"})


def plain(part):
    """The texts of a table's cells, without the signs of bases."""
    return [[re.sub("<i.*?</i>|<[^>]*>", "", str(cell)) for cell in row] for row in part.rows]


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


def test_without_tables_there_are_no_rows():
    assert [(table.rows, table.omitted_rows) for table in made().build_all().values()] == [([], 0)] * 22


WORTH = "model figure value unit evppi_usd evppi_usd_low project_usd cost_to_learn_usd learn_on_title turning_point"
KNOWN = ("m", "speed", 5.0, "images/s", 2.0, 0.5, 1000.0, 3.0, "Cloud", 7.0)


def worth(name, usd=2.0, low=0.5, project=1000.0, model="m"):
    return model, name, *KNOWN[2:4], usd, low, project, *KNOWN[7:]


def test_what_is_worth_knowing_is_above_its_error_and_a_thousandth_of_the_project():
    """Of 1,000 USD just one; the answer's model first, each in the order of the table."""
    rows = [worth("other", model="n"), worth("within its error", low=0.0), worth("just enough", usd=1.0),
            worth("too little", usd=0.99), worth("dear project", project=2001.0),
            worth("plan's", model=None)]  # fmt: skip
    asked = {"verdict": frame("workload", ("w",)), "choices": frame("workload cost model", ("w", SHARE, "m"))}
    part = made(worth_knowing=frame(WORTH, *rows), **asked).build("worth_knowing")
    assert [row[1] for row in part.rows] == ["just enough", "other"]
    assert plain(part)[0] == ["m", "just enough", "5.00", "images/s", "1.00", "3.00", "Cloud", "7.00"]


def test_prices_that_moved_most_stand_first():
    names = "what instance purchase price_list before after change as_of_before as_of_after"
    days = ("2026-09-19 07:00", "2026-11-22")
    rows = [("price", "a", "on_demand", "l", 1.0, 1.1, 0.1, *days),
            ("new", "b", "spot", "l", NAN, 2.0, NAN, None, days[1]),
            ("price", "c", "spot", "l", 4.0, 1.0, -0.75, *days), ("rank", "a", "spot", "l", 1.0, 2.0, 5.0, *days),
            ("gone", "d", "spot", "l", 3.0, NAN, NAN, days[1], days[1])]  # fmt: skip
    assert plain(made(price_changes=frame(names, *rows)).build("price_changes")) == [
        ["c, spot", "l", "4.00", "1.00", "-75.0%", "2026-09-19", "2026-11-22"],
        ["Machine A, on demand", "l", "1.00", "1.10", "+10.0%", "2026-09-19", "2026-11-22"],
        ["b, spot", "l", "–", "2.00", "new", "", "2026-11-22"],
        ["d, spot", "l", "3.00", "–", "gone", "2026-11-22", "2026-11-22"],
    ]
