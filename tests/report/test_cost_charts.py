"""Charts of costs, and what all charts know of a study, of a few rows by hand."""

import pandas as pd
import pytest
from chart_pieces import answered, frame, marks_of, spec_of, table
from sweetspot.report.chart_data import ChartData
from sweetspot.report.charts import CHARTS, cost_charts

COLUMNS = "option model workload hours usd persistent in_answer purchase basis source as_of title"


def ranks(*rows, model="m", work="w1") -> pd.DataFrame:
    """Of (option, hours, USD, purchase) or only its beginning."""
    made = [(*row, "on_demand")[:4] for row in rows]
    return frame(COLUMNS, *((name, model, work, hours, usd, how != "spot", True, how, "published", "paper", "2018",
                             f"{name} [l]") for name, hours, usd, how in made))  # fmt: skip


def front(*rows, option="box"):
    found = cost_charts.front_rows(ChartData(answered(option, ranks=ranks(*rows)), "box"))
    return {row["option"]: row["on_front"] for row in found.to_dict("records")}


def test_on_a_front_is_what_stays_and_nothing_beats_in_time_or_money():
    # B is beaten by A (same hours), C by A (same money), D by both; E costs more than A and is faster.
    assert front(("A", 10.0, 50.0), ("A2", 10.0, 50.0), ("B", 10.0, 60.0), ("C", 20.0, 50.0), ("D", 20.0, 60.0),
                 ("E", 5.0, 90.0)) == dict.fromkeys("BCD", False) | dict.fromkeys(("A", "A2", "E"), True)  # fmt: skip
    rows = [("A", 10.0, 50.0), ("S", 5.0, 20.0, "spot"), ("T", 30.0, 70.0, "spot")]
    assert front(*rows) == {"S": False, "A": True}  # T is beaten by A as well
    assert front(*rows[1:]) == {"S": True}  # all that there is
    # Of those that stay: 50. What is on the front or judged is.
    rows = [("A", 10.0, 50.0), ("S", 20.0, 1.0, "spot"), ("in", 11.0, 1000.0), ("out", 11.0, 1001.0),
            ("fast", 5.0, 2000.0), ("box", 40.0, 9000.0)]  # fmt: skip
    assert front(*rows) == {"S": False, "A": True, "in": False, "fast": True, "box": False}


@pytest.mark.parametrize(("hours", "numbers"), [(1.20, ["1", "2"]), (1.19, ["1, 2", ""])])
def test_points_nearer_than_fifteen_pixels_share_their_numbers(hours, numbers):
    """364 pixels a factor of 100: 1.20 is 14.4 pixels beside 1.0 and 5.3 above or below it, 15.4 in all; 1.19 14.9."""
    rows = ranks(("A", 1.0, 1.135), ("B", hours, 1.0), ("far", 100.0, 100.0))
    rows = rows.assign(label=rows["option"], on_front=rows["option"] != "far")
    assert cost_charts.number_points(rows, "")["mark"].tolist() == numbers


def bills() -> dict[str, pd.DataFrame]:
    """The box at 100 USD (its bill prints 50), A at 120, spot at 60, and a line of 1 % of the dearest."""
    key = dict.fromkeys(cost_charts.BILL_KEY, "x") | {"model": "m", "workload": "w1"}
    lines = [("box", "possession", 36.0), ("box", "electricity", 14.0), ("A", "use", 117.0), ("A", "traffic", 1.8),
             ("A", "storage", 1.2), ("S", "use", 60.0)]  # fmt: skip
    rows = pd.DataFrame([key | {"instance": name, "line": line, "usd": usd} for name, line, usd in lines])
    totals = {"box": 100.0, "A": 120.0, "S": 60.0}
    options = [key | {"instance": name, "option": name, "title": name, "usd": usd} for name, usd in totals.items()]
    known = pd.DataFrame(options).assign(persistent=[True, True, False], as_of="2018")
    other = {"model": "n", "workload": "w2"}
    return answered(
        ranks=pd.concat([known, known.assign(**other)]), bills=pd.concat([rows, rows.tail(1), rows.assign(**other)])
    )


def test_bills_are_stacked_from_their_lines_at_the_price_of_the_answer():
    """The list prints 36 + 14 USD; at the mean rent of the project's months the answer counts 100: 72 and 28."""
    drawing = CHARTS["bill"].draw(ChartData(bills(), "box"))
    assert table(drawing.data["rows"], "title line usd total") == [
        ["box", "owning it, used or not", 72, 100], ["box", "electricity", 28, 100], ["A", "machine time", 117, 120],
        ["A", "traffic", 1.8, 120]
    ]  # fmt: skip
    assert drawing.says == "box costs 100 USD: 72 % of it owning it, used or not"
    (bar,) = marks_of(spec_of(drawing))
    assert bar["encoding"]["color"]["scale"]["domain"] == [
        "owning it, used or not", "electricity", "machine time", "traffic"
    ]  # fmt: skip
    reference_only = ChartData(bills() | {"ranks": bills()["ranks"].assign(persistent=False)}, "box")
    assert set(CHARTS["bill"].draw(reference_only).data["rows"]["option"]) == {"box"}  # the reference, whatever it is
    one_line = bills() | {"bills": bills()["bills"].query("line == 'use'")}
    assert marks_of(spec_of(CHARTS["bill"].draw(ChartData(one_line, "box"))))[0]["encoding"]["color"]["legend"] is None
    # Without the reference the cheapest: 97.5 % of A's 120.
    assert CHARTS["bill"].draw(ChartData(one_line, "box")).says == "A costs 120 USD: 100 % of it machine time"
