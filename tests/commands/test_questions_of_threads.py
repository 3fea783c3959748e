"""`sweetspot estimate`: questions that people asked on GitHub, memory and hours by hand, what they saw; refusals."""

import json
import re

import pytest
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

WORK = "llama-3.1-8b lora 100M tokens"
# Dense bf16 TFLOP/s by data sheets, and the share: pretrain 33.1 %, full 31.7, lora 35.9, qlora 34.7, grpo 18.3.
# Operations a token: 6 P (4 P of frozen weights) + 12 x layers x width x 2048, P without the embedding; grpo twice it.
NANOCHAT = 6 * 0.4771 + 12 * 20 * 1280 * 2048 / 1e9  # 3.49 G
QLORA_14B = 4 * 13.99 + 12 * 48 * 5120 * 2048 / 1e9  # 62.0 G, of its adapters 0.1
FULL_13B = 6 * 12.85 + 12 * 40 * 5120 * 2048 / 1e9  # 82.1 G
FULL_70B = 6 * 68.71 + 12 * 80 * 8192 * 2048 / 1e9  # 428 G
LORA_70B = 4 * 68.71 + 12 * 80 * 8192 * 2048 / 1e9  # 291 G
GRPO_7B = 2 * (6 * 7.07 + 12 * 28 * 3584 * 2048 / 1e9)  # 89.8 G

# Thread, words, device, how many: what is told of memory, hours by hand, hours that they saw (None: not).
ASKED = [
    ("karpathy/nanochat#157", "nanochat-d20 pretrain 11.2B", "RTX 4090", 1, "fits",
     NANOCHAT * 11.2e9 / (165.2e3 * 0.331) / 3600, 13.78 * 21_400 / 3600),
    ("karpathy/nanochat#147", "nanochat-d20 pretrain 11.2B", "A100 SXM 80GB", 8, "fits",
     NANOCHAT * 11.2e9 / (8 * 312e3 * 0.331) / 3600, 0.99 * 21_400 / 3600),
    ("Crow#19: 14 B QLoRA, 20 M tokens, in six hours?", "Qwen/Qwen2.5-14B-Instruct qlora 20M tokens", "RTX 5090", 1,
     "tight", QLORA_14B * 20e6 / (209.5e3 * 0.347) / 3600, None),
    ("hiyouga/LlamaFactory#4559: on 24 GB? out of memory", "llama-3-70b qlora 10M", "RTX 4090", 1, "too small",
     None, None),
    ("haotian-liu/LLaVA#903: on one? about 150 GB", "llama-2-70b lora 10M", "H100 SXM", 1, "too small", None, None),
    ("the same, on eight", "llama-2-70b lora 10M", "H100 SXM", 8, "fits",
     LORA_70B * 10e6 / (8 * 989.4e3 * 0.359) / 3600, None),
    ("haotian-liu/LLaVA#121: 80 GB do, 40 do not", "meta-llama/Llama-2-7b-hf SFT 10M", "A100 SXM 80GB", 1, "fits",
     None, None),
    ("meta-llama/llama#973: a million samples of 5-600 tokens", "llama-2-13b full 1M samples x 550", "H100 SXM", 1,
     "too small", None, None),
    ("the same, on eight", "llama-2-13b full 1,000,000 x 550", "H100 SXM", 8, "fits",
     FULL_13B * 550e6 / (8 * 989.4e3 * 0.317) / 3600, None),
    ("meta-llama/llama#389: how many A100 80? 16", "llama-2-70b full 10M", "A100 SXM 80GB", 8, "tight",
     FULL_70B * 10e6 / (8 * 312e3 * 0.317) / 3600, None),
    ("huggingface/open-r1#100: 7 B? eight H100 do", "Qwen2.5-7B grpo 50M", "H100 SXM", 8, "fits",
     GRPO_7B * 50e6 / (8 * 989.4e3 * 0.183) / 3600, None),
    ("meta-llama/llama-cookbook#100: 7 B full; not one of 24 GB", "llama-2-7b full 10M", "RTX 4090", 1,
     "too small", None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("thread", "words", "gpu", "gpus", "memory", "hours", "seen"), ASKED, ids=[row[0] for row in ASKED]
)
def test_a_question_of_a_thread(thread, words, gpu, gpus, memory, hours, seen, estimate):
    answer = estimate(words)
    row = next(one for one in [*answer["machines"], *answer["too_small"]] if (one["gpu"], one["gpus"]) == (gpu, gpus))
    assert row["memory"] == memory
    if hours is not None:
        assert row["hours"] == pytest.approx(hours, rel=0.01)
    if seen is not None:
        assert row["hours_low"] <= seen <= row["hours_high"]


def test_machines_that_are_not_told_apart_are_named_and_small_ones_too(capsys):
    main(["estimate", "llama-2-13b full 1M x 550"])
    said = capsys.readouterr().out
    assert "too small: 1 x L40S (100 GiB each)" in said and "as cheap for all that is known:" in said


@pytest.fixture
def estimate(capsys):
    """The object that the command prints."""

    def typed(*words):
        assert main(["estimate", *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return typed


def test_a_model_of_ones_own_is_its_shape_and_as_the_row_of_the_same(estimate):
    known, own = (
        estimate(f"{model} lora 100M")["machines"][0]
        for model in ("llama-3.1-8b", "own-8030m-32l-4096w-32h-8k-128256v")
    )
    assert own["hours"] == pytest.approx(known["hours"], rel=1e-4)
    assert own["need_gib"] == pytest.approx(known["need_gib"], rel=1e-3)


def test_the_ratio_is_exact_on_the_same_devices_and_as_wide_as_one_timing_leaves_it_on_others(estimate):
    """1.78 = exp(1.645 x 0.35): on 90 % of other devices the pairs of figures of one stack lie nearer."""
    rows = estimate(WORK)["machines"]
    best, known = rows[0], [row for row in rows if row["basis"] == "arithmetic" and not row["pcie"]]
    for row in known:
        wide = 1.0 if (row["gpu"], row["gpus"]) == (best["gpu"], best["gpus"]) else 1.778
        ends = row["ratio"] * wide, row["ratio"] / wide
        assert (row["ratio_high"], row["ratio_low"]) == pytest.approx(ends, rel=1e-3)


REFUSED = [
    ([WORK.replace("lora", "dpo")], "work is 'llama-3.1-8b dpo 100M tokens'; expected MODEL METHOD TOKENS"),
    (["llama-3.1-8b lora 0M"], "expected MODEL METHOD TOKENS"),
    ([WORK, "--timed", "RTX 4090"], "--timed is 'RTX 4090'; expected GPU: RATE"),
    ([WORK, "--timed", "RTX 4090: 9000000"], "of that device's peak"),
    ([WORK, "--epochs", "0"], "epochs 0; expected numbers above 0"),
]


@pytest.mark.parametrize(("given", "told"), REFUSED)
def test_what_it_cannot_read_is_refused(given, told):
    with pytest.raises(UserError, match=re.escape(told)):
        main(["estimate", *given])


def test_a_timing_gives_its_own_device_its_own_hours(estimate):
    answer = estimate(WORK, "--timed", "A100 SXM 80GB: 5000 tokens/s")
    rows = [row for row in answer["machines"] if row["gpu"] == "A100 SXM 80GB" and row["gpus"] == 1]
    assert rows and all(row["hours"] == pytest.approx(1e8 / 5000 / 3600) for row in rows)


def test_the_cheapest_fits_and_is_in_time(estimate, capsys):
    answer = estimate(WORK, "--within", "1")
    known = [row for row in answer["machines"] if row["basis"] == "arithmetic"]
    fit = [row for row in known if row["hours"] <= 1 and row["memory"] == "fits"]
    assert answer["cheapest"] == min(fit, key=lambda row: row["usd"])
    assert main(["estimate", WORK, "--within", "0.001"]) == 0 and "within 0.001 h: none" in capsys.readouterr().out


def test_every_price_has_its_day_and_source_as_the_study_has_them(estimate, capsys):
    rows = estimate(WORK)["machines"]
    assert all(row["source"] and re.fullmatch(r"2026-\d\d-\d\d", row["as_of"]) for row in rows)
    main(["estimate", WORK])
    days = sorted(row["as_of"] for row in rows)
    assert f"prices of {days[0]} to {days[-1]}; --json has their sources" in capsys.readouterr().out
