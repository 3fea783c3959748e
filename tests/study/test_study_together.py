"""What the files of a study say together: entries that fit each other, and the files that they name."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from study_entries import LOG, MACHINE, OWN, PRICES, QUESTION, SLURM, STUDY, TAKEN
from sweetspot.errors import UserError
from sweetspot.study.frameworks import FRAMEWORKS
from sweetspot.study.instances import Executor, Instance, load_instances, nodes_of
from sweetspot.study.log_sources import LogSource, log_files
from sweetspot.study.platforms import PLATFORMS
from sweetspot.study.price_list import PriceList, check_together
from sweetspot.study.study import Question, Study, load_study
from sweetspot.study.workloads import load_workloads
from sweetspot.study.yamlfile import MAX_BYTES, load_yaml


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"where": "slurm", "device": "gpu"}, "partition"),
        ({"where": "kubernetes", "device": "gpu"}, "machine_type"),
        ({"where": "google-batch", "device": "gpu"}, "machine_type"),
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
    assert told == {
        "local": (False,) * 3, "slurm": (True, True, False), "kubernetes": (False, False, True),
        "aws-batch": (False, False, True), "google-batch": (False,) * 3,
    }  # fmt: skip
    assert list(FRAMEWORKS) == ["tensorflow", "jax", "torch", "command"]


def test_the_batch_of_the_answer_is_one_of_those_in_the_tables():
    Study.model_validate(STUDY | {"cells": QUESTION | {"batch_size": [8, 16]}})
    with pytest.raises(ValidationError, match=r"one of cells\.batch_size"):
        Study.model_validate(STUDY | {"cells": QUESTION | {"headline_batch_size": 8}})
    own = QUESTION | {"model": ["a", "b", "c"], "batch_size": [8, 16]}
    own |= {"headline_batch_size": {"a": 16, "b": 8, "c": 8}}
    cells = Study.model_validate(STUDY | {"cells": own}).cells
    assert (cells.batches("a"), cells.headline("b")) == ([16], 8)
    with pytest.raises(ValidationError, match="one batch for each"):
        Study.model_validate(STUDY | {"cells": own | {"headline_batch_size": {"a": 16, "b": 8}}})
    plain = Question.model_validate(QUESTION | {"batch_size": [8, 16]})
    assert plain.batches("vgg16") == [8, 16]


def test_a_study_is_found_by_its_folders_name(tmp_path):
    with pytest.raises(UserError, match=f"'s' does not exist: no study lies in {tmp_path}"):
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


def test_yaml_is_read_up_to_two_megabytes(tmp_path):
    assert MAX_BYTES == 2_000_000
    file = tmp_path / "x.yaml"
    file.write_text("a: 1\n#" + "x" * (MAX_BYTES - 6))
    assert file.stat().st_size == MAX_BYTES
    assert load_yaml(file) == {"a": 1}
    file.write_text("a: 1\n#" + "x" * (MAX_BYTES - 5))
    with pytest.raises(UserError, match="2000001 bytes"):
        load_yaml(file)
    file.write_text("# only\n")
    with pytest.raises(UserError, match="the file is empty"):
        load_yaml(file)
    file.write_text("0")
    assert load_yaml(file) == 0


def test_devices_fill_the_nodes_of_a_declared_cluster_one_after_the_other():
    cluster = {"c": Instance(title="c", provider="own", gpu="a card", gpus=32, nodes=4)}
    assert [nodes_of(cluster, "c", gpus) for gpus in (1, 8, 9, 16, 17, 32)] == [1, 1, 2, 2, 3, 4]
    assert nodes_of(cluster, "elsewhere", 32) == 1


def test_a_key_that_is_a_list_is_named_as_it_stands(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("? [a, b]\n: 1\n")
    with pytest.raises(UserError, match=r"key \['a', 'b'\] is not text; put it in quotes"):
        load_yaml(file)
