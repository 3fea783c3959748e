"""`sweetspot estimate`: what it says and what it refuses."""

import json
import re

import pytest
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError

WORK = "llama-3.1-8b lora 100M tokens"
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


def test_a_timing_gives_its_own_device_its_own_hours(capsys):
    main(["estimate", WORK, "--timed", "A100 SXM 80GB: 5000 tokens/s", "--json"])
    answer = json.loads(capsys.readouterr().out)
    rows = [row for row in answer["machines"] if row["gpu"] == "A100 SXM 80GB" and row["gpus"] == 1]
    assert rows and all(row["hours"] == pytest.approx(1e8 / 5000 / 3600) for row in rows)


def test_the_cheapest_fits_and_is_in_time(capsys):
    main(["estimate", WORK, "--within", "1", "--json"])
    answer = json.loads(capsys.readouterr().out)
    known = [row for row in answer["machines"] if row["basis"] == "arithmetic"]
    fit = [row for row in known if row["hours"] <= 1 and row["memory"] == "fits"]
    assert answer["cheapest"] == min(fit, key=lambda row: row["usd"])
    assert main(["estimate", WORK, "--within", "0.001"]) == 0 and "within 0.001 h: none" in capsys.readouterr().out


def test_every_price_has_its_day_and_source_as_the_study_has_them(capsys):
    main(["estimate", WORK, "--json"])
    rows = {row["machine"]: row for row in json.loads(capsys.readouterr().out)["machines"]}
    assert all(row["source"] and re.fullmatch(r"2026-\d\d-\d\d", row["as_of"]) for row in rows.values())
    main(["estimate", WORK])
    days = sorted(row["as_of"] for row in rows.values())
    assert f"prices of {days[0]} to {days[-1]}; --json has their sources" in capsys.readouterr().out
