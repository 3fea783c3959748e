"""Faults of a refresh, over a real local server: nothing is written, or the row stays by name."""

import re

import pytest
from price_refresh import DATA, STUDY, contents, offers, refresh
from price_server import Answer
from sweetspot.commands import refresh_prices
from sweetspot.errors import UserError

HTML = Answer(b"<html>portal</html>")
AWS = (DATA / "skypilot" / "aws_2026.csv").read_bytes()


FAILURES = [
    (HTML, "answers a web page; expected a CSV file of SkyPilot's catalogue"),
    (Answer(AWS.split(b"\n")[0] + b"\n"), "column 'InstanceType' is missing; expected lines of a skypilot file"),
    (Answer(AWS, headers={"Last-Modified": "Fri, 06 Feb 2099 03:00:00 GMT"}), "of 2099-02-06.* of a day to come"),
    (Answer(b"\xff\xfe\x00bad"), "column 'InstanceType' is missing|neither CSV in UTF-8"),
]


def test_a_source_that_fails_writes_nothing_even_of_the_others(config, server):
    before = contents(config)
    for answer, told in FAILURES:
        server.routes["/gcp/vms.csv"] = answer  # aws, before it in the map, has answered
        with pytest.raises(UserError, match=told):
            refresh(config, server)
    assert contents(config) == before


def with_price(machine: str, price: str) -> Answer:
    """AWS' rows with another on-demand price of a machine."""
    return Answer(
        re.sub(rf'^({re.escape(machine)},.*?",)[0-9.]+,', rf"\g<1>{price},", AWS.decode(), flags=re.M).encode()
    )


def test_a_price_that_cannot_be_right_stays_by_name_unless_accepted_and_the_others_are_written(config, server, capsys):
    machine, at_once = "aws-p5en.48xlarge", ("aws-p5en.48xlarge", "on_demand")
    old = offers(config, "hyperscalers")[at_once]
    for price, told in (
        ("0", r".* \(no price above 0\)"),
        ("call us", r".* has no on_demand price of p5en.48xlarge"),
        ("632.96", r"would go from 63.296 to 632.96, 10 times: .*--accept aws-p5en"),
    ):
        server.routes["/aws/vms.csv"] = with_price("p5en.48xlarge", price)
        refresh(config, server, providers=("aws",))
        assert re.search(rf"{re.escape(machine)} \(on_demand\): {told}", capsys.readouterr().out)
        found = offers(config, "hyperscalers")
        assert found[at_once] == old
        assert found["aws-p6-b200.48xlarge", "on_demand"].per_hour.value == 113.9328
    refresh(config, server, "--accept", machine, providers=("aws",))
    assert offers(config, "hyperscalers")[at_once].per_hour.value == 632.96


def test_a_study_without_a_map_and_an_edit_while_it_runs(config, server, monkeypatch):
    with pytest.raises(UserError, match="key 'catalogue' is missing"):
        refresh(config, server, study="rare-2018")
    listed, before = config / "studies" / STUDY / "prices" / "clouds.yaml", contents(config)

    def edited(_folder, *_rest):
        done = changed(_folder, *_rest)
        listed.write_text(listed.read_text() + "# mine\n")
        return done

    changed = refresh_prices.refreshed_lists
    monkeypatch.setattr(refresh_prices, "refreshed_lists", edited)
    with pytest.raises(UserError, match=r"clouds\.yaml: was edited meanwhile"):
        refresh(config, server, providers=("nebius",))
    assert listed.read_text().endswith("# mine\n")
    changed_files = {name for name, content in contents(config).items() if content != before.get(name)}
    assert changed_files == {f"studies/{STUDY}/prices/clouds.yaml"}
