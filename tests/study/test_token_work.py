"""Work by tokens in workloads.yaml: samples, cell and memory follow; what is wrong is said."""

import pytest
from sweetspot.errors import UserError
from sweetspot.study.needs import load_needs
from sweetspot.study.open_models import cell_work, memory_need, open_model
from sweetspot.study.workloads import load_monthly, load_workloads

JOB = "model: Llama-3.1-8B, method: lora, tokens: 1000, epochs: 3, sequence: 4096"
CLASS = "{{name: a, per_month: 2, devices_per_job: all, source: x, {job}}}"
MONTH = f"m: {{{{kind: monthly, months: 12, source: x, jobs: [{CLASS}]}}}}\n"


def written(tmp_path, text):
    file = tmp_path / "workloads.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "name"), [(f"job: {{kind: tokens, source: x, {JOB}}}\n", "job"), (MONTH.format(job=JOB), "m.a")]
)
def test_tokens_are_samples_of_a_cell_and_memory_follows(tmp_path, text, name):
    file = written(tmp_path, text)
    job = load_workloads(file)[name]
    assert (job.model, job.samples) == ("llama-3.1-8b.lora.4096", 3000.0)
    expected = memory_need(open_model("llama-3.1-8b"), "lora", 4096).gib(4)
    assert job.memory.gib(4) == load_needs(file)[name].gib(4) == expected


def test_a_need_that_is_stated_counts_instead_of_the_rule(tmp_path):
    file = written(tmp_path, f"job: {{kind: tokens, source: x, gpu_memory_gib: 30, {JOB}}}\n")
    assert load_workloads(file)["job"].memory is None and load_needs(file)["job"].gib(8) == 30


def test_a_class_of_jobs_keeps_what_it_says_beside_its_tokens(tmp_path):
    job = load_monthly(written(tmp_path, MONTH.format(job=JOB)))["m"].jobs[0]
    assert job.per_month.value == 2 and job.tokens is None and job.method is None


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (JOB.replace("8B", "9B"), "llama-3.1-9b|Llama-3.1-9B.*is not known"),
        (JOB.replace("lora", "dpo"), "method.* is 'dpo'"),
        (JOB.replace("method: lora, ", ""), "tokens and method, both or none"),
        (JOB + ", samples: 5", "one of samples, hours and tokens"),
        (JOB.replace("tokens: 1000, ", "samples: 5, "), "tokens and method, both or none"),
        (JOB.replace("1000", "0"), "tokens.* is 0"),
    ],
)
def test_what_is_wrong_in_a_class_is_said(tmp_path, job, said):
    with pytest.raises(UserError, match=said):
        load_monthly(written(tmp_path, MONTH.format(job=job)))


@pytest.mark.parametrize("name", ["resnet50", "phi-2.lora", "phi-2.lora.x", "llama-9.lora.2048", "phi-2.dpo.2048"])
def test_other_models_are_no_work_by_tokens(name):
    assert cell_work(name) is None
    assert cell_work("llama-3.1-8b.lora.4096") == (open_model("llama-3.1-8b"), "lora", 4096)
