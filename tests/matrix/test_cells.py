"""The cells of a plan: expanded, excluded, those of one's own scripts, and those that no run can measure refused."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from project_copy import ROOT, edit
from sweetspot.cells import Cell
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import expand_matrix, load_invocation, load_scripts, measured_cells
from sweetspot.matrix.jobs import Jobs
from sweetspot.matrix.possible import require_possible
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance
from test_jobs import Wildcards

AXES = {
    "model": ["vgg16", "resnet50"], "batch_size": [16, 32], "gpus": [1], "precision": ["fp32"],
    "variant": ["default"], "framework": ["tensorflow"],
}  # fmt: skip
CELL = Cell("here", "tensorflow", "vgg16", 16, 1, "fp32", "default")
NODES = {"where": "slurm", "per_node": 4, "gpus": 8}


def kept(*exclude, **axes):
    return [(cell.model, cell.batch_size) for cell in expand_matrix(["a"], AXES | axes, exclude)]


def test_an_entry_excludes_the_cells_that_agree_with_all_of_it_and_at_least_one():
    every = [("vgg16", 16), ("vgg16", 32), ("resnet50", 16), ("resnet50", 32)]
    assert kept() == every
    assert kept({"model": "vgg16", "batch_size": 32}) == [every[0], *every[2:]]
    assert kept({"model": "vgg16"}, {"batch_size": 16}) == [("resnet50", 32)]
    with pytest.raises(UserError, match=r"exclude\[1\] = .*'batch_size': 64.* matches no cell"):
        kept({"model": "vgg16"}, {"batch_size": 64})
    assert kept(batch_size=[16, 32, 16]) == kept()


@pytest.mark.parametrize("handed", [{}, {"measure_on": []}])
def test_where_nothing_is_measured_no_matrix_is_asked_for(tmp_path, handed):
    plan = load_invocation(None, {"study": "rare-2018"} | handed, ROOT / "config")
    assert plan.cells == ()
    (tmp_path / "config.yaml").write_text("study: rare-2018\nmeasure_on: []\n")
    assert load_invocation(tmp_path / "config.yaml", {}, ROOT / "config").cells == ()
    (tmp_path / "config.yaml").write_text("study: rare-2018\n")
    with pytest.raises(UserError, match="'measure_on' is missing"):
        load_invocation(tmp_path / "config.yaml", {}, ROOT / "config")
    with pytest.raises(UserError, match="'matrix' is missing"):
        load_invocation(None, {"study": "rare-2018", "measure_on": ["workstation"]}, ROOT / "config")


@pytest.mark.parametrize("line", ["reference: office-4x1080ti", "instance: office-4x1080ti"])
def test_a_study_that_asks_about_an_unknown_instance_is_refused(tmp_path, line):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    edit(tmp_path / "config/studies/parkopedia-2018/study.yaml", line, line.replace("4x1080ti", "5x1080ti"))
    with pytest.raises(UserError, match="names 'office-5x1080ti'; expected an instance"):
        load_invocation(tmp_path / "config/config.yaml", {}, tmp_path / "config")


def check(where="local", device="gpu", has=4, xla=False, per_node=None, gpu="V100", **changes):
    measure = {"where": where, "device": device, "gpus_per_node": per_node}
    measure |= {"partition": "big"} if where == "slurm" else {}
    instance = Instance(title="Here", provider="own", gpu=gpu, gpus=has, measure=measure)
    require_possible([CELL._replace(**changes), CELL], {"here": instance}, xla, Path("config.yaml"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"model": "vgg61"}, ["model 'vgg61'", "inception3, resnet50", "nearest: vgg19, vgg16"]),
        ({"gpus": 8}, ["on here, gpus 8", "which has 4"]),
        ({"variant": "B", "device": "cpu"}, ["variant 'B'", "NCCL"]),
        ({"variant": "ddp"}, ["variant 'ddp' with framework tensorflow", "default, A, B, C;"]),
        ({"framework": "torch", "model": "xception"}, ["'xception'", "framework torch has"]),
        ({"precision": "fp8"}, ["precision 'fp8' with framework tensorflow", "fp32, tf32, fp16, bf16"]),
        ({"precision": "tf32", "device": "cpu"}, ["precision tf32, which V100 has not"]),
        ({"precision": "bf16", "gpu": "Tesla P100"}, ["precision bf16, which Tesla P100 has not"]),
        ({"xla": True, "gpus": 2}, ["measure.xla", "variant 'default', gpus 2", "of one device with tensorflow only"]),
        (NODES, ["gpus 8", "one node, which has 4"]),
    ],
)
def test_a_cell_that_no_run_can_measure_is_one_sentence(asked, words):
    with pytest.raises(UserError) as caught:
        check(**asked)
    message = str(caught.value)
    assert message.startswith("config.yaml: ")
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("asked", [
    {"gpus": 4, "variant": "B"}, NODES | {"gpus": 4, "variant": "A"}, {"xla": True},  # one device
    {"device": "cpu", "has": 1, "gpus": 8, "variant": "C"},  # logical devices of one processor
    {"framework": "torch", "has": 8, "gpus": 8, "variant": "compile"}, {"model": "EfficientNetB0"},
    {"framework": "torch", "model": "bert_base", "precision": "tf32", "gpu": "A100"}, {"model": "mobilenet_v2"},
])  # fmt: skip
def test_a_cell_that_a_run_can_measure_is_none(asked):
    check(**asked)


STEPS = "steps: {pattern: step}\n"


def instances(device="cpu", has=1):
    measure = {"where": "local", "device": device}
    return {"here": Instance(title="Here", provider="own", gpu="X", gpus=has, measure=measure)}


def project(folder, **commands):
    (folder / "commands").mkdir()
    for name, command in commands.items():
        (folder / "commands" / f"{name}.yaml").write_text(f"command: {command}\n{STEPS}")
    return folder


def config(**matrix):
    values = {"model": ["resnet50", "mine"], "batch_size": [8], "framework": ["tensorflow", "command"]} | matrix
    return Config(study="s", measure_on=["here"], matrix=values)


def cells(root, device="cpu", has=1, **matrix):
    asked, file = config(**matrix), root / "config.yaml"
    return measured_cells(asked, instances(device, has), file, load_scripts(asked, root, file))


def test_a_script_makes_cells_of_framework_command_only_and_a_network_of_the_others(tmp_path):
    root = project(tmp_path, mine="x")
    assert [(cell.framework, cell.model) for cell in cells(root)] == [("tensorflow", "resnet50"), ("command", "mine")]
    root = cells(root, model=["mine"], framework=["command"], precision=["fp8"], variant=["zero3"])
    assert [(cell.precision, cell.variant) for cell in root] == [("fp8", "zero3")]


@pytest.mark.parametrize(
    ("command", "matrix", "words"),
    [
        ("x", {"gpus": [2]}, ["matrix.gpus is 2 for the script mine", "{gpus}"]),
        ("x {gpus}", {"batch_size": [8, 16]}, ["matrix.batch_size is 8, 16", "{batch_size}"]),
        ("x", {"precision": ["fp32", "bf16"]}, ["matrix.precision is fp32, bf16", "{precision}"]),
        ("x", {"framework": ["tensorflow"]}, ["holds mine", "framework tensorflow"]),
        ("x", {"model": ["resnet50"]}, ["holds no script", "a script of"]),
        ("x {gpus}", {"gpus": [4], "device": "gpu", "has": 2}, ["gpus 4", "which has 2"]),
    ],
)
def test_a_cell_that_would_not_be_what_its_name_says_is_refused(tmp_path, command, matrix, words):
    with pytest.raises(UserError) as caught:
        cells(project(tmp_path, mine=command), **matrix)
    assert all(any(word in sentence for sentence in caught.value.sentences) for word in words), caught.value.sentences


def test_an_edited_description_measures_its_script_again_and_nothing_else(tmp_path):
    root = project(tmp_path, mine="x")

    def flags(**of):
        asked = config(framework=["tensorflow", "torch", "command"])
        plan = SimpleNamespace(config=asked, instances=instances(), scripts=load_scripts(asked, root, root))
        protocol = Jobs(plan).protocol
        return protocol(Wildcards(**{name: str(value) for name, value in CELL._asdict().items()} | of, run="1"))

    network, own = {"framework": "tensorflow", "model": "resnet50"}, {"framework": "command", "model": "mine"}
    before = flags(**network), flags(**own)
    assert "--definition" not in before[0]
    assert flags(framework="torch", model="resnet50") == before[0]
    (root / "commands" / "mine.yaml").write_text(f"command: y\n{STEPS}")
    assert flags(**network) == before[0]
    assert flags(**own) != before[1]
