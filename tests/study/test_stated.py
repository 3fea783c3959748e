"""What must be stated, what stands where nothing is written, and how what is written is read."""

import math

import pytest
from pydantic import ValidationError
from study_entries import CLAIM, CONFIG, LOG, OWN, STUDY, TAKEN
from sweetspot.study.claims import Claim
from sweetspot.study.config import Config, Measure
from sweetspot.study.instances import Executor
from sweetspot.study.price_list import RATE_HOURS
from sweetspot.study.study import LogSource, Study
from sweetspot.study.terms import Amount, Billing, Commitment, Fee, Interruptions, Own, Vat


def test_what_a_log_does_not_say_must_be_stated():
    bare = {key: value for key, value in LOG.items() if key != "precision"}
    for kind, needed in {
        "tf_cnn_benchmarks": {"precision": "fp32"},
        "keras_csv": {"framework": "f", "model": "m", "batch_size": 1, "precision": "fp32", "samples_per_epoch": 1},
    }.items():
        source = LogSource.model_validate(bare | {"format": kind} | needed)
        assert source.counted == ("samples" if kind == "keras_csv" else "images")
        for name in needed:
            lacking = {key: value for key, value in needed.items() if key != name}
            with pytest.raises(ValidationError, match=f"'{name}' to be given too"):
                LogSource.model_validate(bare | {"format": kind} | lacking)
    assert LogSource.model_validate(LOG | {"unit": "samples"}).counted == "samples"


def test_what_stands_where_nothing_is_written():
    config = Config.model_validate(CONFIG)
    assert (config.runs, config.exclude, config.measure) == (2, [], Measure())
    assert config.matrix.model_dump() == {
        "model": ["vgg16"], "batch_size": [16], "gpus": [1], "precision": ["fp32"], "variant": ["default"],
        "framework": ["tensorflow"],
    }  # fmt: skip
    executor = Executor(where="local", device="cpu")
    assert (executor.cpus, executor.mem_mb, executor.runtime_min, executor.nodes(8)) == (1, 8000, 60, 1)
    study = Study.model_validate(STUDY)
    assert (study.month_days, study.method) == (30.5, "sum_of_parts")
    assert (study.measure, study.accepts_interruptions) == (True, False)
    # 60 minutes are an hour; of a month the study says the days
    assert list(RATE_HOURS.values()) == [1 / 60, 1, None]
    own = Own.model_validate(OWN)
    assert (own.boxes, own.downtime_share, own.discount_rate) == (1, 0, 0)
    assert [own.residual.value, own.load_share.value, own.pue.value, own.staff_per_hour.value] == [0, 1, 1, 0]
    assert Vat(rate=0.2, included=True).reclaimed
    assert (Fee(name="f", per_hour=1.0).count.value, Billing().minimum_s, Billing().prorated) == (1, 0, True)
    assert [Billing().setup.value, Billing().monthly.value, Billing().monthly_minimum.value] == [0, 0, 0]
    deal = Commitment(term_months=1.0, upfront=1.0)
    assert [deal.per_month.value, deal.per_hour.value, deal.charged] == [0, 0, "always"]
    taken = Interruptions(per_hour=0.0, **TAKEN)
    assert (taken.restore_s.value, taken.wait_s.value, taken.every_s) == (0, 0, None)
    claim = Claim.model_validate(CLAIM)
    assert (claim.value, claim.let, claim.models, claim.borrowed_from, claim.printed) == (None, {}, [], [], None)
    assert (claim.tolerance, claim.checkable, claim.lead, claim.relation) == (0, True, False, "equals")


def test_a_measurement_is_its_flags_in_a_fixed_order():
    # as they stand in the records of runs of protocol 2
    flags = "--protocol 2 --warmup-steps 2 --min-steps 5 --min-seconds 20.0 --least-seconds 2.0"
    flags += " --least-seconds-power 10.0 --min-steps-slow 3 --target-half-width 0.0"
    assert Measure().flags() == f"{flags} --time-limit-s 1800 --no-xla"
    other = Measure(xla=True, time_limit_s=60, budget_minutes=5, estimate_minutes=9)
    assert other.flags() == f"{flags} --time-limit-s 1800 --xla"
    assert (Measure().limit_flag(), other.limit_flag()) == ("", "--time-limit-s 60")
    assert (Measure().estimate_minutes, Measure(budget_minutes="null").budget_minutes) == (3, None)


def test_values_do_not_change_and_are_finite():
    with pytest.raises(ValidationError):
        Measure().protocol = 2
    with pytest.raises(ValidationError):
        Amount(value=math.inf)
