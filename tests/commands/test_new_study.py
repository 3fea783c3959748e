"""A study of one's own: valid at once, prefilled with this machine, refused where it would do harm."""

import datetime
import shutil
from pathlib import Path

import pytest
from sweetspot.commands.command_line import main
from sweetspot.commands.create_study import create_study
from sweetspot.commands.study_of_today import OWN, Own
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.workloads import load_monthly, load_workloads
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import read_published
from sweetspot.transfer.figures import shipped_devices

ROOT = Path(__file__).parent.parent.parent
TODAY = datetime.date(2026, 1, 2)

pytestmark = pytest.mark.slow  # learns from all devices, half a second a test


@pytest.fixture
def config(tmp_path):
    return Path(shutil.copytree(ROOT / "config", tmp_path / "config"))


@pytest.mark.parametrize("machine", [("workstation", "AMD EPYC"), ("workstation-gpu", "NVIDIA GeForce GTX 1080 Ti")])
def test_a_new_study_is_valid_and_asks_about_four_of_this_machine(config, machine):
    create_study("mine", config, machine, TODAY)
    plan = load_invocation(config / "config.yaml", {"study": "mine", "measure_on": machine[0]}, config)
    target = plan.study.targets[0]
    assert (target.instance, target.base_instance, target.gpus) == ("box-4", machine[0], 4)
    assert machine[1].endswith(plan.instances["box-4"].gpu)
    assert plan.price_lists == ("box", "rent")
    assert {cell.instance for cell in plan.cells} == {machine[0]}
    assert {cell.model for cell in plan.cells} == {"resnet50"}, "config.yaml has three; the study asks about one"
    measured = {(cell.model, cell.batch_size, cell.precision) for cell in plan.cells}
    cells = plan.study.cells
    asked = {(model, size, cells.precision) for model in cells.model for size in cells.batch_size}
    assert asked <= measured, "the default matrix measures what the new study asks for"


def test_a_study_that_measures_nothing_of_the_matrix_is_one_sentence(config):
    folder = create_study("mine", config, ("workstation", "AMD EPYC"), TODAY)
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(
        text.replace("measure_models: [resnet50]", "measure_models: [vgg16, inception3]")
    )
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert {cell.model for cell in plan.cells} == {"vgg16", "inception3"}
    (folder / "study.yaml").write_text(text.replace("measure_models: [resnet50]", "measure_models: [alexnet]"))
    with pytest.raises(UserError, match=r"study.yaml: measure_models is \['alexnet'\]; expected one of matrix.model"):
        load_invocation(config / "config.yaml", {"study": "mine"}, config)


def test_its_rentals_have_published_figures_with_sources(config):
    folder = create_study("mine", config, ("workstation", "AMD EPYC"), TODAY)
    table = read_published(folder / "throughput.csv")
    assert {card.split("-")[0] for card in table["gpu"]} == {"Tesla K80", "Tesla V100"}
    assert set(table["gpus"]) == {1}


@pytest.mark.parametrize("own", [None, "timed"])
def test_the_owner_of_a_gpu_gets_rentals_of_today_with_speeds_from_it(config, own):
    given = None
    if own:
        device = shipped_devices().get("RTX 4090")
        given = Own(device, OWN, "resnet50", "fp16", "torch", 256, 1120.0, "EUR")
    folder = create_study("mine", config, ("workstation-gpu", "NVIDIA GeForce RTX 4090"), TODAY, given)
    chosen = {"study": "mine"} | ({} if own else {"measure_on": "workstation-gpu"})
    plan = load_invocation(config / "config.yaml", chosen, config)
    assert plan.study.transfer and plan.study.measure is (own is None)
    rent = load_yaml(folder / "prices" / "rent.yaml")
    assert str(rent["as_of"]) == "2026-09-19"
    based = {target.instance: target.base_instance for target in plan.study.targets}
    for name in (offer["instance"] for offer in rent["offers"]):
        machine = plan.instances[name]
        assert machine.equivalent_to is None
        if machine.gpus > 1:
            assert plan.instances[based[name]].gpu == machine.gpu and plan.instances[based[name]].gpus == 1
    assert (folder / "throughput.csv").is_file() == bool(own)
    if own:
        (figure,) = read_published(folder / "throughput.csv").to_dict("records")
        assert (figure["gpu"], figure["images_per_s"], figure["batch_size"]) == ("RTX 4090", 1120, 256)
        (rate,) = load_yaml(folder / "prices" / "box.yaml")["rates"]
        assert (rate["currency"], rate["usd"]["value"], str(rate["as_of"])) == ("EUR", 1.1378, "2026-09-28")
        assert rate["source"].startswith("ECB euro reference rate of 2026-09-28")
        shown = plan.study.currency
        assert (shown.code, shown.usd_per_unit, str(shown.as_of)) == ("EUR", 1.1378, "2026-09-28")


def test_a_rate_that_the_person_types_is_theirs(config):
    arguments = ["--gpu-name", "RTX 4090", "--speed", "1120", "--currency", "gbp", "--rate", "1.33"]
    main(["new-study", "mine", *arguments, "--config", str(config)])
    (rate,) = load_yaml(config / "studies" / "mine" / "prices" / "box.yaml")["rates"]
    assert (rate["currency"], rate["usd"]) == ("GBP", 1.33) and "typed by us" in rate["source"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--gpu-name", "RTX 9999", "--speed", "9"], "'RTX 9999': no device of that name is specified"),
        (["--gpu-name", "Intel Xeon CPU", "--speed", "9"], "is a processor"),
        (["--gpu-name", "RTX 4090"], "SPEED is None; expected what RTX 4090 trains"),
        (["--speed", "9"], "SPEED is given without GPU_NAME"),
        (["--gpu-name", "V100", "--speed", "9", "--precision", "bf16"], "does not compute in bf16"),
        (
            ["--gpu-name", "RTX 4090", "--speed", "9", "--currency", "XAU"],
            "CURRENCY is 'XAU'; expected USD, EUR, or RATE",
        ),
        (
            ["--gpu-name", "RTX 4090", "--speed", "9", "--currency", "EUR", "--rate", "-1"],
            "RATE is -1.0; expected USD per",
        ),
        (["--gpu-name", "RTX 4090", "--speed", "9", "--currency", "€"], "CURRENCY is '€'; expected three letters"),
        (["--gpu-name", "RTX 4090", "--speed", "9e5"], "is spent on starting kernels"),
    ],
)
def test_a_figure_that_cannot_be_used_writes_nothing(config, arguments, words):
    with pytest.raises(UserError, match=words):
        main(["new-study", "mine", *arguments, "--config", str(config)])
    assert not (config / "studies" / "mine").exists()


@pytest.mark.parametrize("name", ["../x", "a b", "<b>x</b>", "$(id)", "a/b", "", ".hidden", "x" * 65])
def test_a_name_that_is_no_name_is_refused_and_nothing_is_written(config, name):
    before = sorted(config.rglob("*"))
    with pytest.raises(UserError, match="NAME is"):
        create_study(name, config, ("workstation", "AMD EPYC"), TODAY)
    assert sorted(config.rglob("*")) == before


def test_a_study_that_exists_is_not_overwritten(config):
    text = (config / "studies" / "parkopedia-2018" / "study.yaml").read_text()
    with pytest.raises(UserError, match="the study exists"):
        create_study("parkopedia-2018", config, ("workstation", "AMD EPYC"), TODAY)
    assert (config / "studies" / "parkopedia-2018" / "study.yaml").read_text() == text


def test_a_machine_with_a_strange_name_makes_no_broken_yaml(config):
    name = 'Odd: "CPU" #1 {x}'
    create_study("mine", config, ("workstation", name), TODAY)
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert plan.instances["box-4"].gpu == name


@pytest.mark.parametrize("asked", [1, "all"])
def test_how_jobs_use_devices_is_asked_and_the_work_of_a_month_is_there_to_be_taken(config, asked):
    folder = create_study("mine", config, ("workstation", "AMD EPYC"), TODAY, None, asked)
    file = folder / "workloads.yaml"
    assert load_workloads(file)["training"].devices_per_job == asked
    lines = [line.removeprefix("# ") for line in file.read_text().splitlines()[2:]]  # the schema and a title first
    file.write_text("\n".join(line for line in lines if not line.startswith("The work of a month")))
    job = load_monthly(file)["month"].jobs[0]
    assert (job.devices_per_job, job.model) == (asked, "resnet50")
    assert list(load_workloads(file)) == ["training", "month.runs"]


@pytest.mark.parametrize("typed", ["0", "some", "-1"])
def test_devices_of_a_job_are_a_number_or_all(typed):
    with pytest.raises(UserError, match=f"'{typed}' given; expected a whole number above 0, or all"):
        main(["new-study", "mine", f"--devices-per-job={typed}"])


def test_jobs_of_one_device_of_a_gpu_are_the_work_of_months(config):
    """What is there costs nothing more to have; the box is priced in euros: 14,500 USD / 1.1378 = 12,740."""
    typed = ["--gpu-name", "RTX 4090", "--speed", "1301", "--currency", "EUR", "--devices-per-job", "1"]
    main(["new-study", "mine", *typed, "--config", str(config)])
    folder = config / "studies" / "mine"
    (work,) = load_monthly(folder / "workloads.yaml").values()
    assert (work.have, work.jobs[0].devices_per_job) == ([OWN], 1)
    box, there = load_yaml(folder / "prices" / "box.yaml")["offers"]
    assert (box["instance"], there["instance"], there["own"]["capex"]) == ("box-4", OWN, 0)
    assert box["own"]["capex"] == {"value": 12740, "low": 9140, "high": 18910} and "currency" not in box
    assert box["own"]["kw"] == {name: pytest.approx(4 * kw) for name, kw in there["own"]["kw"].items()}
    assert "residual" not in box["own"] and box["own"]["per_kwh"] == there["own"]["per_kwh"]
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert plan.study.cells.headline_batch_size == "own"
    # In dollars the box is the one of office-box-2026, but for what it would bring.
    main(["new-study", "other", *typed[:4], "--devices-per-job", "1", "--config", str(config)])
    (dollars, _) = load_yaml(config / "studies" / "other" / "prices" / "box.yaml")["offers"]
    assert dollars["own"]["capex"]["value"] == 14500 and dollars["own"]["per_kwh"]["value"] == 0.1802
