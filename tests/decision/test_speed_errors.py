"""Which speeds are off together: devices, predictions, twins, jobs side by side."""

import pytest
from sweetspot.decision.speed_errors import figure_behind, speed_errors


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
