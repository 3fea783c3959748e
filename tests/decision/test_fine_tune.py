"""The study by tokens: its README's hand calculation, an error common to all machines, and a figure that ends it."""

import pytest
from month_tables import month_tables
from study_tables import STUDIES

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
