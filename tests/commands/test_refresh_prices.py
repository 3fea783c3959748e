"""`sweetspot refresh-prices` against a real local server with real rows: what is written, what stays, what it did."""

import re

import pytest
from price_refresh import STUDY, contents, offers, refresh
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
        ("hyperscalers", "gcp-a3-highgpu-8g", "on_demand"): 9.46006 + 78.37241,
        ("spot", "aws-p6-b200.48xlarge", "spot"): 21.0148,  # 13.0338 is of a local zone
        ("spot", "gcp-a3-highgpu-8g", "spot"): 2.15966 + 17.8848,
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
    refresh(config, server)  # a second one finds nothing new
    assert contents(config) == after and "0 prices change, " in capsys.readouterr().out


def test_a_dry_run_writes_nothing_and_what_stays_is_named_with_its_reason(config, server, capsys):
    before = contents(config)
    refresh(config, server, "--dry-run")
    assert contents(config) == before
    told = capsys.readouterr().out
    for words in (
        "nothing is written (--dry-run)",
        "has no on_demand price of p5.48xlarge in use1-az",
        "gcp-a3-ultragpu-8g (on_demand): SkyPilot's catalogue, gcp/vms.csv of 2026-11-22 has no on_demand price",
        "a3-ultragpu-8g says GPUs and its line has none",
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


@pytest.mark.parametrize("given", ["skypilott=http://x", "skypilot", "skypilot=ftp://x"])
def test_a_mirror_that_is_none(config, given):
    with pytest.raises(UserError, match=r"--mirror is .*; expected SOURCE=URL with one of skypilot, gpuhunt"):
        main(["refresh-prices", STUDY, "--config", str(config), "--mirror", given])
