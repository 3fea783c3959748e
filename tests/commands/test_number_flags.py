"""Numbers in flags and short texts: a decimal comma, an exponent and an ambiguous thousand, in every command."""

import pytest
from sweetspot.commands.ask import parse_deadline
from sweetspot.commands.command_line import main
from sweetspot.commands.estimate import mfu_of, parse_work
from sweetspot.commands.predict import measured
from sweetspot.errors import UserError
from sweetspot.transfer.figures import shipped_devices

TOKENS = {
    "1,5B tokens": 1.5e9,  # not 15 billion
    "2.8e8 tokens": 2.8e8,
    "1M x 550": 5.5e8,
    "1,5k samples x 1e3": 1.5e6,
    "1,234,567 tokens": 1_234_567,
}


def test_tokens_are_read_as_they_are_meant() -> None:
    assert {text: parse_work(f"llama-3.1-8b lora {text}").tokens for text in TOKENS} == pytest.approx(TOKENS)


@pytest.mark.parametrize("count", ["1,500", "1,500M", "0", "1e400", "1e19", "1,5 B tokens and more", "0.0001"])
def test_tokens_that_cannot_be_read_are_refused(count: str) -> None:
    with pytest.raises(UserError):
        parse_work(f"llama-3.1-8b lora {count}")


def test_a_timed_rate_has_an_exponent_or_a_comma() -> None:
    work = parse_work("llama-3.1-8b lora 100M tokens")
    plain = mfu_of(work, None, "RTX 4090: 2100 tokens/s").mfu
    assert mfu_of(work, None, "RTX 4090: 2.1e3 tokens/s").mfu == plain
    assert mfu_of(work, None, "RTX 4090: 2100,0 tokens/s").mfu == plain
    with pytest.raises(UserError, match="two ways"):
        mfu_of(work, None, "RTX 4090: 2,100 tokens/s")
    with pytest.raises(UserError, match="of that device's peak"):
        mfu_of(work, None, "RTX 4090: 2 tokens/s")


def test_a_measured_rate_is_read_by_the_same_rules() -> None:
    devices = shipped_devices()
    assert measured("RTX 4090:resnet50:fp16:256=1.12e3", "torch", devices).images_per_s == 1120
    assert measured("RTX 4090:resnet50:fp16:256=1120,5", "torch", devices).images_per_s == 1120.5
    with pytest.raises(UserError, match="two ways"):
        measured("RTX 4090:resnet50:fp16:256=1,120", "torch", devices)


def test_a_deadline_is_a_number_with_its_unit() -> None:
    texts = ("90min", "6h", "2d", "1.5 h", "1,5h", "1.5d", None)
    assert [parse_deadline(text) for text in texts] == [1.5, 6.0, 48.0, 1.5, 1.5, 36.0, None]


@pytest.mark.parametrize(
    "line",
    [
        ["new-study", "x", "--gpu-name", "RTX 4090", "--speed", "1,500"],
        ["new-study", "x", "--gpu-name", "RTX 4090", "--speed", "1120", "--currency", "CHF", "--rate", "1,250"],
        ["import-prices", "csv", "list.csv", "--as-of", "2026-11-20", "--rate", "EUR=1,090"],
        ["estimate", "llama-3.1-8b lora 1M", "--within", "nan"],
        ["estimate", "llama-3.1-8b lora 1M", "--within", "0"],
    ],
)
def test_every_flag_refuses_what_is_ambiguous_or_no_number(line: list[str], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.csv").write_text("instance,per_hour\nx,1\n")
    with pytest.raises(UserError):
        main(line)
