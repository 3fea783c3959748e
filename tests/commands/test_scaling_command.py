"""`sweetspot validate-scaling` on small files written here."""

import json

import pytest
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

SHARED = "gpu,instance,gpu_count,framework,framework_version,benchmark,model,batch_per_gpu,precision,dataset,"
SHARED += "images_per_sec,source,note"
OURS = SHARED.replace("gpu_count", "gpus").replace("batch_per_gpu", "batch_size").replace("_per_sec", "_per_s")


def line(gpus, images_per_s, gpu="Quadro RTX 8000", model="resnet50", batch=64, dataset="synthetic"):
    return (
        f"{gpu},host,{gpus},TensorFlow,1.15.3,tf_cnn_benchmarks,{model},{batch},fp32,{dataset},{images_per_s},log,note"
    )


pytestmark = pytest.mark.slow  # fits all shipped figures: three CPU-seconds

GOOD = [line(1, 300), line(8, 2100), line(2, 560), line(1, 200, model="vgg16"), line(4, 600, model="vgg16")]


@pytest.fixture
def run(tmp_path, capsys):
    """The command in this process (the shipped figures are fitted once); returns (stdout, stderr)."""

    def call(*rows, header=SHARED, arguments=("--json",)):
        file = tmp_path / "figures.csv"
        file.write_text("\n".join([header, *rows]) + "\n")
        assert main(["validate-scaling", str(file), *arguments]) == 0
        return capsys.readouterr()

    return call


@pytest.mark.parametrize("header", [SHARED, OURS])
def test_every_method_is_judged_on_every_row_with_a_partner(run, header):
    rows = [*GOOD, line(16, 1.5, gpu="CPU", batch=""), line(1, 0.2, gpu="CPU", batch="")]
    stdout, _ = run(*rows, header=header)
    result = json.loads(stdout)
    assert {row["method"] for row in result["methods"]} >= {"mean_efficiency", "amdahl", "usl", "ring_allreduce"}
    for row in result["methods"]:
        assert row["rows"] == 4
        assert {"median_abs_error", "p90_abs_error", "bias", "coverage90"} <= set(row)
    assert result["headline"] == "pooled_ring"
    assert result["families_fitted"] == []
    assert result["flagged"] == []


def test_rows_without_a_partner_and_bad_rows_are_listed_by_line(run):
    bad = [line("two", 1), line(2, -5)]
    stdout, stderr = run(*GOOD, *bad, line(2, 500, batch=48), line(4, 900, dataset="cifar10"))
    result = json.loads(stdout)
    assert [row["line"] for row in result["without_partner"]] == [9]
    assert len(result["bad_rows"]) == 2
    assert "line 7: gpus is 'two'; expected a whole number above 0" in result["bad_rows"][0]
    assert "line 8: images_per_s is '-5'" in result["bad_rows"][1]
    assert "line 7" in stderr


def test_super_linear_rows_are_flagged(run):
    result = json.loads(run(line(1, 100), line(2, 260), line(4, 390), *GOOD[3:])[0])
    assert [("super_linear" in row["warning"], row["line"]) for row in result["flagged"]] == [(True, 3), (False, 4)]


def test_the_text_names_methods_and_counts(run):
    stdout, _ = run(*GOOD, line(2, 500, batch=48), arguments=())
    assert "mean_efficiency" in stdout
    assert "Rows without a single-device partner: 1" in stdout


def test_studies_of_another_place_are_asked_for_their_figures(run, tmp_path):
    with pytest.raises(UserError, match=r"scaling-2020/throughput\.csv: the shipped figures are missing"):
        run(*GOOD, arguments=("--studies", str(tmp_path)))


def test_the_2018_rule_by_hand(run):
    # 8 x 300 x 0.865, the mean of the study's six ResNet-50 figures at batch 64, is 2076: 10 % above 1887.3.
    result = json.loads(run(line(1, 300), line(8, 2076 / 1.1))[0])
    rule = next(row for row in result["methods"] if row["method"] == "mean_efficiency")
    assert rule["median_abs_error"] == pytest.approx(0.1)
    assert rule["bias"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ([], SHARED, "no usable row"),
        (GOOD, SHARED.replace("precision", "prec"), "line 1: column 'precision' is missing"),
    ],
)
def test_a_useless_file_is_one_sentence(run, rows, header, message):
    with pytest.raises(UserError, match=message):
        run(*rows, header=header)
