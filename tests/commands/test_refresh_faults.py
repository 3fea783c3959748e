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
    (Answer(b"", 429), "answers 429"),
    (Answer(AWS, cut=100), "cannot be fetched"),
    (Answer(AWS, wait_s=0.6), "cannot be fetched"),
    (Answer(AWS.split(b"\n")[0] + b"\n"), "column 'InstanceType' is missing; expected lines of a skypilot file"),
    (Answer(AWS.replace(b"InstanceType", b"Type")), "column 'InstanceType' is missing"),
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
        ("6.3296", r"would go from 63.296 to 6.3296, 0.1 times"),
    ):
        server.routes["/aws/vms.csv"] = with_price("p5en.48xlarge", price)
        refresh(config, server, providers=("aws",))
        assert re.search(rf"{re.escape(machine)} \(on_demand\): {told}", capsys.readouterr().out)
        found = offers(config, "hyperscalers")
        assert found[at_once] == old
        assert found["aws-p6-b200.48xlarge", "on_demand"].per_hour.value == 113.9328
    refresh(config, server, "--accept", machine, providers=("aws",))
    assert offers(config, "hyperscalers")[at_once].per_hour.value == 6.3296


def test_another_currency_tax_and_a_range_stay_by_name(config, server, capsys):
    prices = config / "studies" / STUDY / "prices"
    rate = "rates: [{currency: EUR, usd: 1.1, as_of: 2026-09-19, source: x}]\n"
    (prices / "clouds.yaml").write_text(
        "currency: EUR\nas_of: 2026-09-19\nsource: mine\n"
        + rate
        + "offers:\n  - {instance: nebius-8xh100, per_hour: 28}\n"
    )
    (prices / "clusters.yaml").write_text(
        "as_of: 2026-09-19\nsource: mine\nvat: {rate: 0.2, included: true}\n"
        "offers:\n  - {instance: nebius-8xh100-x2, per_hour: 70}\n"
    )
    (prices / "spot.yaml").write_text(
        "as_of: 2026-09-19\nsource: mine\noffers:\n"
        "  - {instance: nebius-8xh100, purchase: spot, per_hour: {value: 17, low: 12, high: 20}}\n"
        "  - {instance: nebius-8xh200, purchase: spot, per_month: 9000}\n"
    )
    before = contents(config)
    refresh(config, server, providers=("nebius",))
    told = capsys.readouterr().out
    assert contents(config) == before
    assert "clouds: nebius-8xh100 (on_demand): its price is in EUR, the catalogue's in USD" in told
    assert "clusters: nebius-8xh100-x2 (on_demand): its price includes tax, a catalogue's does not" in told
    assert "spot: nebius-8xh100 (spot): has a range, which a catalogue does not know" in told
    assert "spot: nebius-8xh200 (spot): has no hourly rate" in told


def test_a_catalogue_older_than_the_list_changes_nothing(config, server, capsys):
    body = (DATA / "skypilot" / "nebius_2026.csv").read_bytes()
    server.routes["/nebius/vms.csv"] = Answer(body, headers={"Last-Modified": "Wed, 11 Feb 2026 03:00:00 GMT"})
    before = contents(config)
    refresh(config, server, providers=("nebius",))
    assert contents(config) == before
    assert "is of 2026-09-19, the catalogue's price of 2026-02-11" in capsys.readouterr().out


def test_a_machine_of_another_size_stays(config, server, capsys):
    study = config / "studies" / STUDY / "study.yaml"
    mine = "{lists: [clouds], instances: {nebius-8xh200: gpu-h200-sxm_1gpu-16vcpu-200gb}}"
    study.write_text(study.read_text().replace("catalogue: {", f"catalogue: {{skypilot: {{nebius: {mine}}}, "))
    refresh(config, server, providers=("nebius",))
    told = capsys.readouterr().out
    assert "nebius-8xh200 (on_demand): has 8 devices a machine in instances.yaml, 1 in the catalogue" in told


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
