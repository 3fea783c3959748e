"""`sweetspot refresh-prices` against a real local server with real rows: what is written, what stays, what it did."""

import re
from functools import partial

import pandas as pd
import pytest
from price_refresh import NOW, STUDY, contents, offers, refresh
from project_copy import copy_project, run_snakemake, scheduled
from sweetspot.catalogues.downloads import Downloads
from sweetspot.commands import refresh_prices
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError


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
        ("spot", "aws-p5en.48xlarge", "spot"): 16.5551,
        ("spot", "aws-p6-b200.48xlarge", "spot"): 21.0148,  # 13.0338 is of a local zone
        ("spot", "gcp-a3-highgpu-8g", "spot"): 2.15966 + 17.8848,
        ("spot", "gcp-a4-highgpu-8g", "spot"): 32.6064,
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
    # What no catalogue has keeps its day and source; capacity blocks of the same machines are no on-demand prices.
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


def test_a_dry_run_writes_nothing_and_what_stays_is_named_with_its_reason(config, server, capsys):
    before = contents(config)
    refresh(config, server, "--dry-run")
    assert contents(config) == before
    told = capsys.readouterr().out
    for words in (
        "nothing is written (--dry-run)",
        "113.9328",
        "has no on_demand price of p5.48xlarge in use1-az",
        "gcp-a3-ultragpu-8g (on_demand): SkyPilot's catalogue, gcp/vms.csv of 2026-11-22 has no on_demand price",
        "a3-ultragpu-8g says GPUs and its line has none",
        "azure-ND96isr-H100-v5 (on_demand): SkyPilot's catalogue, azure/vms.csv",
        "stays: lists that no catalogue refreshes: buying, capacity-blocks, contracts-1y, contracts-3y\n",
    ):
        assert words in told


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


@pytest.mark.parametrize("given", ["skypilott=http://x", "skypilot", "skypilot=ftp://x"])
def test_a_mirror_that_is_none(config, given):
    with pytest.raises(UserError, match=r"--mirror is .*; expected SOURCE=URL with one of skypilot, gpuhunt"):
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
    rent = "Rent by the hour. Buying costs 2.5 times as much. Start with "
    assert table["what"][0] == "answer" and table["said_before"][0].startswith(f"{rent}Nebius with 8 B300 SXM")
    # The plan rents eight B300 at Nebius, whose price is in no catalogue; its next is now eight B200 there, whose price
    # fell from 57.2 to 44: 161,181 x 44 / 57.2 = 123,985 USD, less than Lambda's B200 for 150,811.
    (plan,) = table[table["what"] == "plan"].itertuples()
    assert plan.workload == "three-years" and plan.before == pytest.approx(plan.after)
    tie = "Start with Nebius with 8 B300 SXM or Nebius with 8 B200 SXM: both cost about the same today."
    assert "Nebius with 8 B300 SXM, the cheapest today" in plan.said_before and tie in plan.said_after

    capsys.readouterr()
    where = ["--config", str(config), "--results", str(results.parent)]
    main(["diff", STUDY, "--since", "2026-09-19", *where])
    text = capsys.readouterr().out
    assert "| nebius-8xh100, clouds (on_demand) | 30.8 | 23.6 | -23.4% | 2026-09-19 -> 2026-11-22 |" in text
    with pytest.raises(UserError, match=r"throughput\.parquet: is not there; make it first: snakemake"):
        main(["diff", "office-box-2026", "--since", "2026-09-19", *where])
    with pytest.raises(UserError, match="--until is 2026-09-01; expected a day after --since"):
        main(["diff", STUDY, "--since", "2026-09-19", "--until", "2026-09-01", *where])
