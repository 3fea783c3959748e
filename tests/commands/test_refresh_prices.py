"""`sweetspot refresh-prices` against a real local server with real rows: what is written, what stays, what fails."""

import json
import re
import shutil
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from price_server import Answer, gzipped, serving
from project_copy import ROOT, copy_project, run_snakemake, scheduled
from sweetspot.catalogues.downloads import Downloads
from sweetspot.commands import refresh_prices
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError
from sweetspot.study.price_list import load_price_list

DATA = ROOT / "tests" / "data"
STUDY = "eight-gpus-2026"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
AZURE = json.loads((DATA / "published_prices" / "azure_items.json").read_text())
HTML = Answer(b"<html>portal</html>")


def azure(query) -> Answer:
    here = [
        item for item in AZURE if f"'{item['armSkuName']}'" in query["$filter"][0] and "'eastus'" in query["$filter"][0]
    ]
    return Answer(json.dumps({"Items": here, "NextPageLink": None, "Count": len(here)}).encode())


@pytest.fixture
def server():
    with serving() as found:
        for name in ("aws", "gcp", "nebius"):
            found.routes[f"/{name}/vms.csv"] = Answer((DATA / "skypilot" / f"{name}_2026.csv").read_bytes())
        found.routes["/api/retail/prices"] = azure
        yield found


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    """The project's configuration in a folder of its own; tries without pauses, on a day that is told."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    made = partial(Downloads, sleep=lambda _: None, now=lambda: NOW, timeouts_s=(2.0, 0.3))
    monkeypatch.setattr(refresh_prices, "Downloads", made)
    return tmp_path / "config"


def refresh(config: Path, server, *given: str, providers=("aws", "gcp", "nebius", "azure"), study=STUDY) -> None:
    mirrors = [f"{name}={server.url}" for name in ("skypilot", "azure", "aws", "gpuhunt")]
    where = ["--config", str(config), "--cache", str(config.parent / "cache"), "--reuse-hours", "0"]
    main(["refresh-prices", study, *where, "--mirror", *mirrors, "--provider", *providers, *given])


def offers(config: Path, name: str, study=STUDY) -> dict[tuple[str, str], object]:
    prices = load_price_list(config / "studies" / study / "prices" / f"{name}.yaml")
    return {(offer.instance, offer.purchase): offer for offer in prices.offers}


def contents(config: Path) -> dict[str, bytes]:
    return {str(file.relative_to(config)): file.read_bytes() for file in config.rglob("*") if file.is_file()}


def test_prices_days_sources_and_notes_are_written_and_the_old_lists_kept(config, server, capsys):
    before = contents(config)
    refresh(config, server)
    told = capsys.readouterr().out
    listed = {name: offers(config, name) for name in ("hyperscalers", "spot", "clouds", "clusters")}
    # Each by hand from the rows: the least of the zones; host + devices at Google; nodes x one machine.
    expected = {
        ("hyperscalers", "aws-p5en.48xlarge", "on_demand"): 63.296,
        ("hyperscalers", "aws-p6-b200.48xlarge", "on_demand"): 113.9328,
        ("hyperscalers", "gcp-a3-highgpu-8g", "on_demand"): 9.46006 + 78.37241,
        ("hyperscalers", "gcp-a3-megagpu-8g", "on_demand"): 9.46006 + 82.75424,
        ("hyperscalers", "azure-ND96isr-H100-v5", "on_demand"): 98.32,
        ("spot", "aws-p5en.48xlarge", "spot"): 16.5551,
        ("spot", "aws-p6-b200.48xlarge", "spot"): 21.0148,  # 13.0338 is of a local zone
        ("spot", "gcp-a3-highgpu-8g", "spot"): 2.15966 + 17.8848,
        ("spot", "gcp-a4-highgpu-8g", "spot"): 32.6064,
        ("spot", "azure-ND96isr-H100-v5", "spot"): 18.169536,
        ("clouds", "nebius-8xh100", "on_demand"): 23.6,
        ("spot", "nebius-8xh100", "spot"): 10.0,
        ("clusters", "aws-p6-b200.48xlarge-x4", "on_demand"): 4 * 113.9328,
        ("clusters", "nebius-8xh100-x8", "on_demand"): 8 * 23.6,
    }
    for (name, machine, purchase), usd in expected.items():
        assert listed[name][machine, purchase].per_hour.value == pytest.approx(usd, abs=1e-9), machine
    spot = listed["spot"]["aws-p5en.48xlarge", "spot"]
    assert str(spot.as_of) == "2026-11-22"
    assert re.fullmatch(r"SkyPilot's catalogue, aws/vms.csv of 2026-11-22, use1-az6, sha256 [0-9a-f]{12}", spot.source)
    cluster = listed["clusters"]["aws-p6-b200.48xlarge-x4", "on_demand"]
    assert cluster.note == "4 x 113.9328; no fee for the network is listed"
    # The same price keeps its day and source; capacity blocks of the same machines are no on-demand prices.
    same = listed["hyperscalers"]["azure-ND96isr-H100-v5", "on_demand"]
    assert (same.as_of, same.source) == (None, "Azure retail prices")
    prices = f"studies/{STUDY}/prices"
    after = contents(config)
    changed = {name for name in after if after[name] != before.get(name)}
    written = {"clouds", "clusters", "hyperscalers", "spot"}
    assert changed == {f"{prices}/{name}.yaml" for name in written} | {
        f"{prices}/history/2026-09-19/{name}.yaml" for name in written
    }
    for name in written:
        assert after[f"{prices}/history/2026-09-19/{name}.yaml"] == before[f"{prices}/{name}.yaml"]
    assert re.search(r"aws-p5en\.48xlarge \(spot\) +27\.184 -> 16\.5551 +-39\.1%  2026-09-19 -> 2026-11-22", told)
    assert "with as_of: 2026-11-22 in study.yaml" in told


def test_what_stays_is_named_with_its_reason(config, server, capsys):
    refresh(config, server, "--dry-run")
    told = capsys.readouterr().out
    assert "has no on_demand price of p5.48xlarge in use1-az" in told
    assert (
        "gcp-a3-ultragpu-8g (on_demand): SkyPilot's catalogue, gcp/vms.csv of 2026-11-22 has no on_demand price" in told
    )
    assert "a3-ultragpu-8g says GPUs and its line has none" in told
    assert "stays: spot: in no catalogue of study.yaml: aws-p6-b300.48xlarge, nebius-8xb300" in told
    assert "stays: lists that no catalogue refreshes: buying, capacity-blocks, contracts-1y, contracts-3y" in told


def test_a_dry_run_writes_nothing(config, server, capsys):
    before = contents(config)
    refresh(config, server, "--dry-run")
    assert contents(config) == before
    told = capsys.readouterr().out
    assert "nothing is written (--dry-run)" in told and "113.9328" in told


def test_only_the_providers_asked_for(config, server, capsys):
    refresh(config, server, providers=("nebius",))
    assert server.asked == ["/nebius/vms.csv"]
    assert offers(config, "clouds")["nebius-8xh200", "on_demand"].per_hour.value == 28.0
    assert offers(config, "hyperscalers")["aws-p6-b200.48xlarge", "on_demand"].per_hour.value == 113.936
    with pytest.raises(UserError, match="--provider is 'gce'; expected some of aws, azure, gcp, lambda, nebius, oci"):
        refresh(config, server, providers=("gce",))


def test_a_second_refresh_finds_nothing_new_and_offline_says_its_day(config, server, capsys):
    refresh(config, server)
    first = contents(config)
    capsys.readouterr()
    asked = len(server.asked)
    refresh(config, server, "--offline")
    told = capsys.readouterr().out
    assert contents(config) == first and len(server.asked) == asked
    assert "2026-11-22 12:00 UTC" in told and "(from the cache)" in told
    assert "0 prices change, " in told


def test_confirmed_prices_get_day_and_source_where_asked(config, server):
    refresh(config, server, "--confirm", providers=("azure",))
    offer = offers(config, "hyperscalers")["azure-ND96isr-H100-v5", "on_demand"]
    assert (offer.per_hour.value, str(offer.as_of)) == (98.32, "2026-11-22")
    assert offer.source == "Azure retail prices, eastus, 2026-11-22"


AWS = (DATA / "skypilot" / "aws_2026.csv").read_bytes()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (HTML, "answers a web page .*; expected a CSV file of SkyPilot's catalogue"),
        (Answer(b"", 429), "answers 429 in 4 tries"),
        (Answer(b"", 502), "answers 502 in 4 tries"),
        (gzipped(AWS, cut=9), "the gzipped answer is not whole"),
        (Answer(AWS, cut=100), "the answer stops before its end"),
        (Answer(AWS, wait_s=0.6), "does not answer in time"),
        (Answer(AWS.split(b"\n")[0] + b"\n"), "holds no price at all; nothing is written"),
        (Answer(AWS.replace(b"InstanceType", b"Type")), "column 'InstanceType' is missing"),
        (Answer(b"\xff\xfe\x00bad"), "column 'InstanceType' is missing|not CSV in UTF-8"),
    ],
)
def test_a_source_that_fails_writes_nothing_even_of_the_others(config, server, answer, told):
    server.routes["/gcp/vms.csv"] = answer  # aws, before it in the map, has answered
    before = contents(config)
    with pytest.raises(UserError, match=told):
        refresh(config, server)
    assert contents(config) == before


def with_price(machine: str, price: str) -> Answer:
    """AWS' rows with another on-demand price of a machine."""
    lines = []
    for line in AWS.decode().splitlines():
        if line.startswith(f"{machine},"):
            line = re.sub(r'",[0-9.]+,', f'",{price},', line, count=1)
        lines.append(line)
    return Answer("\n".join(lines).encode() + b"\n")


@pytest.mark.parametrize(
    ("price", "told"),
    [
        ("0", r"aws-p5en.48xlarge \(on_demand\): .* \(Price is '0'; expected a number above 0, or nothing\)"),
        ("call us", r"aws-p5en.48xlarge \(on_demand\): .* \(Price is 'call us'; expected a number\)"),
        ("632.96", r"aws-p5en.48xlarge \(on_demand\): would go from 63.296 to 632.96, 10 times; .*--accept aws-p5en"),
        ("6.3296", r"aws-p5en.48xlarge \(on_demand\): would go from 63.296 to 6.3296, 0.1 times"),
    ],
)
def test_a_price_that_cannot_be_right_stays_by_name_and_the_others_are_written(config, server, capsys, price, told):
    server.routes["/aws/vms.csv"] = with_price("p5en.48xlarge", price)
    old = offers(config, "hyperscalers")["aws-p5en.48xlarge", "on_demand"]
    refresh(config, server, providers=("aws",))
    assert re.search(told, capsys.readouterr().out)
    found = offers(config, "hyperscalers")
    assert found["aws-p5en.48xlarge", "on_demand"] == old
    assert found["aws-p6-b200.48xlarge", "on_demand"].per_hour.value == 113.9328


def test_a_jump_is_taken_where_a_person_accepts_it(config, server):
    server.routes["/aws/vms.csv"] = with_price("p5en.48xlarge", "632.96")
    refresh(config, server, "--accept", "aws-p5en.48xlarge", providers=("aws",))
    assert offers(config, "hyperscalers")["aws-p5en.48xlarge", "on_demand"].per_hour.value == 632.96


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
    study.write_text(study.read_text().replace("gpu-h200-sxm_8gpu-128vcpu-1600gb", "gpu-h200-sxm_1gpu-16vcpu-200gb"))
    refresh(config, server, providers=("nebius",))
    told = capsys.readouterr().out
    assert "nebius-8xh200 (on_demand): has 8 devices a machine in instances.yaml, 1 in the catalogue" in told


def test_what_the_lint_says_of_new_prices_is_shown(config, server, capsys):
    """Spot above on demand, which no list of the study has today."""
    server.routes["/nebius/vms.csv"] = Answer(
        (DATA / "skypilot" / "nebius_2026.csv").read_bytes().replace(b",10.00\n", b",26.00\n")
    )
    prices = config / "studies" / STUDY / "prices"
    (prices / "clouds.yaml").write_text((prices / "clouds.yaml").read_text() + (
        "  - {instance: nebius-8xh100, purchase: spot, per_hour: 17.2}\n"))  # fmt: skip
    refresh(config, server, "--dry-run", providers=("nebius",))
    told = capsys.readouterr().out
    assert "lint: warning: nebius-8xh100: spot at 26 an hour is above on demand at 23.6 (spot_above_on_demand)" in told


def test_a_study_without_a_map_and_an_edit_while_it_runs(config, server, monkeypatch):
    with pytest.raises(UserError, match="key 'catalogue' is missing"):
        refresh(config, server, study="rare-2018")
    listed, before = config / "studies" / STUDY / "prices" / "clouds.yaml", contents(config)

    def edited(_folder, *_rest):
        done = changed(_folder, *_rest)
        listed.write_text(listed.read_text() + "# mine\n")
        return done

    changed = refresh_prices.changed_lists
    monkeypatch.setattr(refresh_prices, "changed_lists", edited)
    with pytest.raises(UserError, match=r"clouds\.yaml: was edited meanwhile"):
        refresh(config, server, providers=("nebius",))
    assert listed.read_text().endswith("# mine\n")
    changed_files = {name for name, content in contents(config).items() if content != before.get(name)}
    assert changed_files == {f"studies/{STUDY}/prices/clouds.yaml"}


@pytest.mark.parametrize("given", ["skypilott=http://x", "skypilot", "skypilot=ftp://x"])
def test_a_mirror_that_is_none(config, given):
    with pytest.raises(UserError, match=r"--mirror is .*; expected SOURCE=URL with one of skypilot, gpuhunt, aws"):
        main(["refresh-prices", STUDY, "--config", str(config), "--mirror", given])


@pytest.mark.slow
def test_snakemake_reprices_exactly_the_lists_that_changed_and_tells_what_they_did(
    tmp_path, server, monkeypatch, capsys
):
    project = copy_project(tmp_path / "project")
    chosen, results = ("--config", f"study={STUDY}"), project / "results" / STUDY
    changes = f"results/{STUDY}/comparison/price_changes.parquet"
    assert run_snakemake(project, "comparison", *chosen).returncode == 0
    assert scheduled(project, "costs", *chosen) == {}
    config = project / "config"
    before = {name: offers(config, name) for name in ("clouds", "spot", "clusters", "hyperscalers")}
    monkeypatch.setattr(refresh_prices, "Downloads", partial(Downloads, now=lambda: NOW))
    refresh(config, server, providers=("nebius",))
    plan = run_snakemake(project, "--dry-run", "costs", *chosen).stdout
    assert set(re.findall(r"wildcards: price_list=(\S+)", plan)) == {"clouds", "spot", "clusters"}
    assert scheduled(project, "costs", *chosen) == {"price_workloads": 3}

    done = run_snakemake(project, changes, *chosen)
    assert done.returncode == 0, done.stdout
    table = pd.read_parquet(project / changes)
    found = {
        (row.price_list, row.instance, row.purchase): (row.before, row.after)
        for row in table[table["what"] == "price"].itertuples()
    }
    meant = {
        (name, *key): (old.per_hour.value, offers(config, name)[key].per_hour.value)
        for name, listed in before.items()
        for key, old in listed.items()
        if offers(config, name)[key].per_hour != old.per_hour
    }
    assert len(meant) == 14 and found == meant
    # A rented machine's bill is hours x price: the cost of each Nebius machine by the hour fell as its price did.
    told = table[table["what"].isin(["rank", "cost"]) & (table["purchase"] == "on_demand")]
    for row in told[told["instance"].str.fullmatch("nebius-8xh[12]00")].itertuples():
        assert row.change == pytest.approx({"nebius-8xh100": 23.6 / 30.8, "nebius-8xh200": 28 / 36}[row.instance] - 1)
    assert table["said_before"][0].startswith("Too close to call") and table["what"][0] == "answer"

    capsys.readouterr()
    where = ["--config", str(config), "--results", str(results.parent)]
    main(["diff", STUDY, "--since", "2026-09-19", *where, "--table", str(tmp_path / "changes.parquet")])
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "changes.parquet"), table)
    text = capsys.readouterr().out
    assert "| nebius-8xh100, clouds (on_demand) | 30.8 | 23.6 | -23.4% | 2026-09-19 -> 2026-11-22 |" in text
    with pytest.raises(UserError, match=r"throughput\.parquet: is not there; make it first: snakemake"):
        main(
            [
                "diff",
                "office-box-2026",
                "--since",
                "2026-09-19",
                "--config",
                str(config),
                "--results",
                str(results.parent),
            ]
        )
    with pytest.raises(UserError, match="--until is 2026-09-01; expected a day after --since"):
        main(["diff", STUDY, "--since", "2026-09-19", "--until", "2026-09-01", *where])
