"""What a person may write, on both sides of every edge; and what stands where nothing is written."""

import math
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError
from sweetspot.errors import UserError
from sweetspot.study.arithmetic import evaluate, half_a_digit, spread
from sweetspot.study.base import validated
from sweetspot.study.bill_claims import Arithmetic, Counted, Idle, Recoup
from sweetspot.study.claims import Composition, GainAt, Price, PriceRatio
from sweetspot.study.config import Config, Exclusion, Matrix, Measure
from sweetspot.study.executors import Executor
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.instances import Instance, load_instances, nodes_of
from sweetspot.study.log_sources import LogSource, log_files
from sweetspot.study.platforms import PLATFORMS
from sweetspot.study.price_list import PriceList, check_together
from sweetspot.study.study import Question, Study, load_study
from sweetspot.study.terms import Amount, Billing, Commitment, Fee, Interruptions, Own, Sustained, Vat
from sweetspot.study.workloads import Phase, Plan, Runs, Training, load_workloads
from sweetspot.study.yamlfile import MAX_BYTES, load_yaml

SOURCE = {"source": "s"}
MATRIX = {"model": ["vgg16"], "batch_size": [16]}
CONFIG = {"study": "s", "measure_on": ["here"], "matrix": MATRIX}
SLURM = {"where": "slurm", "device": "gpu", "partition": "p"}
MACHINE = {"title": "x", "provider": "own", "gpu": "V100", "gpus": 1}
LOG = {"format": "lambda", "path": "logs", "instance": "x", **SOURCE}
CLAIM = {"id": "c", "text": "t", **SOURCE}
OF = {"of": {"instance": "x"}}
QUESTION = {"model": ["vgg16"], "batch_size": [16], "precision": "fp32", "headline_batch_size": 16}
STUDY = {"name": "s", "title": "t", "question": "q", "as_of": date(2018, 1, 1), "cells": QUESTION,
         "sources": [{"id": "a", "title": "t", "date": "2018"}]}  # fmt: skip
OWN = {"capex": 1.0, "months": 1.0, "kw": 0.0, "per_kwh": 0.0, "days_per_month": 1.0}
PLAN = {"kind": "plan", "model": "m", "instance": "x", "parallel": 1, **SOURCE}
PHASE = {"name": "p", "jobs": 1, "hours": 1.0}
PRICES = {"as_of": date(2018, 1, 1), **SOURCE}
TAKEN = {"checkpoint_s": 60.0, **SOURCE}

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
    (Own, OWN, "capex", 1e-12, 0.0),
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
    # as they stand in the records of runs made before 2026-11
    flags = "--protocol 1 --warmup-steps 2 --min-steps 5 --min-seconds 20.0 --min-steps-slow 3 --target-half-width 0.0"
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


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"where": "slurm", "device": "gpu"}, "partition"),
        ({"where": "kubernetes", "device": "gpu"}, "machine_type"),
        ({"where": "local", "device": "gpu", "gpus_per_node": 4}, "where: slurm"),
        ({**SLURM, "device": "cpu", "gpus_per_node": 2}, "gpus_per_node 1"),
    ],
)
def test_keys_of_an_executor_that_do_not_fit_are_refused(keys, words):
    with pytest.raises(ValidationError, match=words):
        Executor(**keys)


def test_devices_beyond_a_node_take_further_nodes():
    executor = Executor(**SLURM, gpus_per_node=4)
    assert [executor.nodes(gpus) for gpus in (1, 4, 8, 16)] == [1, 1, 2, 4]
    assert Executor(**{**SLURM, "device": "cpu"}, gpus_per_node=1).nodes(3) == 3
    box = {"box": Instance(**MACHINE, measure=executor), "plain": Instance(**MACHINE)}
    assert [nodes_of(box, name, 8) for name in ("box", "plain", "unknown")] == [2, 8, 1]  # a plain one has one device


def test_what_platforms_and_frameworks_can_do():
    told = {name: (row.several_nodes, row.hands_out_devices, row.cores_are_threads) for name, row in PLATFORMS.items()}
    assert told == {"local": (False,) * 3, "slurm": (True, True, False), "kubernetes": (False, False, True)}
    assert {name: row.several_devices for name, row in FRAMEWORKS.items()} == {
        "tensorflow": True, "jax": True, "torch": True, "keras-jax": False, "keras-torch": False, "command": True
    }  # fmt: skip


def test_the_batch_of_the_answer_is_one_of_those_in_the_tables():
    Study.model_validate(STUDY | {"cells": QUESTION | {"batch_size": [8, 16]}})
    with pytest.raises(ValidationError, match=r"one of cells\.batch_size"):
        Study.model_validate(STUDY | {"cells": QUESTION | {"headline_batch_size": 8}})
    own = QUESTION | {"model": ["a", "b", "c"], "batch_size": [8, 16]}
    own |= {"headline_batch_size": {"a": 16, "b": 8, "c": 8}}
    cells = Study.model_validate(STUDY | {"cells": own}).cells
    assert (cells.batches("a"), cells.headline("b"), cells.headline_words()) == ([16], 8, "8 (b, c); 16 (a)")
    with pytest.raises(ValidationError, match="one batch for each"):
        Study.model_validate(STUDY | {"cells": own | {"headline_batch_size": {"a": 16, "b": 8}}})
    plain = Question.model_validate(QUESTION | {"batch_size": [8, 16]})
    assert (plain.batches("vgg16"), plain.headline_words()) == ([8, 16], "16")


def test_a_study_is_found_by_its_folders_name(tmp_path):
    with pytest.raises(UserError, match=r"'s' does not exist; expected one of none \(no study\)"):
        load_study(tmp_path / "s")
    (tmp_path / "other").mkdir()
    text = "name: s\ntitle: t\nquestion: q\nas_of: 2018-01-01\nsources: [{id: a, title: t, date: '2018'}]\n"
    text += "cells: {model: [vgg16], batch_size: [16], precision: fp32, headline_batch_size: 16}\n"
    (tmp_path / "other" / "study.yaml").write_text(text)
    with pytest.raises(UserError, match="key 'name' is 's'; expected the folder's name 'other'"):
        load_study(tmp_path / "other")
    (tmp_path / "other").rename(tmp_path / "s")
    assert load_study(tmp_path / "s").cells.model == ["vgg16"]
    with pytest.raises(UserError, match=r"'t' does not exist; expected one of s$"):
        load_study(tmp_path / "t")


def listed(*offers, **keys):
    prices = PriceList.model_validate({**PRICES, **keys, "offers": list(offers)})
    check_together(prices, "list.yaml")


def test_offers_that_do_not_go_together_are_refused():
    one = {"instance": "x", "per_hour": 1.0}
    listed(one, {"instance": "x", "purchase": "spot", "per_hour": 1.0})
    with pytest.raises(UserError, match=r"offers\[1\] offers 'x' on_demand a second time"):
        listed(one, one)
    same = {"instance": "y", "same_price_as": "x"}
    listed(one, same)
    with pytest.raises(UserError, match=r"offers\[1\]\.same_price_as is 'x'"):
        listed(one | {"purchase": "spot"}, same)
    with pytest.raises(UserError, match=r"offers\[2\]\.same_price_as is 'y'"):  # its price is another's
        listed(one, same, {"instance": "z", "same_price_as": "y"})
    with pytest.raises(UserError, match="in EUR; expected a dated rate"):
        listed(one | {"currency": "EUR"})
    own = {"instance": "x", "purchase": "own", "own": OWN | {"days_per_month": 31.0}}
    listed(own)
    for days in (31.1, {"value": 30.0, "high": 32.0}):
        with pytest.raises(UserError, match="expected at most 31"):
            listed(own | {"own": OWN | {"days_per_month": days}})
    with pytest.raises(UserError, match=r"is used 31\.5 days"):
        listed(one, days_per_month=31.5)
    deal = {"instance": "x", "purchase": "reserved", "commitment": {"term_months": 12.0, "per_month": 1.0}}
    listed(deal, project_months=12.0)
    with pytest.raises(UserError, match=r"term_months is 12; expected at most project_months 11\.5"):
        listed(deal, project_months=11.5)


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        ({"per_hour": 1.0, "per_day": 1.0}, "exactly one price, found per_hour, per_day"),
        ({}, "exactly one price, found none"),
        ({"commitment": {"term_months": 1.0, "per_hour": 1.0}}, "purchase reserved or committed"),
        ({"own": OWN}, "purchase own for a price of kind own"),
        ({"purchase": "own", "per_hour": 1.0}, "key own for purchase own"),
        ({"per_hour": 1.0, "interruptions": TAKEN | {"per_hour": 1.0}}, "interruptions only for spot"),
    ],
)
def test_an_offer_has_one_price_that_goes_with_its_purchase(offer, words):
    with pytest.raises(ValidationError, match=words):
        listed({"instance": "x", **offer})


def test_what_a_log_does_not_say_must_be_stated():
    for kind, needed in {
        "tf_cnn_benchmarks": {"precision": "fp32"},
        "keras_csv": {"framework": "f", "model": "m", "batch_size": 1, "precision": "fp32", "samples_per_epoch": 1},
        "dawnbench": {"gpus": 1, "batch_size": 1, "precision": "fp32", "samples_per_epoch": 1},
        "mlperf": {"framework": "f", "model": "m", "gpus": 1, "precision": "fp32"},
    }.items():
        source = LogSource.model_validate(LOG | {"format": kind} | needed)
        assert source.counted == ("samples" if kind == "keras_csv" else "images")
        for name in needed:
            lacking = {key: value for key, value in needed.items() if key != name}
            with pytest.raises(ValidationError, match=f"'{name}' to be given too"):
                LogSource.model_validate(LOG | {"format": kind} | lacking)
    assert LogSource.model_validate(LOG | {"unit": "samples"}).counted == "samples"


def test_the_files_of_the_logs_are_what_a_rule_depends_on(tmp_path):
    (tmp_path / "logs" / "a" / "b" / "throughput").mkdir(parents=True)
    (tmp_path / "logs" / "a" / "b" / "throughput" / "run.txt").touch()
    entry = {"path": "e.json", "gpus": 1, "batch_size": 1, "precision": "fp32", "samples_per_epoch": 1}
    plain = {"format": "tf_cnn_benchmarks", "path": "x.log", "precision": "fp32"}
    sources = [LogSource.model_validate(LOG | keys) for keys in ({}, {"format": "dawnbench"} | entry, plain)]
    found = [str(Path(file).relative_to(tmp_path)) for file in log_files(sources, tmp_path)]
    assert found == ["e.json", "e.tsv", "logs/a/b/throughput/run.txt", "x.log"]


def test_instances_of_several_files_are_declared_once_and_name_each_other(tmp_path):
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    machine = "{title: x, provider: own, gpu: V100, gpus: 1"
    one.write_text(f"a: {machine}}}\n")
    other.write_text(f"b: {machine}, base_instance: a}}\n")
    assert list(load_instances(one, other)) == ["a", "b"]
    with pytest.raises(UserError, match="instance 'a' is declared in another file too"):
        load_instances(one, one)
    with pytest.raises(UserError, match=r"b\.base_instance is 'a'"):
        load_instances(other)
    one.write_text("- a\n")
    with pytest.raises(UserError, match="found list; expected a mapping"):
        load_instances(one)


def test_workloads_come_in_the_order_of_the_file(tmp_path):
    file = tmp_path / "workloads.yaml"
    file.write_text(
        "b: {kind: runs, runs: 2, hours: 1.5, source: s}\na: {kind: training, model: m, samples: 5.0, source: s}\n"
    )
    found = load_workloads(file)
    assert list(found) == ["b", "a"]
    assert (found["b"].runs, found["b"].hours, found["a"].samples) == (2, 1.5, 5)


def test_yaml_is_read_up_to_two_megabytes_and_faults_are_named_by_line(tmp_path):
    assert MAX_BYTES == 2_000_000
    file = tmp_path / "x.yaml"
    file.write_text("a: 1\n#" + "x" * (MAX_BYTES - 6))
    assert file.stat().st_size == MAX_BYTES
    assert load_yaml(file) == {"a": 1}
    file.write_text("a: 1\n#" + "x" * (MAX_BYTES - 5))
    with pytest.raises(UserError, match="2000001 bytes"):
        load_yaml(file)
    for text, words in (
        ("a: 1\nb: 2\nb: 3\n", "line 3: key 'b' stands twice"),
        ("a: 1\n2: 3\n", "line 2: key 2 is not"),
        ("a: &x 1\nb: *x\n", "line 2: aliases"),
        ("# only\n", "the file is empty"),
    ):
        file.write_text(text)
        with pytest.raises(UserError, match=words):
            load_yaml(file)
    file.write_bytes(b"ab\xff")
    with pytest.raises(UserError, match="byte 2 is not UTF-8"):
        load_yaml(file)
    file.write_text("0")
    assert load_yaml(file) == 0


def test_a_mistake_shows_at_most_eighty_letters_of_the_value():
    for length, shown in ((78, "'" + "y" * 78 + "'"), (79, "'" + "y" * 76 + "...")):
        with pytest.raises(UserError) as caught:
            validated(Exclusion, {"precision": "y" * length}, "f.yaml")
        assert f"key 'precision' is {shown}; expected" in str(caught.value)
    with pytest.raises(UserError, match=r"f.yaml: key 'matrix\.model\[1\]' is 7"):
        validated(Config, CONFIG | {"matrix": MATRIX | {"model": ["a", 7]}}, "f.yaml")
    with pytest.raises(UserError, match="key 'study' is missing"):
        validated(Config, {"measure_on": [], "matrix": MATRIX}, "f.yaml")
    with pytest.raises(UserError, match="found list; expected a mapping"):
        validated(Config, [], "f.yaml")
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


def test_devices_fill_the_nodes_of_a_declared_cluster_one_after_the_other():
    cluster = {"c": Instance(title="c", provider="own", gpu="a card", gpus=32, nodes=4)}
    assert [nodes_of(cluster, "c", gpus) for gpus in (1, 8, 9, 16, 17, 32)] == [1, 1, 2, 2, 3, 4]
    assert nodes_of(cluster, "elsewhere", 32) == 1


def test_a_key_that_is_a_list_is_named_as_it_stands(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("? [a, b]\n: 1\n")
    with pytest.raises(UserError, match=r"key \['a', 'b'\] is not text; put it in quotes"):
        load_yaml(file)
