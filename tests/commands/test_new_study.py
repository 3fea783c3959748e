"""A study of one's own: valid at once, prefilled with this machine, refused where it would do harm."""

import datetime
import io

import pytest
from project_copy import edit
from sweetspot.commands.command_line import main
from sweetspot.commands.create_study import create_study
from sweetspot.commands.read_study import read_study
from sweetspot.commands.study_of_today import OWN
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.workloads import load_monthly, load_workloads
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import read_published

TODAY = datetime.date(2026, 1, 2)
CPU = ("workstation", "AMD EPYC")
TIMED = ["--gpu-name", "RTX 4090", "--speed", "9"]


@pytest.fixture
def typed(config):
    """`sweetspot new-study mine`; the folder of the study."""

    def call(*arguments, name="mine"):
        assert main(["new-study", name, *arguments, "--config", str(config)]) == 0
        return config / "studies" / name

    return call


@pytest.mark.parametrize("machine", [CPU, ("workstation-gpu", "NVIDIA GeForce GTX 1080 Ti")])
def test_a_new_study_is_valid_and_asks_about_four_of_this_machine(config, machine):
    create_study("mine", config, machine, TODAY)
    plan = load_invocation(config / "config.yaml", {"study": "mine", "measure_on": machine[0]}, config)
    target = plan.study.targets[0]
    assert (target.instance, target.base_instance, target.gpus) == ("box-4", machine[0], 4)
    assert machine[1].endswith(plan.instances["box-4"].gpu)
    prices = ("rent",) if machine == CPU else ("box", "rent")  # of a processor no price of a box is known
    assert plan.price_lists == prices
    assert {cell.instance for cell in plan.cells} == {machine[0]}
    assert {cell.model for cell in plan.cells} == {"resnet50"}, "config.yaml has three; the study asks about one"
    measured = {(cell.model, cell.batch_size, cell.precision) for cell in plan.cells}
    cells = plan.study.cells
    asked = {(model, size, cells.precision) for model in cells.model for size in cells.batch_size}
    assert asked <= measured, "the default matrix measures what the new study asks for"


def test_a_study_that_measures_nothing_of_the_matrix_is_one_sentence(config):
    file = create_study("mine", config, CPU, TODAY) / "study.yaml"
    edit(file, "measure_models: [resnet50]", "measure_models: [vgg16, inception3]")
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert {cell.model for cell in plan.cells} == {"vgg16", "inception3"}
    edit(file, "measure_models: [vgg16, inception3]", "measure_models: [alexnet]")
    with pytest.raises(UserError, match=r"study.yaml: measure_models is \['alexnet'\]; expected one of matrix.model"):
        load_invocation(config / "config.yaml", {"study": "mine"}, config)


def test_its_rentals_have_published_figures_with_sources(config):
    table = read_published(create_study("mine", config, CPU, TODAY) / "throughput.csv")
    assert {card.split("-")[0] for card in table["gpu"]} == {"Tesla K80", "Tesla V100"}
    assert set(table["gpus"]) == {1}


def test_the_owner_of_a_gpu_gets_rentals_of_today_whose_devices_stand_alone_too(config):
    create_study("mine", config, ("workstation-gpu", "NVIDIA GeForce RTX 4090"), TODAY)
    chosen = {"study": "mine", "measure_on": "workstation-gpu"}
    plan = load_invocation(config / "config.yaml", chosen, config)
    assert plan.study.transfer and plan.study.measure
    assert not (config / "studies" / "mine" / "throughput.csv").exists()


@pytest.mark.slow
def test_the_figure_and_the_rate_that_a_person_types_are_theirs(config, typed):
    folder = typed("--gpu-name", "RTX 4090", "--speed", "1120", "--currency", "gbp", "--rate", "1.33")
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert plan.study.transfer and not plan.study.measure and plan.study.currency.usd_per_unit == 1.33
    (figure,) = read_published(folder / "throughput.csv").to_dict("records")
    assert (figure["gpu"], figure["images_per_s"], figure["batch_size"]) == ("RTX 4090", 1120, 64)
    (rate,) = load_yaml(folder / "prices" / "box.yaml")["rates"]
    assert (rate["currency"], rate["usd"]) == ("GBP", 1.33) and "typed by us" in rate["source"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--gpu-name", "RTX 9999", "--speed", "9"], "'RTX 9999': no device of that name is specified"),
        (["--gpu-name", "Intel Xeon CPU", "--speed", "9"], "is a processor"),
        (["--gpu-name", "RTX 4090"], "SPEED is None; expected what RTX 4090 trains"),
        (["--speed", "9"], "SPEED is given without GPU_NAME"),
        ([*TIMED, "--currency", "XAU"], "CURRENCY is 'XAU'; expected USD, EUR, or RATE"),
        ([*TIMED, "--currency", "EUR", "--rate", "-1"], "RATE is -1.0; expected USD per"),
        ([*TIMED, "--currency", "€"], "CURRENCY is '€'; expected three letters"),
        ([*TIMED, "--batch-size", "0"], "BATCH is 0; expected a whole number above 0"),
        ([*TIMED, "--devices-per-job", "some"], "'some' given; expected a whole number above 0, or all"),
        ([*TIMED, "--devices-per-job", "0"], "'0' given; expected a whole number above 0, or all"),
        (["--work", "llama-9 lora 1M"], "'llama-9' is not known"),
        (["--work", "llama-3.1-8b lora"], "expected MODEL METHOD TOKENS"),
        (["--work", "llama-3.1-8b lora 1M", *TIMED], "--gpu-name is given with --work"),
        ([*TIMED, "--offer-count", "4"], "--offer-count is given without --offer-price"),
        ([*TIMED, "--offer-price", "0"], "--offer-price is 0"),
        ([*TIMED, "--offer-price", "21,900"], "two ways"),
        ([*TIMED, "--offer-price", "21900", "--offer-device", "RTX 9999"], "'RTX 9999': no device of that name"),
        pytest.param([*TIMED, "--offer-price", "2"], "cannot be", marks=pytest.mark.slow),
        pytest.param(["--gpu-name", "V100", "--speed", "9", "--precision", "bf16"], "does not compute in bf16",
                     marks=pytest.mark.slow),
        ([*TIMED[:3], "9e5"], "at its dense peak in fp16"),
        ([*TIMED, "--jobs-per-month", "0"], "JOBS is 0"),
        ([*TIMED, "--samples-per-job", "0,5"], "SAMPLES is 0.5"),
        (["--work", "llama-3.1-8b lora 1M", "--samples-per-job", "5"], "--samples-per-job is given with --work"),
        (["--work", "llama-3.1-8b lora 1M", "--currency", "XAU"], "CURRENCY is 'XAU'"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_writes_nothing(config, typed, arguments, words):
    with pytest.raises(UserError, match=words):
        typed(*arguments)
    assert not (config / "studies" / "mine").exists()


@pytest.mark.parametrize("name", ["../x", "a b", "<b>x</b>", "$(id)", "a/b", "", ".hidden", "x" * 65])
def test_a_name_that_is_no_name_is_refused_and_nothing_is_written(config, name):
    before = sorted(config.rglob("*"))
    with pytest.raises(UserError, match="NAME is"):
        create_study(name, config, CPU, TODAY)
    assert sorted(config.rglob("*")) == before


def test_a_study_that_exists_is_not_overwritten(config):
    file = config / "studies" / "parkopedia-2018" / "study.yaml"
    text = file.read_text()
    with pytest.raises(UserError, match="the study exists"):
        create_study("parkopedia-2018", config, CPU, TODAY)
    assert file.read_text() == text


def test_a_machine_with_a_strange_name_makes_no_broken_yaml(config):
    name = 'Odd: "CPU" #1 {x}'
    create_study("mine", config, ("workstation", name), TODAY)
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert plan.instances["box-4"].gpu == name


@pytest.mark.parametrize("asked", [1, "all"])
def test_how_jobs_use_devices_is_asked_and_the_work_of_a_month_is_there_to_be_taken(config, asked):
    file = create_study("mine", config, CPU, TODAY, None, asked) / "workloads.yaml"
    assert load_workloads(file)["training"].devices_per_job == asked
    lines = [line.removeprefix("# ") for line in file.read_text().splitlines()[2:]]  # the schema and a title first
    file.write_text("\n".join(line for line in lines if not line.startswith("The work of a month")))
    job = load_monthly(file)["month"].jobs[0]
    assert (job.devices_per_job, job.model) == (asked, "resnet50")
    assert list(load_workloads(file)) == ["training", "month.runs"]


@pytest.mark.slow
def test_jobs_of_one_device_of_a_gpu_are_the_work_of_months(config, typed):
    """What is there costs nothing more to have; the box is priced in euros: 14,500 USD / 1.1378 = 12,740."""
    words = ["--gpu-name", "RTX 4090", "--speed", "1301", "--devices-per-job", "1"]
    folder = typed(*words, "--currency", "EUR")
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
    (dollars, _) = load_yaml(typed(*words, name="other") / "prices" / "box.yaml")["offers"]
    assert dollars["own"]["capex"]["value"] == 14500 and dollars["own"]["per_kwh"]["value"] == 0.1802


def test_the_words_of_estimate_make_a_study_without_a_mistake(config, typed, capsys):
    folder = typed("--work", "Qwen2.5-32B qlora 20M tokens")
    assert "make report STUDY=mine" in capsys.readouterr().out
    assert not read_study("mine", config).errors
    job = load_monthly(folder / "workloads.yaml")["month"].jobs[0]
    assert (job.model, job.samples) == ("qwen2.5-32b.qlora.2048", 20_000_000)
    assert "cells:\n  model: [qwen2.5-32b.qlora.2048]" in (folder / "study.yaml").read_text()


@pytest.mark.slow
def test_without_a_word_about_the_work_a_default_is_stated_and_asked_about(typed, capsys):
    folder = typed("--gpu-name", "RTX 4090", "--speed", "1120")
    assert "20 (10 to 30) jobs of 100,000,000 samples" in capsys.readouterr().out
    (work,) = load_monthly(folder / "workloads.yaml").values()
    assert work.have == [OWN] and work.jobs[0].devices_per_job == "all"
    said = typed("--gpu-name", "RTX 4090", "--speed", "1120", "--jobs-per-month", "5", "--samples-per-job", "2,5e7",
                 name="said")  # fmt: skip
    assert "Assumed" not in capsys.readouterr().out
    (job,) = load_monthly(said / "workloads.yaml")["month"].jobs
    assert (job.per_month.value, job.samples) == (5, 25_000_000)


def test_work_by_tokens_honours_the_currency_the_jobs_and_the_devices_of_a_job(config, typed):
    words = ["--work", "llama-3.1-8b lora 1,5B tokens", "--currency", "CHF", "--rate", "1,25"]
    folder = typed(*words, "--devices-per-job", "1", "--jobs-per-month", "4")
    assert not read_study("mine", config).errors
    job = load_monthly(folder / "workloads.yaml")["month"].jobs[0]
    assert (job.samples, job.per_month.value, job.devices_per_job) == (1.5e9, 4, 1)
    study = load_yaml(folder / "study.yaml")
    assert (study["currency"]["code"], study["currency"]["usd_per_unit"]) == ("CHF", 1.25)
    assert "currency" not in load_yaml(typed(*words[:2], name="dollars") / "study.yaml")


class Pipe(io.StringIO):
    """Answers as they come by a pipe."""


def asked(monkeypatch, config, *answers, name="mine"):
    """`new-study --ask` with these answers, a line each."""
    monkeypatch.setattr("sys.stdin", Pipe("".join(f"{answer}\n" for answer in answers)))
    main(["new-study", name, "--ask", "--config", str(config)])
    return config / "studies" / name


@pytest.mark.slow
def test_ask_prompts_for_the_options_of_the_command(config, monkeypatch):
    # GPU, model, speed, devices of a job, jobs, samples, currency, rate, price, device, count, kW, weeks
    answers = ("RTX 4090", "", "1120", "1", "31", "1,5e7", "EUR", "", "21900", "RTX 5090", "4", "2,1", "6")
    folder = asked(monkeypatch, config, *answers)
    (job,) = load_monthly(folder / "workloads.yaml")["month"].jobs
    assert (job.samples, job.per_month.value, job.devices_per_job) == (15_000_000, 31, 1)
    box = load_yaml(folder / "prices" / "box.yaml")["offers"][0]
    assert (box["own"]["capex"], box["own"]["kw"], box["available_from_weeks"]) == (21900, 2.1, 6)
    assert not read_study("mine", config).errors


@pytest.mark.parametrize(
    ("answers", "words"),
    [(("RTX 4090", "", "1,120"), "--speed: .*two ways"), (("RTX 4090", "", "9", "0"), "--devices-per-job"),
     (("RTX 4090", ""), "the answers end before --speed")],
)  # fmt: skip
def test_an_answer_that_cannot_be_read_writes_nothing(config, monkeypatch, answers, words):
    with pytest.raises(UserError, match=words):
        asked(monkeypatch, config, *answers)
    assert not (config / "studies" / "mine").exists()
