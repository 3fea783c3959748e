"""A study of one's own: valid at once, about the machine that a person has and the offer on the desk."""

import csv
import datetime
import io
from dataclasses import replace
from typing import get_args

import pytest
import yaml
from project_copy import ROOT
from sweetspot import frameworks
from sweetspot.catalogues.readers import FORMATS
from sweetspot.commands import new_study
from sweetspot.commands.cli import FRAMEWORKS, PRECISIONS, PRICE_FORMATS, RECORD_FORMATS, STACKS
from sweetspot.commands.command_line import main
from sweetspot.commands.new_study import MEASURED, RATES, TIMED, StudyRequest, create_study
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study import base
from sweetspot.study.workloads import load_monthly
from sweetspot.study.yamlfile import load_yaml
from sweetspot.transfer import mfu
from sweetspot.transfer.figures import shipped_devices
from sweetspot.use.job_records import REQUIRED_COLUMNS

TODAY = datetime.date(2026, 1, 2)
CARD = ["--gpu-name", "RTX 4090", "--speed", "9"]
TIMED_4090 = StudyRequest("mine", gpu_name="RTX 4090", speed=1120.0)


@pytest.fixture
def config(tmp_path):
    """A config folder whose entries, and shipped studies, are links to the project's."""
    folder = tmp_path / "config"
    (folder / "studies").mkdir(parents=True)
    for entry in (*(ROOT / "config").iterdir(), *(ROOT / "config" / "studies").iterdir()):
        if entry.name != "studies":
            (folder / entry.relative_to(ROOT / "config")).symlink_to(entry)
    return folder


@pytest.fixture
def made(config):
    """Create a study and return its files as data by their path."""

    def create(name="mine", **options):
        folder = create_study(replace(TIMED_4090, name=name, config=config, **options), TODAY)
        texts = {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}
        return {name: text if name.endswith(".csv") else yaml.safe_load(text) for name, text in texts.items()}

    return create


@pytest.fixture
def typed(config):
    """`sweetspot new-study mine`; the folder of the study."""

    def call(*arguments, name="mine"):
        assert main(["new-study", name, *arguments, "--config", str(config)]) == 0
        return config / "studies" / name

    return call


def test_a_gpu_that_was_timed_is_a_study_without_a_mistake(config, typed, capsys):
    folder = typed(*CARD[:3], "1120", "--currency", "gbp", "--rate", "1,33")
    assert "make report STUDY=mine\n" in capsys.readouterr().out
    plan = load_invocation(config / "config.yaml", {"study": "mine"}, config)
    assert plan.study.transfer and not plan.study.measure and plan.study.cells.headline_batch_size == "own"
    assert plan.study.currency.usd_per_unit == 1.33 and plan.price_lists == ("box", "rent")
    (rate,) = load_yaml(folder / "prices" / "box.yaml")["rates"]
    assert (rate["currency"], rate["usd"]) == ("GBP", 1.33) and "typed by us" in rate["source"]
    (work,) = load_monthly(folder / "workloads.yaml").values()
    assert (work.have, work.jobs[0].per_month.value, work.jobs[0].samples) == ([TIMED], 20, 100_000_000)


def test_the_gpu_of_this_machine_is_measured(config, monkeypatch, capsys):
    monkeypatch.setattr(new_study, "nvidia_gpus", lambda: (["NVIDIA GeForce RTX 4090"], ""))
    assert main(["new-study", "mine", "--config", str(config)]) == 0
    assert "make report STUDY=mine GPU=1\n" in capsys.readouterr().out
    plan = load_invocation(config / "config.yaml", {"study": "mine", "measure_on": MEASURED}, config)
    assert plan.study.transfer and plan.study.measure
    assert {cell.instance for cell in plan.cells} == {MEASURED}
    cells = plan.study.cells
    asked = {(model, size, cells.precision) for model in cells.model for size in cells.batch_size}
    assert asked <= {(cell.model, cell.batch_size, cell.precision) for cell in plan.cells}
    assert not (config / "studies" / "mine" / "throughput.csv").exists()
    assert plan.study.targets[0].model_dump() == {"instance": "box-4", "base_instance": MEASURED, "gpus": 4}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--gpu-name", "RTX 9999", "--speed", "9"], "'RTX 9999': no device of that name is specified"),
        (["--gpu-name", "RTX 4090"], "--gpu-name and --speed belong together"),
        ([*CARD, "--currency", "XAU"], "--currency is 'XAU'; expected USD, EUR, or --rate"),
        ([*CARD, "--currency", "EUR", "--rate", "-1"], "--rate.*-1"),
        ([*CARD, "--rate", "1.1"], "--rate is 1.1 USD for one USD"),
        ([*CARD, "--currency", "€"], "--currency is '€'; expected three letters"),
        ([*CARD, "--batch-size", "0"], "--batch-size.*0"),
        ([*CARD, "--model", "a b"], "--model is 'a b'"),
        ([*CARD, "--devices-per-job", "some"], "'some' given; expected a whole number above 0, or all"),
        (["--work", "llama-9 lora 1M"], "'llama-9' is not known"),
        (["--work", "llama-3.1-8b lora"], "expected MODEL METHOD TOKENS"),
        (["--work", "llama-3.1-8b lora 1M", *CARD], "--work is given with"),
        (["--work", "llama-3.1-8b lora 1M", "--framework", "torch"], "--work is given with"),
        ([*CARD, "--offer-count", "4"], "without --offer-price"),
        ([*CARD, "--offer-price", "21,900"], "two ways"),
        ([*CARD, "--offer-price", "2"], "cannot be"),
        ([*CARD, "--offer-price", "21900", "--offer-device", "RTX 9999"], "'RTX 9999': no device of that name"),
        (["--gpu-name", "V100", "--speed", "9", "--precision", "bf16"], "does not compute in bf16"),
        ([*CARD[:3], "9e5"], "at its dense peak in fp16"),
        ([*CARD, "--samples-per-job", "0,5"], "--samples-per-job.*'0,5'")
    ]
)  # fmt: skip
def test_what_cannot_be_used_writes_nothing(config, typed, arguments, words):
    with pytest.raises(UserError, match=words):
        typed(*arguments)
    assert not (config / "studies" / "mine").exists()


@pytest.mark.parametrize("name", ["../x", "a b", "<b>x</b>", "$(id)", "", ".hidden", "x" * 65, "parkopedia-2018"])
def test_a_name_that_is_none_or_of_a_study_that_exists_is_refused_and_nothing_is_written(config, name):
    before = sorted(config.rglob("*"))
    with pytest.raises(UserError, match="the study exists" if name == "parkopedia-2018" else "NAME is"):
        create_study(replace(TIMED_4090, name=name, config=config), TODAY)
    assert sorted(config.rglob("*")) == before


def test_work_by_tokens_has_its_currency_jobs_and_devices(config, typed):
    work = ["--work", "Qwen2.5-32B qlora 1,5B tokens"]
    folder = typed(*work, "--currency", "CHF", "--rate", "1,25", "--devices-per-job", "1", "--jobs-per-month", "4")
    assert not read_study("mine", config).errors
    job = load_monthly(folder / "workloads.yaml")["month"].jobs[0]
    assert (job.model, job.samples, job.per_month.value, job.devices_per_job) == (
        "qwen2.5-32b.qlora.2048", 1.5e9, 4, 1
    )  # fmt: skip
    study = load_yaml(folder / "study.yaml")
    assert (study["currency"]["code"], study["currency"]["usd_per_unit"]) == ("CHF", 1.25)
    assert study["cells"]["model"] == ["qwen2.5-32b.qlora.2048"]


def test_ask_prompts_for_the_options_and_again_after_a_mistake(config, monkeypatch, capsys):
    # GPU, model, speed, devices of a job, jobs, samples, currency, rate, price, device, count, kW, weeks
    answers = "RTX 4090\n\nfast\n1,120\n1120\n1\n31\n1,5e7\nEUR\n\n21900\nRTX 5090\n\n2,1\n6\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    main(["new-study", "mine", "--ask", "--config", str(config)])
    said = capsys.readouterr().out
    assert "expected a number such as 1200" in said and "two ways" in said
    (job,) = load_monthly(config / "studies/mine/workloads.yaml")["month"].jobs
    assert (job.model, job.samples, job.per_month.value, job.devices_per_job) == ("resnet50", 15_000_000, 31, 1)
    box = load_yaml(config / "studies/mine/prices/box.yaml")["offers"][0]
    assert (box["instance"], box["own"]["capex"], box["own"]["kw"], box["available_from_weeks"]) == (
        "box-4", 21900, 2.1, 6
    )  # fmt: skip


def test_answers_that_end_write_nothing_and_those_that_are_refused_are_repeated(config, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("RTX 4090\n\n"))
    with pytest.raises(UserError, match="the answers end"):
        main(["new-study", "mine", "--ask", "--config", str(config)])
    monkeypatch.setattr("sys.stdin", io.StringIO("RTX 4090\n\n9e5\n" + "\n" * 6))
    with pytest.raises(UserError, match="at its dense peak"):
        main(["new-study", "mine", "--ask", "--config", str(config)])
    assert "'--gpu-name=RTX 4090'" in capsys.readouterr().err
    assert not (config / "studies" / "mine").exists()


def test_choices_of_options_are_those_of_the_library():
    assert get_args(base.Precision) == PRECISIONS and tuple(frameworks.FRAMEWORKS) == FRAMEWORKS
    assert mfu.STACKS == STACKS
    assert ("aws-spot-history", *FORMATS) == PRICE_FORMATS and tuple(REQUIRED_COLUMNS) == RECORD_FORMATS


def test_the_figure_that_the_person_timed_is_a_row_of_one_device(made):
    (row,) = csv.DictReader(io.StringIO(made(batch_size=256)["throughput.csv"]))
    assert {name: value for name, value in row.items() if value} == {
        "gpu": "RTX 4090", "instance": TIMED, "gpus": "1", "framework": "torch", "benchmark": "own",
        "model": "resnet50", "batch_size": "256", "precision": "fp16", "variant": "default", "images_per_s": "1120",
        "as_of": str(TODAY), "source": f"timed by us, given to sweetspot new-study on {TODAY}"
    }  # fmt: skip


def test_rentals_are_the_cheapest_of_one_maker_and_each_is_estimated_from_one_of_its_devices(made):
    """A device that nobody offers alone is declared for that. Vast.ai: 1.522 an hour, of another day and list."""
    files, devices = made(), shipped_devices()
    instances = files["instances.yaml"]
    offers = {offer["instance"]: offer for offer in files["prices/rent.yaml"]["offers"]}
    assert len(offers) > 20 and set(offers) <= set(instances)
    assert {devices.get(instances[name]["gpu"]).maker for name in offers} == {"nvidia"}
    vast = offers["vastai-4x4090"]
    assert (vast["per_hour"], str(vast["as_of"]), vast["billing"]) == (1.522, "2026-07-20", {"granularity": "second"})
    assert vast["source"].startswith("vast.ai, on demand") and "gpu-pricing-tracker" in vast["source"]
    assert offers["runpod-1x4090"]["per_hour"] == 0.74 and offers["nebius-8xh100-sxm"]["per_hour"] == 30.8
    targets = {target["instance"]: target for target in files["study.yaml"]["targets"]}
    assert set(targets) == {"box-4"} | {name for name in offers if instances[name]["gpus"] > 1}
    for name, target in targets.items():
        base = instances[target["base_instance"]]
        assert (base["gpu"], base["gpus"], target["gpus"]) == (instances[name]["gpu"], 1, instances[name]["gpus"])
        assert instances[name]["base_instance"] == target["base_instance"]
    bases = {base for base in instances if base.startswith("one-")}
    assert bases == {"one-h200-sxm", "one-b200-sxm", "one-b300-sxm"}
    amd = made("amd", gpu_name="MI300X")["prices/rent.yaml"]["offers"]
    assert {offer["instance"].partition("-")[0] for offer in amd} == {"crusoe", "digitalocean", "hotaisle"}


def test_a_box_has_the_price_of_office_box_2026_and_what_is_there_costs_its_electricity(made):
    office = load_yaml(ROOT / "config/studies/office-box-2026/prices/office.yaml")
    known = next(offer for offer in office["offers"] if offer["instance"] == "office-4x4090")
    prices = made()["prices/box.yaml"]
    box, owned = prices["offers"]
    assert (box["instance"], box["source"], str(prices["as_of"])) == ("box-4", known["source"], "2026-06-22")
    assert {key: box["own"][key] for key in ("capex", "kw", "per_kwh")} == {
        key: known["own"][key] for key in ("capex", "kw", "per_kwh")
    }
    assert (owned["instance"], owned["own"]["capex"]) == (TIMED, 0)
    # A quarter of the box: 2.2, 1.6 and 2.5 kW of four.
    assert owned["own"]["kw"] == {"value": 0.55, "low": pytest.approx(0.4), "high": pytest.approx(0.625)}
    # 14,500 / 1.1378 = 12,744; 10,396 / 1.1378 = 9,137; 21,520 / 1.1378 = 18,914
    euro = made("euro", currency="EUR")
    assert euro["prices/box.yaml"]["offers"][0]["own"]["capex"] == {"value": 12740, "low": 9140, "high": 18910}
    assert euro["prices/box.yaml"]["rates"] == [{"currency": "EUR", **RATES["EUR"]}]
    assert euro["study.yaml"]["currency"]["usd_per_unit"] == 1.1378


def test_a_box_whose_price_nobody_knows_is_not_offered(made):
    files = made(gpu_name="H100 SXM")
    assert [offer["instance"] for offer in files["prices/box.yaml"]["offers"]] == [TIMED]
    assert "box-4" not in files["instances.yaml"] and "reference" not in files["study.yaml"]


def test_the_offer_on_the_desk_is_the_machine_that_one_may_buy(made):
    """Another device than one's own: its price and power as told, its speed from one such device."""
    offer = {"offer_device": "RTX 5090", "offer_count": 2, "offer_price": 11_000.0, "offer_kw": 1.45}
    files = made(**offer, offer_delivery_weeks=6.0, currency="EUR")
    box = files["prices/box.yaml"]["offers"][0]
    assert (box["instance"], box["available_from_weeks"]) == ("box-2", 6)
    assert (box["own"]["capex"], box["own"]["kw"]) == (11_000, 1.45)  # in EUR
    machine = files["instances.yaml"]["box-2"]
    assert (machine["gpu"], machine["gpus"], machine["base_instance"]) == ("RTX 5090", 2, "runpod-1x5090")
    assert files["study.yaml"]["reference"] == "box-2"
    assert {"instance": "box-2", "base_instance": "runpod-1x5090", "gpus": 2} in files["study.yaml"]["targets"]
    single = made("single", **offer | {"offer_count": 1, "offer_device": "GRID K520", "offer_kw": None})
    assert single["instances.yaml"]["box-1"]["equivalent_to"] == "one-grid-k520"
    assert single["prices/box.yaml"]["offers"][0]["own"]["kw"]["value"] == pytest.approx(0.325)  # 225 W + 100 W
