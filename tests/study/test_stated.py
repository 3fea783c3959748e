"""What must be stated, what stands where nothing is written, and how what is written is read."""

import pytest
from pydantic import ValidationError
from study_entries import LOG
from sweetspot.study.config import Measure
from sweetspot.study.study import LogSource


def test_what_a_log_does_not_say_must_be_stated():
    bare = {key: value for key, value in LOG.items() if key != "precision"}
    for kind, needed in {
        "tf_cnn_benchmarks": {"precision": "fp32"},
        "keras_csv": {"framework": "f", "model": "m", "batch_size": 1, "precision": "fp32", "samples_per_epoch": 1},
    }.items():
        source = LogSource.model_validate(bare | {"format": kind} | needed)
        assert source.unit == ("samples" if kind == "keras_csv" else "images")
        for name in needed:
            lacking = {key: value for key, value in needed.items() if key != name}
            with pytest.raises(ValidationError, match=f"'{name}' to be given too"):
                LogSource.model_validate(bare | {"format": kind} | lacking)


def test_a_measurement_is_its_flags_in_a_fixed_order():
    # as they stand in the records of runs of protocol 2
    flags = "--protocol 2 --warmup-steps 2 --min-steps 5 --min-seconds 20.0 --least-seconds 2.0"
    flags += " --least-seconds-power 10.0 --min-steps-slow 3 --target-half-width 0.0"
    assert Measure().flags() == f"{flags} --time-limit-s 1800 --no-xla"
    other = Measure(xla=True, time_limit_s=60, budget_minutes=5)
    assert other.flags() == f"{flags} --time-limit-s 1800 --xla"
    assert (Measure().limit_flag(), other.limit_flag()) == ("", "--time-limit-s 60")
    assert Measure(budget_minutes="null").budget_minutes is None
