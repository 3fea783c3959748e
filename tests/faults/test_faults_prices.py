"""Faults of price lists through the real command: refused while the plan is read, or a warning beside the offers."""

import shutil

import pyarrow.parquet as pq
import pytest
from project_copy import edit, run_snakemake

STUDY = "config/studies/parkopedia-2018"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("ending", f"{STUDY}/prices/spot.yml: price lists end in .yaml; expected spot.yaml"),
        ("octal", "config/config.yaml, line "),
        ("sixties", "found 1:30, which YAML 1.1 counts in sixties"),
        ("case", f"{STUDY}/prices: price lists 'GCE' and 'gce' differ only by case"),
    ],
)
def test_a_price_list_or_a_number_that_would_be_misread_is_one_sentence(project, damage, words):
    prices, config = project / STUDY / "prices", project / "config" / "config.yaml"
    if damage == "ending":
        (prices / "aws-spot.yaml").rename(prices / "spot.yml")
    elif damage == "case":
        shutil.copy(prices / "gce.yaml", prices / "GCE.yaml")
    else:
        edit(config, "runs: 2", "runs: 010" if damage == "octal" else "runs: 1:30")
    done = run_snakemake(project, "--dry-run")
    assert done.returncode == 1, done.stdout
    assert words in done.stdout
    assert "Traceback" not in done.stdout


def test_a_list_in_cents_is_refused_one_of_days_warns_and_a_negative_price_never_comes(project):
    """A purchase of 6500 with a resale value of 65000 made negative prices, then an error about something else."""
    prices = project / STUDY / "prices"
    edit(prices / "office-box.yaml", "capex: 6500", "residual: 65000\n      capex: 6500")
    target = "results/parkopedia-2018/offers/{}.parquet"
    done = run_snakemake(project, target.format("office-box"), "--config", "measure_on=[]")
    assert done.returncode == 1
    assert "residual of at most capex, found residual 65000 and capex 6500" in done.stdout
    listed = prices / "aws-on-demand.yaml"
    text = listed.read_text()
    for factor in (100, 24):
        wrong = text
        for usd in ("0.9", "7.2", "14.4", "1.14", "2.28", "4.56", "3.06", "12.24", "24.48"):
            wrong = wrong.replace(f"per_hour: {usd},", f"per_hour: {float(usd) * factor:g},")
        listed.write_text(wrong)
        done = run_snakemake(project, target.format("aws-on-demand"), "--config", "measure_on=[]")
        if factor == 100:
            assert done.returncode == 1
            assert (
                "per_hour is 114 USD an hour for 1 x Tesla M60, which cannot be; 100 times too much (cents)?"
                in done.stdout
            )
    assert done.returncode == 0, done.stdout
    offers = pq.read_table(project / target.format("aws-on-demand")).to_pylist()
    assert len(offers) == 9
    for offer in offers:
        assert "market_level" in {pair["rule"] for pair in offer["warnings"]}
