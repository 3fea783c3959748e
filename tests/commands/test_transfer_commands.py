"""`sweetspot predict` on figures written here."""

import json

import pytest
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

FIGURE = "RTX 4090:resnet50:fp16:256=1120"

pytestmark = pytest.mark.slow  # learns from all devices and fits all shipped figures


def test_one_figure_on_other_devices_and_counts(capsys):
    assert main(["predict", "--measured", FIGURE, "--on", "h100-sxm,rtx-5090", "--gpus", "1,8", "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["predicted"]
    rows = [(row["gpu"], row["gpus"], row["basis"], row["interconnect"]) for row in predicted]
    assert rows == [
        ("H100 SXM", 1, "transferred", ""), ("H100 SXM", 8, "extrapolated", "nvlink"),
        ("RTX 5090", 1, "transferred", ""), ("RTX 5090", 8, "extrapolated", "pcie")
    ]  # fmt: skip
    for row in predicted:
        assert row["images_per_s_low"] < row["images_per_s"] < row["images_per_s_high"]
    one, eight = (row["images_per_s"] for row in predicted[:2])
    assert 4 < eight / one < 8
    assert main(["predict", "--measured", FIGURE, "--on", "L40S,K80", "--gpus", "1"]) == 0
    told = capsys.readouterr().out
    assert "measured: RTX 4090, resnet50, fp16, batch 256, torch: 1,120 images/s" in told
    assert "specified_only: L40S is known by its specifications only (1 x L40S)" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--measured", "4090 does 1120", "--on", "A100"], "--measured is '4090 does 1120'; expected GPU:MODEL"),
        (["--measured", "4090:net:fp16=fast", "--on", "A100"], "the rate is 'fast'; expected a number"),
        (["--measured", "4090:net:fp16:1.5=9", "--on", "A100"], "the batch is '1.5'; expected a whole number"),
        (["--measured", FIGURE, "--on", "A100", "--gpus", "0"], "--gpus is '0'; expected whole numbers"),
        (["--measured", FIGURE, "--measured", "A100:vgg16:fp16=9", "--on", "H100"], "one workload"),
    ],
)
def test_a_mistake_is_one_sentence(arguments, words):
    with pytest.raises(UserError, match=words):
        main(["predict", *arguments])
