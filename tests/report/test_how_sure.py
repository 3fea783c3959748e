"""What the answer rests on stands on the first page: bases of the deciding speeds, decisive warnings."""

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, study
from report_tables import one_job
from sweetspot.report import how_sure
from sweetspot.report.answer_file import answer_of


def with_bases(**bases):
    """The small study with these bases of its options' speeds, by instance."""
    tables = one_job()
    options = tables["options"]
    told = options["instance"].map(bases)
    return tables | {"options": options.assign(throughput_basis=told.fillna(options["throughput_basis"]))}


def warned(tables, *rows):
    columns = ("scope", "instance", "model", "batch_size", "rule", "message", "decisive")
    made = [dict(zip(columns, ("throughput", None, None, None, *row), strict=True)) for row in rows]
    return tables | {"warnings": pd.DataFrame(made, columns=list(columns))}


def test_each_speed_that_decides_has_its_basis_and_source():
    answer = answer_of(with_bases(**{BOX: "extrapolated", RENTED: "stand_in"}), study())
    found = {speed.option.split(" [")[0]: speed for speed in answer.speeds}
    assert {name: speed.basis for name, speed in found.items()} == {BOX: "extrapolated", RENTED: "stand_in"}
    # The small study's figures: 498 images/s of the box, 225 of the rented machine.
    assert [found[name].images_per_s.value for name in (BOX, RENTED)] == [498, 225]
    assert all(speed.source for speed in answer.speeds)
    bases = {choice.choice: choice.speed_bases for choice in answer.choices}
    assert bases[answer.verdict.best.choice] == ["extrapolated"]
    assert bases[answer.verdict.rival.choice] == ["stand_in"]


@pytest.mark.parametrize(
    ("basis", "marked"),
    [("measured", False), ("published", False), ("own", False), ("equivalent", False), ("scaled", True),
     ("stand_in", True), ("transferred", True), ("extrapolated", True), ("arithmetic", True)]
)  # fmt: skip
def test_a_speed_that_nobody_timed_is_marked(basis, marked):
    assert bool(how_sure.mark_of([basis])) is marked


def test_the_gravest_warning_comes_first_and_the_others_are_counted():
    rules = ("note", "no_peer_access", "stand_in_years", "expired", "rounds_apart")
    told = how_sure.warnings_in_words(warned(one_job(), *((rule, f"told by {rule}", True) for rule in rules)))
    assert len(told) == how_sure.MAX_WARNINGS + 1
    assert ["no_peer_access" in told[0], "2 more" in told[-1]] == [True, True]
    assert not any("told by note" in line for line in told)
