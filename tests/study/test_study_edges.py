"""What a person may write, on both sides of every edge; and what stands where nothing is written."""

import math

import pytest
from pydantic import ValidationError
from study_entries import (
    CLAIM,
    CONFIG,
    LOG,
    MACHINE,
    MATRIX,
    OF,
    OWN,
    PHASE,
    PLAN,
    PRICES,
    QUESTION,
    SOURCE,
    STUDY,
    TAKEN,
)
from sweetspot.errors import UserError
from sweetspot.study.base import validated
from sweetspot.study.claims import (
    Arithmetic,
    Composition,
    Counted,
    GainAt,
    Idle,
    Price,
    PriceRatio,
    Recoup,
    evaluate,
    half_a_digit,
    spread,
)
from sweetspot.study.config import Config, Exclusion, Matrix, Measure
from sweetspot.study.instances import Executor, Instance
from sweetspot.study.log_sources import LogSource
from sweetspot.study.price_list import PriceList
from sweetspot.study.study import Question, Study
from sweetspot.study.terms import Amount, Billing, Commitment, Fee, Interruptions, Own, Sustained, Vat
from sweetspot.study.workloads import Phase, Plan, Runs, Training

# Model, what else it needs, the key, the last value that is taken and the first that is not.
EDGES = [
    (Matrix, {"model": ["m"]}, "batch_size", [1], [0]),
    (Matrix, {"model": ["m"]}, "batch_size", [100_000], [100_001]),
    (Matrix, {"batch_size": [1]}, "model", ["m"], []),
    (Matrix, {"model": ["m"]}, "batch_size", [1], []),
    (Matrix, MATRIX, "gpus", [4096], [4097]),
    (Matrix, MATRIX, "gpus", [1], [0]),
    (Matrix, MATRIX, "gpus", [1], [True]),
    (Matrix, MATRIX, "precision", ["bf16"], []),
    (Matrix, MATRIX, "variant", ["A"], []),
    (Matrix, MATRIX, "framework", ["jax"], []),
    (Config, CONFIG, "runs", 100, 101),
    (Config, CONFIG, "runs", 1, 0),
    (Config, CONFIG, "runs", 2, 2.0),
    (Measure, {}, "min_seconds", 86_400, 86_401),
    (Measure, {}, "min_seconds", 1e-9, 0),
    (Measure, {}, "target_half_width", 0.999, 1),
    (Measure, {}, "target_half_width", 0, -0.001),
    (Measure, {}, "estimate_minutes", 1e-9, 0),
    (Measure, {}, "estimate_minutes", 9.99e8, 1e9),
    (Measure, {}, "budget_minutes", 1e-9, 0),
    (Measure, {}, "protocol", 1, 0),
    (Measure, {}, "protocol", 1, 1.0),
    (Instance, MACHINE, "gpus", 4096, 4097),
    (Instance, MACHINE, "gpus", 1, 0),
    (Instance, MACHINE, "memory_gib", 1e-9, 0),
    (Instance, MACHINE, "title", "x" * 4000, "x" * 4001),
    (Instance, MACHINE, "title", "x", ""),
    (Instance, MACHINE, "provider", "x" * 64, "x" * 65),
    (LogSource, LOG, "gpus", 100_000, 100_001),
    (LogSource, LOG, "gpus", 1, 0),
    (LogSource, LOG, "samples_per_epoch", 1, 0),
    (LogSource, LOG, "path", "a/b", "a/../b"),
    (LogSource, LOG, "path", "a/b", "/a/b"),
    (LogSource, LOG, "path", "a", ""),
    (Question, QUESTION, "model", ["m"], []),
    (Question, QUESTION, "batch_size", [1], []),
    (Study, STUDY, "month_days", 27.001, 27),
    (Study, STUDY, "month_days", 31.999, 32),
    (Study, STUDY, "seed", 0, -1),
    (Study, STUDY, "seed", 1, 1.0),
    (Study, STUDY, "sources", STUDY["sources"], []),
    (Training, {"kind": "training", "model": "m", **SOURCE}, "samples", 1e-12, 0.0),
    (Training, {"kind": "training", "model": "m", **SOURCE}, "samples", 1e18, 1.1e18),
    (Runs, {"kind": "runs", "hours": 1.0, **SOURCE}, "runs", 100_000, 100_001),
    (Plan, PLAN, "phases", [PHASE], []),
    (Phase, PHASE, "jobs", 1, 0),
    (PriceList, PRICES, "offers", [{"instance": "x", "per_hour": 1.0}], []),
    (PriceList, PRICES | {"offers": [{"instance": "x", "per_hour": 1.0}]}, "month_days", 27.5, 27),
    (PriceList, PRICES | {"offers": [{"instance": "x", "per_hour": 1.0}]}, "month_days", 31.5, 32),
    (Amount, {}, "value", 1e12, 1.1e12),
    (Amount, {}, "value", -1e12, -1.1e12),
    (Amount, {"value": 1.0}, "low", 1.0, 1.001),
    (Amount, {"value": 1.0}, "high", 1.0, 0.999),
    (Vat, {"included": True}, "rate", 1.0, 1.001),
    (Vat, {"included": True}, "rate", 0.0, -0.001),
    (Own, OWN, "capex", 0.0, -1e-12),  # 0: it is there already
    (Own, OWN, "months", 600.0, 600.1),
    (Own, OWN, "per_kwh", 0.0, -0.1),
    (Own, OWN, "residual", 0.0, -0.1),
    (Commitment, {"per_month": 1.0}, "term_months", 600.0, 601.0),
    (Commitment, {"per_month": 1.0}, "term_months", {"value": 600.0, "low": 1.0}, {"value": 600.0, "high": 601.0}),
    (Interruptions, TAKEN, "per_hour", 0.0, -1.0),
    (Interruptions, TAKEN, "per_hour", 119.9, 120.0),  # x 60 s a checkpoint: two hours, an hour's twice
    (Billing, {}, "granularity_s", 0.001, 0.0009),
    (Billing, {}, "minimum_s", 0.0, -0.1),
    (Billing, {"granularity": "hour"}, "granularity_s", None, 60.0),
    (Fee, {"name": "f", "per_month": 1.0}, "per_hour", None, 1.0),
    (Fee, {"name": "f"}, "per_start", 1.0, None),
    (Sustained, {}, "tiers", [[0.5, 1.0], [1.0, 0.5]], [[0.5, 1.0], [0.5, 0.9], [1.0, 0.5]]),
    (Sustained, {}, "tiers", [[1.0, 0.0]], [[0.9, 0.0]]),
    (Sustained, {}, "tiers", [[0.001, 1.0], [1.0, 0.5]], [[0.0, 1.0], [1.0, 0.5]]),
    (Price, {**CLAIM, "kind": "price", **OF}, "hours", 0.001, 0),
    (Price, {**CLAIM, "kind": "price", **OF}, "tolerance", 0, -0.1),
    (Price, {**CLAIM, "kind": "price", **OF}, "rounded_inputs", ["1.06"], ["0.00"]),
    (GainAt, {**CLAIM, "kind": "gain_at", "against": {}}, "days", 31, 31.1),
    (GainAt, {**CLAIM, "kind": "gain_at", "against": {}}, "days", 0.001, 0),
    (Idle, {**CLAIM, "kind": "idle", **OF, "workload": "w"}, "utilisation", 1, 1.01),
    (Idle, {**CLAIM, "kind": "idle", **OF, "workload": "w"}, "utilisation", 0.001, 0),
    (Recoup, {**CLAIM, "kind": "recoup", **OF, "against": {}}, "hours_per_day", 24, 24.1),
    (Arithmetic, {**CLAIM, "kind": "arithmetic"}, "expression", "1" * 200, "1" * 201),
    (Counted, {**CLAIM, "kind": "counted"}, "expressions", {"a": "1"}, {}),
    (Composition, {**CLAIM, "kind": "composition", "siblings": [[1, 1.0]], "cards": 0, "usd_per_card_hour": 0.0},
     "vcpus", 1, 0),
]  # fmt: skip


@pytest.mark.parametrize(("model", "rest", "key", "last", "first"), EDGES, ids=lambda value: str(value)[:24])
def test_the_edge_of_what_is_taken(model, rest, key, last, first):
    model.model_validate({**rest, key: last})
    with pytest.raises(ValidationError):
        model.model_validate({**rest, key: first})


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
    assert (study.month_days, study.method, study.measure, study.accepts_interruptions) == (30.5, "auto", True, False)
    assert study.seed == 2018
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
    claim = Price.model_validate({**CLAIM, "kind": "price", **OF})
    assert (claim.hours, claim.tolerance, claim.checkable, claim.relation) == (1, 0, True, "equals")
    ratio = PriceRatio.model_validate({**CLAIM, "kind": "price_ratio", **OF, "to": {}})
    assert (ratio.as_discount, ratio.percent) == (False, False)
    idle = Idle.model_validate({**CLAIM, "kind": "idle", **OF, "workload": "w", "utilisation": 0.5})
    assert (idle.cards, idle.cards_used) == (1, None)
    counted = Counted.model_validate({**CLAIM, "kind": "counted", "expressions": {"a": "1"}})
    assert counted.above == 1
    assert Recoup.model_validate({**CLAIM, "kind": "recoup", **OF, "against": {}}).hours_per_day == 24


def test_a_measurement_is_its_flags_in_a_fixed_order():
    # as they stand in the records of runs of protocol 2
    flags = "--protocol 2 --warmup-steps 2 --min-steps 5 --min-seconds 20.0 --least-seconds 2.0"
    flags += " --least-seconds-power 10.0 --min-steps-slow 3 --target-half-width 0.0"
    assert Measure().flags() == f"{flags} --time-limit-s 1800 --no-xla"
    other = Measure(xla=True, time_limit_s=60, budget_minutes=5, estimate_minutes=9, checkpoints={"vgg16": "file"})
    assert other.flags() == f"{flags} --time-limit-s 1800 --xla"
    assert (Measure().limit_flag(), other.limit_flag()) == ("", "--time-limit-s 60")
    with pytest.raises(ValidationError, match="usd_per_hour"):
        Measure(budget_usd=1)
    assert Measure(budget_usd=1, usd_per_hour={"here": 1}).estimate_minutes == 3


@pytest.mark.parametrize(("text", "number"), [("16", 16), ("100000", 100_000)])
def test_a_count_may_come_as_text_from_the_command_line(text, number):
    assert Exclusion(batch_size=text).batch_size == number


@pytest.mark.parametrize("text", ["016", "1.5", "-1", "", "1e3"])
def test_text_that_is_no_count_is_refused(text):
    with pytest.raises(ValidationError):
        Exclusion(batch_size=text)


def test_no_budget_may_come_as_text():
    assert Measure(budget_minutes="null").budget_minutes is None
    assert Measure(budget_minutes="~").budget_minutes is None


def test_a_mistake_within_a_list_is_named_and_values_do_not_change():
    with pytest.raises(UserError, match=r"f.yaml: key 'matrix\.model\[1\]' is 7"):
        validated(Config, CONFIG | {"matrix": MATRIX | {"model": ["a", 7]}}, "f.yaml")
    with pytest.raises(ValidationError):
        Measure().protocol = 2
    with pytest.raises(ValidationError):
        Amount(value=math.inf)


def test_printed_numbers_by_their_rounding():
    assert [half_a_digit(text) for text in ("1.06", "3.0", "167")] == pytest.approx([0.005, 0.05, 0.5])
    assert evaluate("1 - 2 * 3 / 4 + -5") == pytest.approx(-5.5)
    assert spread("~2.0 * ~3") == pytest.approx((6, 1.95 * 2.5, 2.05 * 3.5))
    assert spread("~2.0 - ~3") == pytest.approx((-1, 1.95 - 3.5, 2.05 - 2.5))
    assert spread("-~2.0 / ~4") == pytest.approx((-0.5, -2.05 / 3.5, -1.95 / 4.5))
    for text in ("1 / (~1 - 0.5)", "1 / (0.5 - ~1)", "1 / (~1 - ~1)"):  # the range of the divisor touches or holds 0
        with pytest.raises(ValueError, match="numbers with"):
            spread(text)
    assert spread("1 / (~1 - 0.4)").high == pytest.approx(10)
