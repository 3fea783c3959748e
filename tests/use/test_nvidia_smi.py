"""The driver's log: minutes held and used by hand, the hour that comes twice, what is refused."""

import json

import pytest
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError
from sweetspot.use.nvidia_smi import read_nvidia_smi, smi_report

HEAD = "timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W]"


def log(*rows, zone="UTC"):
    return read_nvidia_smi([HEAD, *rows], zone)


def at(minute, used, memory, index=0, watts="60.00 W", day="2026/03/01", hour=12):
    stamp = f"{day} {hour + minute // 60:02d}:{minute % 60:02d}:00.123"
    return f"{stamp}, {index}, NVIDIA GeForce RTX 4090, {used} %, {memory} MiB, {watts}"


def test_minutes_by_hand():
    # 10 minutes at work, 40 held and idle (a notebook), 10 free, 5 held and idle: too short to tell.
    rows = [at(minute, 90, 9000) for minute in range(10)] + [at(minute, 0, 9000) for minute in range(10, 50)]
    rows += [at(minute, 0, 3) for minute in range(50, 60)] + [at(minute, 0, 800) for minute in range(60, 66)]
    device = log(*rows).devices.iloc[0]
    assert device[["minutes", "held", "used", "idle"]].tolist() == [65, 55, 10, 40]
    assert device["kwh"] == pytest.approx(65 / 60 * 0.06) and device["name"] == "NVIDIA GeForce RTX 4090"


def test_figures_stand_under_their_heads_and_add_up():
    """Twenty hours each, ten of them held, without use: a notebook; the other tells no power."""
    rows = [at(minute, 0, 9000 if minute < 600 else 0, index=place, watts=watts, hour=0)
            for minute in range(1201) for place, watts in ((0, "500.00 W"), (1, "[N/A]"))]  # fmt: skip
    head, _, names, first, second, _, total, *_ = smi_report(log(*rows)).splitlines()
    assert head == "nvidia-smi, 2026-03-01 00:00 to 2026-03-01 20:00 UTC, 2 devices"
    ends = [names.index(name) + len(name) for name in ("hours seen", "held", "used", "idle", "kWh")]
    for line, told in (
        (first, ["20.0", "10.0", "0.0", "10.0", "10.0"]),
        (second, ["20.0", "10.0", "0.0", "10.0", "-"]),
    ):
        assert [line[:end].split()[-1] for end in ends] == told and len(line) == ends[-1]
    assert total.startswith("held 20.0 of 40.0 device-hours (50 % of the time seen), used 0.0; 20.0 held and idle for")


def test_devices_are_apart_and_a_gap_is_not_counted():
    rows = [line for minute in (0, 1, 2, 3, 123, 124) for line in (at(minute, 50, 9000), at(minute, 0, 0, index=1))]
    found = log(*rows[:6], HEAD, *rows[6:]).devices
    # Four intervals of a minute; the one of two hours, in which the log was off, counts as one.
    assert found["minutes"].tolist() == [5, 5] and found["used"].tolist() == [5, 0]


def test_seconds_have_fractions_and_a_first_gap_is_no_rule():
    # Begun at 12:00, then off until 12:05:00.25; a line each 30.5 s: the usual gap, 30.5 s, stands for the long one.
    times = ("12:00:00", "12:05:00.25", "12:05:30.75", "12:06:01.250", "12:06:31.7500001")
    rows = [f"2026/03/01 {time}, 0, A100, 50 %, 9000 MiB, 60 W" for time in times]
    assert log(*rows).devices["minutes"].tolist() == [4 * 30.5 / 60]


def test_a_device_of_one_line_has_no_minutes():
    found = log(at(0, 50, 9000), at(0, 50, 9000, index=1), at(1, 50, 9000, index=1)).devices
    assert found["index"].tolist() == [0, 1] and found["minutes"].tolist() == [0, 1]


def test_what_a_driver_does_not_tell():
    rows = [at(minute, 0, 9000).replace("0 %,", "[N/A],").replace("60.00 W", "[N/A]") for minute in range(3)]
    device = log(*rows).devices.iloc[0]
    assert device["held"] == 2 and device["used"] == 0 and device.isna()["kwh"]


def test_the_hour_that_a_clock_shows_twice_and_the_one_that_it_lacks():
    back = [at(minute, 50, 9000, day="2026/10/25", hour=2) for minute in range(0, 60, 10)]
    assert log(*back, *back, zone="Europe/Berlin").devices["minutes"].tolist() == [110]
    missing = [at(0, 50, 9000, day="2026/03/29", hour=hour) for hour in (0, 1, 3, 4)]
    assert log(*missing, zone="Europe/Berlin").devices["minutes"].tolist() == [180]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([""], "line 1: no column timestamp"),
        ([HEAD.replace("index", "uuid"), at(0, 1, 1)], "line 1: no column index"),
        ([HEAD], "line 2: no two lines of a device"),
        ([HEAD, at(0, 1, 1)], "line 2: no two lines of a device"),
        ([HEAD, at(0, 1, 1), at(1, 1, 1) + ", 7"], "line 3: 7 fields; expected 6"),
        ([HEAD, at(0, 1, 1), at(1, 101, 1)], "line 3: utilization.gpu is '101 %'; expected a number from 0 to 100"),
        ([HEAD, at(0, "much", 1)], "line 2: utilization.gpu is 'much %'"),
        ([HEAD, at(0, 1, -5)], "line 2: memory.used is '-5 MiB'"),
        ([HEAD, at(0, 1, 10_000_000), at(1, 1, 10_000_001)], "line 3: memory.used is '10000001 MiB'"),
        ([HEAD, at(0, 1, 1, watts="60 kW")], "line 2: power.draw is '60 kW'"),
        ([HEAD, at(0, 1, 1, index="GPU-7")], "line 2: index is 'GPU-7'; expected the number of a device"),
        ([HEAD, at(0, 1, 1, day="1 March")], "line 2: timestamp is '1 March 12:00:00.123'; expected a time such as"),
        ([HEAD, at(0, 1, 1, day="2026/02/30")], "line 2: timestamp is '2026-02-30T12:00:00.123'"),
        ([HEAD, at(0, 1, 1, day="2026/03/29", hour=2)], "expected a time that the clock of Europe/Berlin showed"),
        ([HEAD, at(5, 1, 1), at(1, 1, 1)], "the lines of device 0 go back in time"),
    ],
)
def test_a_wrong_log_ends_in_one_sentence(lines, words, tmp_path):
    (tmp_path / "gpu.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError) as told:
        main(["import-use", "nvidia-smi", str(tmp_path / "gpu.csv"), "--zone", "Europe/Berlin"])
    assert words in str(told.value) and str(told.value).startswith(str(tmp_path)) and "\n" not in str(told.value)


@pytest.mark.parametrize("flags", [["--study", "mine"], ["--class", "a: name=b"], ["--shards", "4"]])
def test_a_log_of_devices_has_no_jobs(flags):
    with pytest.raises(UserError, match="nvidia-smi"):
        main(["import-use", "nvidia-smi", "-", *flags])


def test_the_command_tells_hours_held_against_hours_used(tmp_path, capsys):
    rows = [at(minute, 90 if minute < 30 else 0, 9000) for minute in range(121)]
    (tmp_path / "gpu.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    assert main(["import-use", "nvidia-smi", str(tmp_path / "gpu.csv")]) == 0
    assert (
        "held 2.0 of 2.0 device-hours (100 % of the time seen), used 0.5; 1.5 held and idle" in capsys.readouterr().out
    )
    assert main(["import-use", "nvidia-smi", str(tmp_path / "gpu.csv"), "--json"]) == 0
    (device,) = json.loads(capsys.readouterr().out)["devices"]
    assert device["held"] == 120 and device["used"] == 30 and device["idle"] == 90
