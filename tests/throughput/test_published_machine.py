"""What a published row says of its machine: its own columns first, names and notes only where there are none."""

import pandas as pd
import pytest
from sweetspot.study.instances import Executor, Instance, nodes_of
from sweetspot.study.study import Question
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published_machine import guessed_interconnect, with_machine_facts

COLUMNS = (
    "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,images_per_s,"
    "source,note"
)
QUESTION = Question(model=["vgg16"], batch_size=[64], precision="fp16", headline_batch_size=64)


def facts(**columns):
    row = {"gpu": "Tesla V100", "instance": "box", "framework": "tensorflow", "note": ""}
    return with_machine_facts(pd.DataFrame([row | columns])).iloc[0]


@pytest.mark.parametrize(
    ("gpu", "instance", "note", "expected"),
    [("Tesla V100-SXM3-32GB", "", "", "nvlink"), ("Tesla V100", "p3.16xlarge", "", "nvlink"),
     ("RTX 2080 Ti", "host", "XLA; NVLink", "nvlink_bridge"), ("Tesla K80", "p2.8xlarge", "", "pcie")],
)  # fmt: skip
def test_a_row_that_says_nothing_else_is_guessed_from_its_words(gpu, instance, note, expected):
    assert guessed_interconnect(gpu, instance, note) == expected
    found = facts(gpu=gpu, instance=instance, note=note)
    assert (found["interconnect"], found["interconnect_guessed"]) == (expected, True)


def test_a_stated_interconnect_is_no_guess():
    found = facts(instance="p3.16xlarge", interconnect="pcie")
    assert (found["interconnect"], found["interconnect_guessed"]) == ("pcie", False)


@pytest.mark.parametrize(
    ("columns", "compiled"),
    [
        ({"instance": "p3.16xlarge"}, False),  # the letters of "xlarge" are no compiler
        ({"instance": "3970X-GeForce_RTX_3090_XLA"}, False),
        ({"note": "variable_update=replicated; XLA; CUDA V11.1"}, True),
        ({"note": "XLA", "xla": "no"}, False),
        ({"note": "without XLA"}, False),
        ({"note": "", "xla": "yes"}, True),
        ({"framework": "jax"}, True),
    ],
)
def test_xla_is_stated_or_a_word_of_the_note_never_part_of_a_name(columns, compiled):
    assert facts(**columns)["xla"] == compiled


def test_a_row_of_several_nodes_has_their_number_only_where_it_is_stated():
    assert facts()["nodes"] == 1
    assert pd.isna(facts(instance="p2.8xlarge x N (distributed)")["nodes"])
    assert facts(instance="p2.8xlarge x N (distributed)", nodes=8)["nodes"] == 8
    assert not facts(note="--num_gpus 2 --variable_update independent")["exchange"]


def write_published(tmp_path, added, value):
    header = f"{COLUMNS},{added}\n"
    row = f"Tesla V100,box,8,tensorflow,,x,vgg16,64,fp16,default,synthetic,900,paper,,{value}\n"
    (tmp_path / "throughput.csv").write_text(header + row)
    return tmp_path / "throughput.csv"


def test_nodes_are_those_of_the_row_else_those_of_the_executor(tmp_path):
    cluster = Executor(where="slurm", device="gpu", partition="x", gpus_per_node=4)
    given = {"title": "Cluster", "provider": "own", "gpu": "Tesla V100", "gpus": 8}
    instances = {"box": Instance(**given, measure=cluster), "plain": Instance(**given)}
    assert [nodes_of(instances, "box", gpus) for gpus in (1, 4, 8)] == [1, 1, 2]  # 8 devices, 4 to a node
    assert nodes_of(instances, "plain", 8) == 1
    for value, nodes in (("", 2), ("1", 1)):
        write_published(tmp_path, "nodes", value)
        table = gather_throughput([], QUESTION, "2018-07-01", instances, tmp_path)
        assert list(table["nodes"]) == [nodes]
