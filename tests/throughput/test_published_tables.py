"""Published tables: which line is named, which values are still possible, and what a study makes of their rows."""

import pandas as pd
import pytest
from run_files import CELL, rules_of, write_run
from sweetspot.cells import BASES, CELL_COLUMNS, weakest
from sweetspot.errors import UserError
from sweetspot.scaling.evidence import study_efficiency
from sweetspot.study.instances import Executor, Instance, nodes_of
from sweetspot.study.study import StudyCells
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.published import GAP, against_published, read_efficiency

COLUMNS = (
    "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,images_per_s,"
    "source,note"
)
ADDED = {"nodes": "", "interconnect": "", "as_of": "", "images_per_s_low": "", "images_per_s_high": ""}
SCALES = "base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source"
QUESTION = StudyCells(model=["vgg16"], batch_size=[64], precision="fp16", headline_batch_size=64)
OWN = StudyCells(model=["vgg16"], batch_size=[64], precision="fp16", headline_batch_size="own")
MACHINE = {"title": "x", "provider": "own", "gpu": "Tesla V100"}
MACHINES = {
    "one": Instance(**MACHINE, gpus=1), "eight": Instance(**MACHINE, gpus=8, base_instance="one"),
    "twin": Instance(**MACHINE, gpus=1, equivalent_to="one"), "more": Instance(**MACHINE, gpus=8, base_instance="one"),
}  # fmt: skip


def row(instance="one", gpus=1, **more):
    given = {"gpu": "Tesla V100", "instance": instance, "gpus": gpus, "framework": "tensorflow", "model": "vgg16",
             "framework_version": "", "benchmark": "x", "batch_size": 64, "precision": "fp16", "variant": "default",
             "dataset": "synthetic", "images_per_s": 100, "source": "paper", "note": ""} | ADDED  # fmt: skip
    return {**given, **more}


def published(folder, *rows):
    pd.DataFrame(list(rows))[[*COLUMNS.split(","), *ADDED]].to_csv(folder / "throughput.csv", index=False)
    return folder / "throughput.csv"


def gathered(folder, *rows, efficiency=(), question=QUESTION, runs=()):
    published(folder, *rows)
    (folder / "efficiency.csv").write_text("\n".join([SCALES, *efficiency, ""]))
    return gather_throughput(runs, question, "2018-07-01", MACHINES, folder)


def test_a_row_of_ones_own_is_called_so_and_what_is_made_of_it_by_its_weakest_part(tmp_path):
    assert BASES[:3] == ("measured", "own", "published")
    assert (weakest("measured", "own"), weakest("own", "published")) == ("own", "published")
    rows = row(benchmark="own"), row("eight", 8, benchmark="Own", images_per_s=700)
    table = gathered(tmp_path, *rows, efficiency=["one,more,8,vgg16,64,fp16,default,0.9,somebody"])
    found = table.set_index("instance")["basis"].to_dict()
    assert found == {"one": "own", "eight": "own", "twin": "equivalent", "more": "scaled"}
    # two of one's own are evidence of scaling: 700 of eight devices and 100 of one
    pairs = study_efficiency(table, read_efficiency(tmp_path / "efficiency.csv"), MACHINES).set_index("instance")
    assert pairs.loc["eight", ["efficiency", "basis"]].tolist() == [pytest.approx(0.875), "own"]
    assert gathered(tmp_path, row()).set_index("instance").loc["one", "basis"] == "published"


def test_where_the_workflow_timed_the_same_cell_its_figure_stays(tmp_path):
    cell = CELL._replace(instance="one", model="vgg16", batch_size=64, gpus=1, precision="fp16")
    table = gathered(tmp_path, row(benchmark="own"), runs=[str(write_run(tmp_path / "runs", cell=cell))])
    same = table[(table[list(CELL_COLUMNS)] == list(cell)).all(axis=1)]
    assert same[["basis", "images_per_s"]].to_numpy().tolist() == [["measured", 32.0]]  # 64 in two seconds, not 100


def test_nodes_are_those_of_the_row_else_those_of_the_executor(tmp_path):
    cluster = Executor(where="slurm", device="gpu", partition="x", gpus_per_node=4)
    instances = {"box": Instance(**MACHINE, gpus=8, measure=cluster), "plain": Instance(**MACHINE, gpus=8)}
    assert [nodes_of(instances, "box", gpus) for gpus in (1, 4, 8)] == [1, 1, 2]  # 8 devices, 4 to a node
    assert nodes_of(instances, "plain", 8) == 1
    for value, nodes in (("", 2), ("1", 1)):
        published(tmp_path, row("box", 8, nodes=value))
        assert list(gather_throughput([], QUESTION, "2018-07-01", instances, tmp_path)["nodes"]) == [nodes]


def test_a_repeated_cell_is_named_with_the_line_that_it_repeats(tmp_path):
    # lines 2 to 4 share all but one thing with the one that is repeated
    rows = [row(batch_size=32), row(precision="fp32"), row(variant="A"), row(), row("twin"), row(images_per_s=200)]
    with pytest.raises(UserError, match=r"throughput\.csv, line 7: the cell .* is also .*line 5; keep one"):
        gathered(tmp_path, *rows)


def test_a_row_of_more_devices_than_its_machine_has_is_refused(tmp_path):
    with pytest.raises(UserError, match="line 3: gpus is 9; eight has 8"):
        gathered(tmp_path, row("eight", 8), row("eight", 9))
    table = gathered(tmp_path, row("eight", 8))
    assert table[["gpus", "runs"]].to_numpy().tolist() == [[8, 0]]  # nothing was run here
    assert "index" not in table.columns and table.index.tolist() == [0]
    assert not table["logical"].any() and table["images_per_s_low"].isna().all()


@pytest.mark.parametrize(
    ("name", "gpu", "meant"),
    [("eihgt", "tesla v100", "eight"), ("eighht", "Tesla V100", "eight"),
     ("elsewhere", "Tesla V100", None),
     ("eihgt", "Tesla P100", None)],
)  # fmt: skip
def test_a_machine_of_a_devices_rows_that_is_misspelt_is_named(tmp_path, name, gpu, meant):
    rows = row(), row(name, gpu=gpu)
    if meant is None:
        assert "one" in gathered(tmp_path, *rows)["instance"].tolist()
    else:
        with pytest.raises(UserError, match=f"line 3: instance is '{name}'; did you mean '{meant}'"):
            gathered(tmp_path, *rows)


def test_a_row_of_another_device_than_its_machine_has_is_refused(tmp_path):
    with pytest.raises(UserError, match="line 2: gpu is 'Tesla P100'; one has 'Tesla V100'"):
        gathered(tmp_path, row(gpu="Tesla P100"))


def test_a_scaled_figure_is_held_against_figures_of_the_same_kind_only(tmp_path):
    # 8 x 100 x 0.9 = 720 images/s, published are 1,000: 0.72 times
    other, scales = row("elsewhere", 8, images_per_s=1000), ["one,eight,8,vgg16,64,fp16,default,0.9,s"]
    told = gathered(tmp_path, row(), other, efficiency=scales).set_index("instance").loc["eight"]
    assert (told["images_per_s"], told["basis"]) == (pytest.approx(720), "scaled")
    assert rules_of(told) == ["against_published"]
    unlike = [{"note": "--variable_update independent"}, {"instance": "x (distributed)"}, {"gpus": 4}, {"note": "XLA"}]
    unlike += [{"model": "resnet50"}, {"gpu": "Tesla P100"}, {"framework": "torch"}, {"precision": "fp32"}]
    table = gathered(tmp_path, row(), *(other | more for more in unlike), efficiency=scales)
    assert rules_of(table.set_index("instance").loc["eight"]) == []


def test_the_ends_of_the_gap_are_within_it():
    two, batches = pd.Series([100.0, 200.0]), pd.Series([32, 64])
    for predicted in (100.0 / GAP, 200.0 * GAP):
        assert against_published(predicted, "8 x V100", two, batches) == []
    (below,) = against_published(90.0, "8 x V100", pd.Series([100.0, 100.0]), batches)
    assert "0.90 times the lowest" in below["message"]


def test_each_machine_at_the_largest_batch_of_its_own_figures_or_of_what_it_is_declared_to_be(tmp_path):
    # (the machine with eight devices has a figure of four of them at another batch, which is not its own)
    rows = row(batch_size=32), row(batch_size=128, images_per_s=150), row("eight", 4, batch_size=256)
    scales = ["one,eight,8,vgg16,128,fp16,default,0.9,s", "one,eight,8,vgg16,256,fp16,default,0.9,s"]
    table = gathered(tmp_path, *rows, efficiency=scales, question=OWN)
    found = table[table["basis"] != "published"].set_index("instance")
    # 8 x 150 x 0.9
    assert found[["batch_size", "images_per_s"]].to_numpy().tolist() == [[128, pytest.approx(1080)], [128, 150]]
    assert found.index.tolist() == ["eight", "twin"]
    # where nobody has a figure of one device, who is declared by it has no batch
    alone = gathered(tmp_path, row("eight", 8), question=OWN)
    assert alone["instance"].tolist() == ["eight"]
    # the machine with eight devices once has its own
    table = gathered(tmp_path, *rows, row("eight", 8, batch_size=16), efficiency=scales, question=OWN)
    own = table[(table["instance"] == "eight") & (table["gpus"] == 8)]
    assert own["batch_size"].tolist() == [16]
