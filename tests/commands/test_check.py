"""`sweetspot check`: everything that is wrong in what a person wrote is said at once, before anything runs."""

import json
import shutil
from pathlib import Path

import pytest
from project_copy import ROOT, edit
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study

# Of the shipped studies those that differ in what they have: logs, scenarios, plans of phases and of months.
SHIPPED = ("fine-tune-2026", "lab-of-five", "office-box-2026", "parkopedia-2018", "woolf-2017")
STUDY = """
name: lab
title: A lab
question: Buy or rent?
as_of: 2026-01-01
sources: [{id: own, title: Ourselves, date: "2026"}]
cells: {model: [resnet50], batch_size: [64], precision: fp16, headline_batch_size: 64}
reference: box
"""
INSTANCES = """
box: {title: A box, provider: own, gpu: RTX 4090, gpus: 1}
cloud: {title: A rented machine, provider: aws, gpu: Tesla V100, gpus: 1}
"""
WORKLOADS = "job: {kind: training, model: resnet50, samples: 1000000, source: this test}\n"
PRICES = """
as_of: 2026-01-01
source: this test
offers:
  - {instance: cloud, per_hour: 3.0}
  - instance: box
    purchase: own
    own: {capex: 5000, months: 36, kw: 0.6, per_kwh: 0.3, days_per_month: 20}
"""
HEADER = (
    "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,"
    "images_per_s,images_per_s_low,images_per_s_high,source,note\n"
)
FIGURES = (
    HEADER + "RTX 4090,box,1,tensorflow,2.15,own,resnet50,64,fp16,default,synthetic,1400,1300,1500,our own runs,\n"
    "Tesla V100,cloud,1,tensorflow,2.15,own,resnet50,64,fp16,default,synthetic,1100,,,a page,\n"
)
EFFICIENCIES = """base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source
box,box,4,resnet50,64,fp16,default,1.3,own
box,box,4,resnet50,0,fp16,default,0.9,own
"""
TIMES = """benchmark,gpu,gpus,nodes,minutes,round,submitter,precision,global_batch,samples,kind,source,date
resnet50,H100,8,3,5.0,five,Lab,fp16,,,own,,2026-01-01
"""


@pytest.fixture
def lab(tmp_path):
    """A sound study in a project of its own: (config folder, study folder)."""
    config = tmp_path / "config"
    folder = config / "studies" / "lab"
    (folder / "prices").mkdir(parents=True)
    for name in ("config.yaml", "instances.yaml"):
        shutil.copy(ROOT / "config" / name, config)
    written = {"study.yaml": STUDY, "instances.yaml": INSTANCES, "workloads.yaml": WORKLOADS}
    for name, text in (written | {"prices/all.yaml": PRICES, "throughput.csv": FIGURES}).items():
        (folder / name).write_text(text)
    return config, folder


def said(lab):
    """Mistakes of the study as sentences, paths told from the project's folder or the study's."""
    config, folder = lab
    sentences = [sentence for _, sentence in read_study("lab", config).errors]
    return [sentence.replace(f"{folder}/", "").replace(f"{config}/", "") for sentence in sentences]


def test_a_sound_study_has_no_mistake_and_one_line_of_what_was_read(lab, capsys):
    config, _ = lab
    assert main(["check", "lab", "--config", str(config)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    # two machines of the study, and two of one's own beside it: workstation, workstation-gpu
    for what in ("mistakes: 0", "study.yaml (1)", "instances.yaml (4)", "all.yaml (2)"):
        assert what in line


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_the_studies_that_come_with_the_project_have_no_mistake(name):
    found = read_study(name, ROOT / "config")
    assert found.errors == []
    figures = {"throughput.csv", "efficiency.csv", "time_to_target.csv", "claims.yaml"}
    there = {file.name for file in (ROOT / "config" / "studies" / name).iterdir()}
    assert {Path(file).name for file in found.read} & figures == there & figures


def test_mistakes_of_every_file_are_said_at_once(lab):
    config, folder = lab
    edit(config / "config.yaml", "runs: 2", "runs: 0")
    edit(folder / "study.yaml", "reference: box", "month_days: old\nborrow: [nowhere]")
    edit(folder / "instances.yaml", "gpu: Tesla V100, gpus: 1", "gpu: Tesla V100, gpus: 0, colour: red")
    edit(folder / "workloads.yaml", "samples", "sampels")
    edit(folder / "prices" / "all.yaml", "per_hour: 3.0", "per_hour: -3.0")
    edit(folder / "prices" / "all.yaml", "capex: 5000", "capx: 5000")
    edit(folder / "throughput.csv", "1400,1300,1500,our own runs", "1400,1450,1500,")
    edit(folder / "throughput.csv", "synthetic,1100,,", "synthetic,fast,,")
    (folder / "efficiency.csv").write_text(EFFICIENCIES)
    (folder / "time_to_target.csv").write_text(TIMES)
    (folder / "claims.yaml").write_text("- {id: first, text: First, valu: 1 + 1, source: own}\n")
    mistakes = [
        ("study.yaml", "'month_days'", "'old'"),
        ("instances.yaml", "'gpus'", " 0;"),
        ("instances.yaml", "'colour'", "unknown"),
        ("workloads.yaml", "'job.samples'", "missing"),
        ("workloads.yaml", "'job.sampels'", "'samples'"),
        ("prices/all.yaml", "offers[0].per_hour", "found -3"),
        ("prices/all.yaml", "offers[1].own.capex", "missing"),
        ("prices/all.yaml", "offers[1].own.capx", "'capex'"),
        ("config.yaml", "'runs'", " 0;"),
        ("throughput.csv, line 2", "source", "missing"),
        ("throughput.csv, line 3", "images_per_s", "'fast'"),
        ("efficiency.csv, line 2", "efficiency", "1.3"),
        ("efficiency.csv, line 3", "batch_size", "'0'"),
        ("time_to_target.csv, line 2", "source", "missing"),
        ("claims.yaml", "claims[0].valu", "'value'"),
    ]
    assert_said(lab, mistakes)


def assert_said(lab, mistakes):
    """One sentence for each mistake, in order, with all its parts: the file first."""
    sentences = said(lab)
    assert len(sentences) == len(mistakes), sentences
    for sentence, (file, *parts) in zip(sentences, mistakes, strict=True):
        assert sentence.startswith(file) and all(part in sentence for part in parts), sentence


def test_what_one_file_says_of_another_is_checked_where_both_are_right(lab):
    _, folder = lab
    edit(folder / "study.yaml", "reference: box", "reference: boxes")
    edit(folder / "workloads.yaml", "samples: 1000000", "samples: 1000000, devices_per_job: 64")
    edit(folder / "prices" / "all.yaml", "instance: cloud, per_hour: 3.0", "instance: clowd, per_hour: 3.0")
    (folder / "prices" / "second.yaml").write_text(PRICES.replace("per_hour: 3.0", "per_hour: 3.0, currency: EUR"))
    (folder / "prices" / "third.yaml").write_text(PRICES + "  - {instance: cloud, per_hour: 2.9}\n")
    assert_said(lab, [
        ("prices/second.yaml", "offers[0]", "EUR"),
        ("prices/third.yaml", "offers[2]", "second time"),
        ("study.yaml", "reference", "'boxes'", "'box'"),
        ("workloads.yaml", "job.devices_per_job", "64", "at most 1"),
        ("prices/all.yaml", "offers[0].instance", "'clowd'", "'cloud'")
    ])  # fmt: skip


def test_an_entry_of_another_shape_is_told(lab):
    entries = ["5", "[1, 2]", "", "{kind: monthly, jobs: 3}", "{kind: plan, phases: [3]}"]
    for number, entry in enumerate(entries):
        edit(lab[1] / "workloads.yaml", "job:", f"bad{number}: {entry}\njob:")
    sentences = said(lab)
    for number in range(len(entries)):
        assert any(text.startswith(f"workloads.yaml: key 'bad{number}") for text in sentences), sentences
    assert all(text.startswith("workloads.yaml: key 'bad") for text in sentences)


def test_two_rates_a_misspelt_device_a_source_to_do_and_what_nothing_reads_are_warnings(lab):
    config, folder = lab
    rate = "as_of: 2026-01-01, source: a page}"
    shown = f"currency: {{code: EUR, usd_per_unit: 1.08, {rate}\nreference: box"
    edit(folder / "study.yaml", "reference: box", shown)
    edit(folder / "prices" / "all.yaml", "offers:", f"rates: [{{currency: EUR, usd: 1.15, {rate}]\noffers:")
    for name in ("instances.yaml", "throughput.csv"):
        edit(folder / name, "RTX 4090", "RTX 409O")
    edit(folder / "prices" / "all.yaml", "source: this test", "source: todo")
    (folder / "workloads.yaml").write_text(WORKLOADS + WORKLOADS.replace("job", "other").replace("resnet50", "bert"))
    found = read_study("lab", config)
    assert found.errors == []
    rules = sorted(rule for _, rule, _ in found.warnings)
    assert rules == ["missing_source", "missing_source", "model_not_asked", "near_name", "two_rates"]
    (name,) = (sentence for _, rule, sentence in found.warnings if rule == "near_name")
    assert "box.gpu is 'RTX 409O'" in name and "'RTX 4090'" in name
    edit(folder / "study.yaml", "usd_per_unit: 1.08", "usd_per_unit: 1.15")
    assert "two_rates" not in {rule for _, rule, _ in read_study("lab", config).warnings}


def test_a_figure_that_cannot_be_is_named_with_its_line(lab):
    # One RTX 4090 does 1,400; 4 of them at 9,000 would do 6.4 times that. 24.5 GFLOP an image x 20,000 is 491 TFLOP/s,
    # which a V100 (125 in fp16) does not reach.
    config, folder = lab
    edit(folder / "throughput.csv", "synthetic,1100,,,", "synthetic,20000,,,")
    with (folder / "throughput.csv").open("a") as file:
        file.write("RTX 4090,elsewhere,4,tensorflow,2.15,p,resnet50,64,fp16,default,synthetic,9000,,,a page,\n")
    found = read_study("lab", config)
    told = [(Path(file).name, rule, words.split(":")[0]) for file, rule, words in found.warnings]
    assert told == [("throughput.csv", "beyond_peak", "line 3"), ("throughput.csv", "more_than_n_times_one", "line 4")]
    assert found.errors == [] and "more than 4 times what one RTX 4090 does (1,400)" in found.warnings[1][2]


def test_the_command_ends_with_0_for_a_warning_and_with_2_for_a_mistake(lab, monkeypatch, capsys):
    config, folder = lab
    monkeypatch.chdir(config.parent)
    edit(folder / "prices" / "all.yaml", "source: this test", "source: todo")
    assert main(["check", "lab", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["ok"], content["errors"], len(content["warnings"])) == (True, [], 2)
    assert {"file": "config/studies/lab/prices/all.yaml", "entries": 2} in content["read"]
    edit(folder / "throughput.csv", "1400,1300", "-1400,1300")
    edit(folder / "workloads.yaml", "1000000", "many")
    assert main(["check", "lab"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert [text.split(": ", 1)[0] for text in lines] == ["error"] * 2 + ["warning"] * 2 + ["lab"]
    assert "mistakes: 2, warnings: 2; read" in lines[-1]


EURO = "currency: {code: EUX, usd_per_unit: 1.1, as_of: 2026-01-01, source: a bank}\nreference"
GOOD_TIME = "resnet50,H100 SXM,8,1,5.0,v5.1,Lab,fp16,,,own,ours,2026-01-01\n"
SLOW = GOOD_TIME.replace("H100 SXM", "L40S").replace("5.0", "%d")


@pytest.mark.parametrize(
    ("file", "old", "new", "rules"),
    [
        ("study.yaml", "reference", EURO, ["unknown_currency"]),
        ("study.yaml", "reference", EURO.replace("EUX", "EUR"), []),
        ("workloads.yaml", "1000000", "999", ["few_samples"]),
        # A V100 has 16 GB by its data sheet: 16 x 1.15 is 18.4.
        ("instances.yaml", "V100,", "V100, gpu_memory_gib: 18.4,", []),
        ("instances.yaml", "V100,", "V100, gpu_memory_gib: 18.41,", ["unlike_data_sheet"]),
        # 2.5 minutes of 16 devices are 5.0 of eight. An H100 SXM does 989.4 TFLOP/s, an L40S 362:
        # 274 x 362 / (5 x 989.4) = 20.05 times the work, 273 = 19.98 times.
        ("time_to_target.csv", "", GOOD_TIME + GOOD_TIME.replace(",8,1,5.0", ",16,2,2.5") + SLOW % 273, []),
        ("time_to_target.csv", "", GOOD_TIME + SLOW % 274, ["unlike_minutes"]),
        ("time_to_target.csv", "", GOOD_TIME.replace("resnet50", "bert"), ["model_not_asked"]),
    ],
)
def test_what_is_odd_but_may_be_is_a_warning(lab, file, old, new, rules):
    target = lab[1] / file
    text = TIMES.splitlines(keepends=True)[0] + new if not old else target.read_text().replace(old, new, 1)
    target.write_text(text)
    found = read_study("lab", lab[0])
    assert (found.errors, [rule for _, rule, _ in found.warnings]) == ([], rules)


def test_an_efficiency_of_more_devices_than_there_are_or_of_another_machine_is_a_mistake(lab):
    row = "box,box,{},resnet50,64,fp16,default,0.9,own\n"
    rows = [row.format(2), row.format(2).replace(",box", ",bxo")]
    (lab[1] / "efficiency.csv").write_text(EFFICIENCIES.splitlines(keepends=True)[0] + "".join(rows))
    assert_said(lab, [("efficiency.csv, line 2", "2 x box by box"), ("efficiency.csv, line 3", "2 x bxo")])


MONTHLY = """
month:
  kind: monthly
  months: 12
  jobs:
    - {name: a, model: resnet50, samples: 1000000, per_month: {value: 20, low: 10, high: 30}, devices_per_job: 1,
       source: this test}
  source: this test
"""


@pytest.fixture
def monthly(lab):
    """A study of months with a folder for scenarios."""
    _, folder = lab
    (folder / "workloads.yaml").write_text(MONTHLY)
    (folder / "scenarios").mkdir()
    return lab


def test_a_machine_that_comes_after_the_project_is_refused_by_check_and_run(monthly):
    # 104 weeks are 104 x 7 / 30.5 = 23.9 months, the project has 12; 52 weeks are 11.93 months, which it has.
    _, folder = monthly
    edit(folder / "prices" / "all.yaml", "purchase: own", "purchase: own\n    available_from_weeks: 52")
    assert said(monthly) == []
    edit(folder / "prices" / "all.yaml", "weeks: 52", "weeks: {value: 104, low: 8, high: 110}")
    (sentence,) = said(monthly)
    assert sentence.startswith("prices/all.yaml: offers[1]") and "23.87 months" in sentence
    edit(folder / "prices" / "all.yaml", "available_from_weeks: {value: 104, low: 8, high: 110}",
         "available_from: 2027-06-01")  # fmt: skip
    assert ["16.92 months" in sentence for sentence in said(monthly)] == [True]  # 516 days / 30.5


def test_a_machine_that_is_there_needs_an_offer_that_says_what_it_costs(monthly):
    _, folder = monthly
    edit(folder / "workloads.yaml", "months: 12", "months: 12\n  have: [cloud]")
    assert said(monthly) == [
        "workloads.yaml: month.have names 'cloud'; expected a machine with an offer `own` in a price list"
    ]
    edit(folder / "workloads.yaml", "have: [cloud]", "have: [box]")
    assert said(monthly) == []


SCENARIOS = {
    "title: A\nworkloads: {month: {jobs: hello}}\n": "key 'month.jobs' is 'hello'",
    "title: A\nworkloads: {month: {months: 0}}\n": "month.months",
    "title: A\nprices: {all: {offers: null}}\n": "with it prices/all.yaml: key 'offers' is missing",
    "title: A\nprices: {all: {offers: [{instance: box, available_from_weeks: 300}]}}\n": "after 68.85 months",
    "title: A\nworkloads: {month: {have: [cloud]}}\n": "month.have names 'cloud'",
    "title: A\nworkloads: {mounth: {months: 5}}\n": "did you mean 'month'",
    "title: A\nprices: {every: {}}\n": "prices.every is unknown",
    "title: A\ntimes_work: 1\n": "changes nothing",
}


def test_what_each_scenario_breaks_is_told_at_once_and_a_sound_one_is_counted(monthly):
    config, folder = monthly
    (folder / "scenarios" / "sound.yaml").write_text("title: Twice\ntimes_work: 2\n")
    found = read_study("lab", config)
    assert found.errors == [] and found.read[str(folder / "scenarios")] == 1
    for number, text in enumerate(SCENARIOS):
        (folder / "scenarios" / f"wrong{number}.yaml").write_text(text.replace("title: ", f"title: {number}"))
    sentences = said(monthly)
    assert len(sentences) == len(SCENARIOS), sentences
    for number, (sentence, told) in enumerate(zip(sentences, SCENARIOS.values(), strict=True)):
        assert sentence.startswith(f"scenarios/wrong{number}.yaml: ") and told in sentence
    # What is wrong in a scenario's own keys comes first, before it what is wrong of the study itself.
    (folder / "scenarios" / "sound.yaml").write_text("title: More\nwrok: 1\n")
    assert said(monthly) == ["scenarios/sound.yaml: key 'wrok' is unknown; remove it or correct its spelling"]
    edit(folder / "workloads.yaml", "months: 12", "months: many")
    assert said(monthly)[0].startswith("workloads.yaml: ")


def test_names_that_match_nothing_are_mistakes_with_the_nearest(monthly):
    _, folder = monthly
    with (folder / "study.yaml").open("a") as file:
        file.write("work: mounth\noffers_in_hand: [clowd, all, cloud, box]\n")
    (folder / "availability.yaml").write_text(
        "facts: [{quantity: stock_share, gpu: Tesla V10, value: 0.5, as_of: '2026', source: ours}]\n"
    )
    (folder / "claims.yml").write_text("[]\n")
    (folder / "throughput.csv").rename(folder / "througput.csv")
    (folder / "scenarios" / "more.yml").write_text("title: More\n")
    (folder / "prices" / "history" / "2018-13-01").mkdir(parents=True)
    mistakes = [
        ("availability.yaml", "gpu", "'Tesla V10'"),
        ("claims.yml", "claims.yaml"),
        ("prices/history/2018-13-01", "no day", "2026-11-22"),
        ("scenarios/more.yml", "more.yaml"),
        ("study.yaml", "offers_in_hand", "'clowd'", "'cloud'"),
        ("study.yaml", "work", "'mounth'", "'month'"),
        ("througput.csv", "throughput.csv"),
    ]
    for sentence, (file, *parts) in zip(sorted(said(monthly)), mistakes, strict=True):
        assert sentence.startswith(file) and all(part in sentence for part in parts), sentence
