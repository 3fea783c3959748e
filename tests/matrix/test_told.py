"""Scripts of one's own in a matrix: which cells they make, and what they must be told."""

import pytest
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import measured_cells, own_scripts
from sweetspot.matrix.jobs import Jobs
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance

STEPS = "steps: {pattern: step}\n"


def instances(device="cpu", has=1):
    return {
        "here": Instance(title="Here", provider="own", gpu="X", gpus=has, measure={"where": "local", "device": device})
    }


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
    return measured_cells(asked, instances(device, has), file, own_scripts(asked, root, file))


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
        ("x", {"framework": ["tensorflow"]}, ["names the script 'mine'", "command in matrix.framework"]),
        ("x", {"model": ["resnet50"]}, ["holds command", "a script of", "(mine)"]),
        ("x {gpus}", {"gpus": [4], "device": "gpu", "has": 2}, ["gpus 4", "the instance has 2"]),
    ],
)
def test_a_cell_that_would_not_be_what_its_name_says_is_refused(tmp_path, command, matrix, words):
    with pytest.raises(UserError) as caught:
        cells(project(tmp_path, mine=command), **matrix)
    assert all(any(word in sentence for sentence in caught.value.sentences) for word in words), caught.value.sentences


def test_a_script_with_the_name_of_a_network_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"commands/resnet50\.yaml: 'resnet50' is the name of a network"):
        cells(project(tmp_path, resnet50="x"))


class Wildcards(dict):
    def __getattr__(self, name):
        return self[name]


def test_an_edited_description_measures_its_script_again_and_nothing_else(tmp_path):
    from types import SimpleNamespace

    root = project(tmp_path, mine="x")

    def flags(**of):
        asked = config(framework=["tensorflow", "torch", "command"])
        plan = SimpleNamespace(config=asked, instances=instances(), scripts=own_scripts(asked, root, root))
        protocol = Jobs(plan).protocol()
        cell = {
            "instance": "here",
            "batch_size": "8",
            "gpus": "1",
            "precision": "fp32",
            "variant": "default",
            "run": "1",
        }
        return protocol(Wildcards(cell | of))

    network, own = {"framework": "tensorflow", "model": "resnet50"}, {"framework": "command", "model": "mine"}
    before = flags(**network), flags(**own)
    assert "--definition" not in before[0]
    assert flags(framework="torch", model="resnet50") == before[0]
    (root / "commands" / "mine.yaml").write_text(f"command: y\n{STEPS}")
    assert flags(**network) == before[0]
    assert flags(**own) != before[1]
