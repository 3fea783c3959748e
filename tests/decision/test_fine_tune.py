"""The study by tokens: its README's hand calculation, an error common to all machines, and a figure that ends it."""

import shutil

import pytest
from month_tables import month_tables
from study_tables import STUDIES
from sweetspot.throughput.speed_errors import SOFTWARE, common_errors

B200 = 8 * 2250e12
# Operations a token by hand: weights 6 or 4, adapters 6, attention 12 L a s.
LLAMA = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 4096 * 128256
QWEN = 64 * (2 * 5120 * 5120 + 2 * 5120 * 1024 + 3 * 5120 * 27648) + 5120 * 152064
SMALL = 16 * (2 * 2048 * 2048 + 2 * 2048 * 512 + 3 * 2048 * 8192) + 2048 * 128256
NANO = 20 * 12 * 1280 * 1280 + 1280 * 65536
BY_HAND = {
    "lora-8b": (4 * LLAMA + 6 * 32 * 16 * (2 * 8192 + 2 * 5120) + 12 * 32 * 4096 * 2048, 1e8, 0.359),
    "full-8b": (6 * LLAMA + 12 * 32 * 4096 * 2048, 1e8, 0.317),
    "lora-32b": (4 * QWEN + 6 * 64 * 16 * (2 * 10240 + 2 * 6144) + 12 * 64 * 5120 * 2048, 2e7, 0.359),
    "pretrain-1b": (6 * SMALL + 12 * 16 * 2048 * 2048, 20 * 1_235_746_816, 0.33057),
    "nanochat": (6 * NANO + 12 * 20 * 1280 * 2048, 20 * 560_988_160, 0.33057),
}


@pytest.fixture(scope="module")
def fine_tune():
    return month_tables(STUDIES / "fine-tune-2026", 300, turning=False)


@pytest.mark.parametrize("job", BY_HAND)
def test_hours_and_cost_of_a_job_by_hand(fine_tune, job):
    operations, tokens, share = BY_HAND[job]
    hours = operations * tokens / (B200 * share) / 3600
    row = fine_tune["costs"].set_index(["workload", "instance"]).loc[(f"month.{job}", "lambda-8xb200")]
    assert row["hours"] == pytest.approx(hours, rel=0.003)
    assert row["usd"] == pytest.approx(53.52 * hours, abs=53.52 / 60)  # whole minutes
    assert row["basis"] == "arithmetic"


def test_a_full_fine_tuning_does_not_fit_a_small_device(fine_tune):
    """8 B weights of 2 + 2 + 4 bytes: 59.8 GiB on one device, of 48 GB; a quarter on each of four."""
    options = fine_tune["options"]
    full = options[options["workload"] == "month.full-8b"].set_index("instance")["fits"]
    assert not full["runpod-1xl40s"] and full["office-4x4090"] and full["hyperstack-1xh100-sxm"]


def test_an_own_figure_replaces_the_software_that_all_have_in_common(tmp_path):
    """An RTX 4090 (1,008 GB/s) timed at 2,000 tokens/s: eight B200 of 8,000 GB/s do 8 x 8000 / 1008 x 2000."""
    folder = tmp_path / "fine-tune-2026"
    shutil.copytree(STUDIES / "fine-tune-2026", folder)
    head = (STUDIES / "start-up-2026" / "throughput.csv").read_text().splitlines()[0].split(",")
    known = {"gpu": "RTX 4090", "instance": "runpod-1x4090", "gpus": "1", "framework": "torch", "benchmark": "own",
             "model": "llama-3.1-8b.lora.2048", "batch_size": "1", "precision": "bf16", "variant": "default",
             "images_per_s": "2000", "unit": "tokens", "source": "timed by us", "as_of": "2026-09-19"}  # fmt: skip
    row = ",".join(known.get(name, "") for name in head)
    (folder / "throughput.csv").write_text(f"{','.join(head)}\n{row}\n")
    found = month_tables(folder, 2, turning=False)
    told = found["options"].set_index(["workload", "instance"])
    expected = 8 * 8000 / 1008 * 2000
    row = told.loc[("month.lora-8b", "lambda-8xb200")]
    assert row["images_per_s"] == pytest.approx(expected, rel=0.002) and row["throughput_basis"] == "transferred"
    assert told.loc[("month.lora-8b", "runpod-1x4090"), "throughput_basis"] == "own"
    assert common_errors({"throughput_basis": "transferred"}) == {}
    assert set(common_errors({"throughput_basis": "arithmetic"})) == {SOFTWARE}
