"""Which speeds are off together: devices, predictions, twins, jobs side by side."""

import numpy as np
import pandas as pd
import pytest
from decision_tables import cost, figure, inputs, offer, settings
from sweetspot.decision.options import build_options
from sweetspot.decision.simulate import simulate
from sweetspot.draws import interval
from sweetspot.throughput.speed_errors import (
    ROUND_HIGH,
    ROUND_LOW,
    common_errors,
    degrees_of_freedom,
    figure_behind,
    figure_key,
    speed_errors,
)


def row(label, instance="box", value=500.0, basis="published", **more):
    known = {"gpu": "H100", "gpus": 4, "model": "bert", "framework": "torch", "assumed_interval": False, "level": 0.95}
    figure = {"images_per_s": value, "figure_images_per_s": value, "figure_gpus": 4.0, "interval_df": None}
    return known | figure | {"row": label, "instance": instance, "throughput_basis": basis} | more


def test_a_machine_declared_equal_to_a_predicted_one_has_its_error():
    errors = speed_errors([row(1, "twin", basis="equivalent"), row(0, "box", basis="extrapolated")])
    assert errors == {0: ("prediction", "box"), 1: ("prediction", "box")}


def test_two_predictions_and_two_devices_are_apart():
    predicted = row(0, "one", basis="extrapolated"), row(1, "other", value=510.0, basis="extrapolated")
    assert len(set(speed_errors(predicted).values())) == 2
    assumed = row(0, assumed_interval=True), row(1, "rented", value=100.0, assumed_interval=True)
    assert set(speed_errors(assumed).values()) == {("card", "H100", "torch")}
    assert len(set(speed_errors([assumed[0], row(1, gpu="A100", assumed_interval=True)]).values())) == 2


def test_four_jobs_side_by_side_are_as_slow_as_the_one_figure_behind_them():
    one = row(0, "single", value=100.0, gpus=1, figure_gpus=1.0)
    four = row(1, value=388.0, figure_images_per_s=100.0, figure_gpus=1.0)
    assert len(set(speed_errors([one, four]).values())) == 1
    assert figure_behind(four) == pytest.approx(3.88) and figure_behind(one) == 1.0
    assert figure_behind(row(0, value=1.0) | {"figure_images_per_s": 0.5}) == 2.0
    assert figure_behind(row(0) | {"figure_images_per_s": None}) == 1.0


def test_figures_are_drawn_alike_where_their_intervals_are_of_one_kind():
    def keys(basis, *freedoms):
        return [figure_key(row(0, basis=basis, interval_df=freedom)) for freedom in freedoms]

    assert len(set(keys("measured", 1.0, 2.0, 0.5, None))) == 3  # less than one is none
    assert keys("measured", 0.5) == keys("published", 2.0)  # whose interval is of no runs
    assert degrees_of_freedom(row(0, basis="measured", interval_df=2.0)) == 2
    assert figure_key(row(0)) != figure_key(row(0, level=0.9)) != figure_key(row(0, basis="arithmetic"))


def test_a_time_is_off_by_each_round_that_lies_between_it_and_the_newest_beside_it():
    assert common_errors(row(0)) == common_errors(row(0, rounds_behind=2.0, rounds_apart=0.0)) == {}
    # rounds behind are counted from the newest of all: of the third one back, beside the first
    assert tuple(common_errors(row(0, rounds_behind=3.0, rounds_apart=2.0))) == (("round", 2), ("round", 3))


def test_all_figures_by_arithmetic_are_off_by_the_readers_software():
    # of full fine-tuning, LoRA, QLoRA and pretraining 1.9, 1.5, 4 and 4: (1.9 x 1.5 x 4 x 4) ** 0.25 is 2.6
    assert common_errors(row(0, basis="arithmetic")) == {("software",): (0.4, 2.5)}


def in_rounds(**rounds):
    """Three rented machines, as fast, their speeds known but for the round of each."""
    entries = [offer(name, "on_demand", 3.0) for name in rounds]
    figures = [
        figure(name, 225.0, 1, 225.0, 225.0, gpu=name, round=f"v{9 - behind}.0", rounds_behind=behind)
        for name, behind in rounds.items()
    ]
    costs = pd.DataFrame([cost(one, 225.0, 1) | {"gpu": one["instance"]} for one in entries])
    nothing = inputs().extrapolation.iloc[:0]
    return build_options(costs, pd.DataFrame(entries), pd.DataFrame(figures), nothing, settings(reference=None))


def test_figures_of_one_old_round_are_off_together_and_those_of_the_newest_are_not():
    table = in_rounds(new=1, old=2, alike=2, oldest=3)
    assert table.set_index("instance")["rounds_apart"].to_dict() == {"new": 0, "old": 1, "alike": 1, "oldest": 2}
    rates = dict(zip(table["instance"], simulate(table, seed=1, draws=4000).images_per_s / 225.0, strict=True))
    assert (rates["new"] == 1).all() and (rates["old"] == rates["alike"]).all()
    assert [float(end) for end in interval(rates["old"])] == pytest.approx([ROUND_LOW, ROUND_HIGH], rel=0.02)
    assert np.median(rates["old"]) == pytest.approx(1.0, abs=0.01)
    assert np.corrcoef(np.log(rates["old"]), np.log(rates["oldest"]))[0, 1] == pytest.approx(0.5**0.5, abs=0.05)
    assert (simulate(in_rounds(one=2, other=2), seed=1, draws=50).images_per_s == 225.0).all()
