"""A figure that a person timed outside the workflow: basis `own`, between measured and published."""

import pandas as pd
import pytest
from run_files import CELL, write_run
from sweetspot.cells import BASES, CELL_COLUMNS, weakest
from sweetspot.report.notation import SHOWN
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.study.instances import load_instances
from sweetspot.study.study import Question
from sweetspot.throughput.best import best_figures
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import read_efficiency

HEAD = (
    "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,"
    "images_per_s,source,note\n"
)
INSTANCES = """
one: {title: One device, provider: own, gpu: RTX 4090, gpus: 1}
four: {title: Four devices, provider: own, gpu: RTX 4090, gpus: 4, base_instance: one}
more: {title: Four others, provider: own, gpu: RTX 4090, gpus: 4, base_instance: one}
twin: {title: The same elsewhere, provider: cloud, gpu: RTX 4090, gpus: 1, equivalent_to: one}
"""
EFFICIENCY = """base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source
one,more,4,resnet50,64,fp16,default,0.9,somebody
"""
QUESTION = Question(model=["resnet50"], batch_size=[64], precision="fp16", headline_batch_size=64)


def row(instance, gpus, benchmark, rate):
    return f"RTX 4090,{instance},{gpus},tensorflow,2.15,{benchmark},resnet50,64,fp16,default,synthetic,{rate},us,\n"


def gathered(folder, *rows, runs=()):
    (folder / "instances.yaml").write_text(INSTANCES)
    (folder / "efficiency.csv").write_text(EFFICIENCY)
    (folder / "throughput.csv").write_text(HEAD + "".join(rows))
    instances = load_instances(folder / "instances.yaml")
    return gather_throughput(runs, QUESTION, "2026-01-01", instances, folder), instances


def test_a_row_of_ones_own_is_called_so_and_what_is_made_of_it_by_its_weakest_part(tmp_path):
    table, _ = gathered(tmp_path, row("one", 1, "own", 1000), row("four", 4, "Own", 3400))
    found = table.set_index("instance")["basis"].to_dict()
    assert found == {"one": "own", "four": "own", "twin": "equivalent", "more": "scaled"}
    other, _ = gathered(tmp_path, row("one", 1, "tf_cnn_benchmarks", 1000))
    assert other.set_index("instance").loc["one", "basis"] == "published"


def test_ones_own_stands_between_measured_and_published():
    assert BASES[:3] == ("measured", "own", "published")
    assert (weakest("measured", "own"), weakest("own", "published")) == ("own", "published")
    rows = pd.DataFrame({"basis": ["published", "own", "measured"], "images_per_s": [3.0, 2.0, 1.0], "at": [1, 1, 1]})
    assert best_figures(rows, ["at"])["images_per_s"].tolist() == [1.0]
    assert best_figures(rows[rows["basis"] != "measured"], ["at"])["images_per_s"].tolist() == [2.0]


def test_where_the_workflow_timed_the_same_cell_its_figure_stays(tmp_path):
    """A cell of both: 1,000 by hand, and a run file of this workflow with another speed."""
    cell = CELL._replace(instance="one", model="resnet50", batch_size=64, gpus=1, precision="fp16")
    run = write_run(tmp_path / "runs", cell=cell)
    table, _ = gathered(tmp_path, row("one", 1, "own", 1000), runs=[str(run)])
    same = table[(table[list(CELL_COLUMNS)] == list(cell)).all(axis=1)]
    assert same["basis"].tolist() == ["measured"]
    assert same["images_per_s"].iloc[0] != 1000


def test_two_of_ones_own_are_evidence_of_scaling(tmp_path):
    """3,400 of four devices and 1,000 of one: 0.85."""
    table, instances = gathered(tmp_path, row("one", 1, "own", 1000), row("four", 4, "own", 3400))
    pairs = study_efficiency(table, read_efficiency(tmp_path / "efficiency.csv"), instances).set_index("instance")
    assert pairs.loc["four", "efficiency"] == pytest.approx(0.85)
    assert pairs.loc["four", "basis"] == "own"


def test_every_basis_has_a_sign_a_meaning_a_shape_and_a_word_of_its_own():
    assert list(SHOWN) == list(BASES)
    assert all(len({getattr(one, told) for one in SHOWN.values()}) == len(BASES) for told in ("sign", "meaning"))
