"""What a published row says of its machine: its own columns first, names and notes only where there are none."""

import pandas as pd
import pytest
from sweetspot.throughput.published import guessed_interconnect, with_machine_facts


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
