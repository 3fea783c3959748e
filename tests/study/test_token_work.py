"""Work by tokens in workloads.yaml: samples, cell and memory follow; what is wrong is said."""

import pytest
from sweetspot.errors import UserError
from sweetspot.study.needs import load_needs
from sweetspot.study.open_models import flop_per_token, memory_need, open_model
from sweetspot.study.token_work import cell_work
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


@pytest.mark.parametrize("name", ["resnet50", "llama-3.1-8b.lora", "llama-9.lora.2048", "llama-3.1-8b.dpo.2048"])
def test_other_models_are_no_work_by_tokens(name):
    assert cell_work(name) is None


def test_attention_of_whole_rows_and_the_bytes_of_logits():
    """PaLM, appendix B, of Llama-3.1-8B: 12 x 32 layers x 32 heads of 128 operations for each token of the row.

    A logit takes 2 bytes in 16 bits, 4 of its copy in 32, and 4 and 2 of their gradients; in parts only the 2: 10 more
    for each of 4,096 x 128,256 logits. QLoRA, sec. 3: 0.127 bits beside 4 of each weight.
    """
    model = open_model("llama-3.1-8b")
    more = flop_per_token(model, "full", 8192) - flop_per_token(model, "full", 4096)
    assert more == pytest.approx(12 * 32 * 32 * 128 * 4096)
    whole, parts = (memory_need(model, "lora", 4096, chunked=chunked).activations_gib for chunked in (False, True))
    assert (whole - parts) * 2**30 == pytest.approx(10 * 4096 * 128_256)
    words = 2 * 128_256 * 4096  # embedding and output, in 32 bits
    weights = 4.127 / 8 * (model.parameters - words) + 4 * words
    assert memory_need(model, "qlora", 4096).frozen_bytes == pytest.approx(weights / model.parameters)
