"""An offer from one line: what is written is what a person would have written, and the comparison is the same."""

import datetime

import pytest
import yaml
from month_tables import month_tables
from pandas.testing import assert_frame_equal
from price_refresh import contents
from project_copy import edit
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.study.yamlfile import load_yaml

LINE = "box: 4 x RTX 5090, 21900 EUR, 2.7 (1.9 to 3.0) kW, 36 months, resale gaming 68 %"


@pytest.fixture
def start_up(config):
    return config / "studies" / "start-up-2026"


def offer(config, line, *flags, study="start-up-2026"):
    main(["add-offer", study, *([line] if line else []), *flags, "--config", str(config)])


def without_box(folder):
    """The start-up as it was before the first box was offered."""
    lines = (folder / "instances.yaml").read_text().splitlines(keepends=True)
    (folder / "instances.yaml").write_text("".join(line for line in lines if not line.startswith("box-4x5090")))
    edit(folder / "study.yaml", "[box-4x5090, ", "[")
    file = folder / "prices" / "ours.yaml"
    before, rest = file.read_text().split("  - instance: box-4x5090\n")
    file.write_text(before + "  - instance: box-2xpro6000\n" + rest.split("  - instance: box-2xpro6000\n")[1])


def test_the_box_of_the_start_up_is_written_as_it_was_by_hand(config, start_up, capsys):
    """Ages by hand: from the middle of January 2025 to 2026-09-28 it is 1.70 years."""
    instances, prices = load_yaml(start_up / "instances.yaml"), load_yaml(start_up / "prices" / "ours.yaml")
    by_hand = next(one for one in prices["offers"] if one["instance"] == "box-4x5090")
    without_box(start_up)
    offer(config, LINE)
    assert load_yaml(start_up / "instances.yaml") == instances
    made = load_yaml(start_up / "prices" / "ours.yaml")["offers"][-1]
    assert made.pop("source").endswith(LINE) and by_hand.pop("source")
    assert made == by_hand
    assert load_yaml(start_up / "study.yaml")["offers_in_hand"] == ["box-2xpro6000", "year-1xh100", "box-4x5090"]
    assert not read_study("start-up-2026", config).errors
    assert "box-4x5090 is an offer of study start-up-2026" in capsys.readouterr().out


@pytest.mark.slow
def test_with_the_box_taken_out_and_added_the_comparison_is_the_same(config, start_up):
    wanted = ["choice", "usd_per_month", "usd_per_month_low", "usd_per_month_high", "p_cheapest", "ratio", "in_hand"]
    before = month_tables(start_up, 500)["choices"][wanted]
    without_box(start_up)
    assert "box-4x5090" not in set(month_tables(start_up, 50)["choices"]["choice"])
    offer(config, LINE)
    after = month_tables(start_up, 500)["choices"][wanted]
    assert "box-4x5090" in set(after["choice"])
    assert_frame_equal(after, before)


def test_comments_and_all_other_lines_stay_and_a_dry_run_writes_nothing(config, start_up, capsys):
    before = contents(start_up)
    offer(config, "box 'Workstation A': 4 x RTX 5090, 21900 EUR, 2.1 kW, 36 months", "--dry-run")
    assert contents(start_up) == before
    said = capsys.readouterr().out
    assert "+  - instance: workstation-a" in said and "+workstation-a: {title: Workstation A," in said
    assert "Nothing is reckoned for its sale" in said
    offer(config, "box 'Workstation A': 4 x RTX 5090, 21900 EUR, 2.1 kW, 36 months, in 6 weeks")
    for path, old in before.items():
        lines, new = old.decode().splitlines(), (start_up / path).read_text().splitlines()
        gone = ["offers_in_hand: [box-4x5090, box-2xpro6000, year-1xh100]"] if path == "study.yaml" else []
        assert [line for line in lines if line not in new] == gone
    made = load_yaml(start_up / "prices" / "ours.yaml")["offers"][-1]
    assert made["available_from_weeks"] == 6
    assert made["own"] == {
        "capex": 21900, "months": 36, "kw": 2.1, "per_kwh": {"value": 0.35, "low": 0.28, "high": 0.45},
        "days_per_month": 30.5, "downtime_share": 0.04, "discount_rate": 0.06,
    }  # fmt: skip
    assert not list((config / "studies").glob(".new-*"))


def test_a_contract_and_a_rental_stand_where_such_offers_are(config, start_up):
    offer(config, "contract at Nebius: 8 x H100 SXM, 14.30 EUR an hour, 2000 EUR up front, 1 year")
    *_, contract = load_yaml(start_up / "prices" / "ours.yaml")["offers"]
    assert (contract["instance"], contract["purchase"]) == ("nebius-8xh100-sxm", "reserved")
    assert contract["commitment"] == {"term_months": 12, "upfront": 2000, "per_hour": 14.3}
    machines = load_yaml(start_up / "instances.yaml")
    assert machines["nebius-8xh100-sxm"] == {
        "title": "Nebius with 8 H100 SXM", "provider": "nebius", "gpu": "H100 SXM", "gpus": 8,
        "interconnect": "nvswitch", "base_instance": "h100-sxm-1x",
    }  # fmt: skip
    assert machines["h100-sxm-1x"] == {"title": "1 H100 SXM", "provider": "own", "gpu": "H100 SXM", "gpus": 1}
    offer(config, None, "--kind", "rental", "--provider", "Vast.ai", "--devices", "1 x 5090", "--price", "€0.40/h")
    prices = load_yaml(start_up / "prices" / "rent.yaml")  # in USD, without a rate until now
    source = prices["offers"][-1].pop("source")
    assert source.endswith("rental: 1 x 5090, €0.40/h")
    assert prices["offers"][-1] == {
        "instance": "vast.ai-1xrtx-5090".replace("rtx-", ""), "purchase": "on_demand", "per_hour": 0.4,
        "currency": "EUR", "as_of": datetime.date(2026, 9, 28),
    }  # fmt: skip
    assert [rate["currency"] for rate in prices["rates"]] == ["EUR"]
    assert load_yaml(start_up / "instances.yaml")["vast.ai-1x5090"]["equivalent_to"] == "5090-1x"
    assert load_yaml(start_up / "study.yaml")["offers_in_hand"][3:] == ["nebius-8xh100-sxm", "vast.ai-1x5090"]
    assert not read_study("start-up-2026", config).errors


def test_a_device_without_a_figure_turns_the_transfer_on(config, capsys):
    """lab-of-five has figures of each of its machines, and neither transfer nor offers in hand."""
    lab = config / "studies" / "lab-of-five"
    offer(config, "box: 2 x RTX PRO 6000, 24500 EUR, 1.6 kW", study="lab-of-five")
    study = yaml.safe_load((lab / "study.yaml").read_text())
    assert study["transfer"] is True and "offers_in_hand" not in study  # none named: everything for sale
    assert "No figure of RTX PRO 6000" in capsys.readouterr().out
    own = load_yaml(lab / "prices" / "ours.yaml")["offers"][-1]["own"]
    assert own["months"] == 36 and own["per_kwh"] == {"value": 0.30, "low": 0.25, "high": 0.35}
    offer(config, "box: 2 x RTX 4090, 7450 USD, 1.1 kW", study="lab-of-five")
    machine = load_yaml(lab / "instances.yaml")["box-2x4090"]
    assert machine["base_instance"] == "rtx4090-1"
    dollars = load_yaml(lab / "prices" / "ours.yaml")["offers"][-1]
    # 0.30, 0.25 and 0.35 EUR at 1.1378 USD
    assert dollars["currency"] == "USD"
    assert dollars["own"]["per_kwh"] == {"value": 0.3413, "low": 0.2844, "high": 0.3982}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("box 'A': 4 x RTX 5090, 21900 EUR, 2,100 kW", r"2,100 kW for 4 x RTX 5090 cannot be: did you mean 2.1\?"),
        ("box: 4 x RTX 5090, 21.9 EUR, 2.1 kW", r"did you mean 21,900\? \(1000 times more\)"),
        ("box: 4 x RTX 5090, 21900 EUR, 2.1 kW, 36 years", r"432 months cannot be: did you mean 36\?"),
        ("box: 4 x RTX 5090, 21900 EUR, 2.1 kW, 35 EUR a kWh", r"35 EUR a kWh cannot be: did you mean 0.35\?"),
        ("rental at RunPod: 1 x RTX 4090, $505/h", r"505 USD an hour cannot be: did you mean 0.69\?"),
        ("contract: 1 x H100 PCIe, 1.79 EUR a month, 12 months", r"did you mean 1,310.28\? \(732 times more\)"),
        ("box: 4 x RTX 509O, 21900 EUR, 2.1 kW", "did you mean 'RTX 5090'"),
        ("box: 4 x Xeon, 21900 EUR, 2.1 kW", "is a processor"),
        ("box: 4 x RTX 5090, 21900 EUR, 2,1 kW", "a decimal has a point"),
        ("box: 4 x RTX 5090, 21900, 2.1 kW", "the currency is missing"),
        ("box: 4 x RTX 5090, 21900 CHF, 2.1 kW", "in CHF, of which the study has no rate"),
        ("box 'A': 4 x RTX 5090, 21900 EUR", "the power of the box is missing"),
        ("box: 21900 EUR, 2.1 kW", "names no device"),
        ("box: 4 x RTX 5090, 2.1 kW, 2.2 kW, 9 EUR", "kw is said twice"),
        ("box: 4 x RTX 5090, 1 EUR an hour, 2.1 kW", "a box has one price"),
        ("rental at RunPod: 1 x RTX 4090, 500 EUR", "of what is the price"),
        ("rental at Runpdo: 1 x RTX 4090, 1 EUR an hour", "did you mean 'RunPod'"),
        ("rental at RunPod: 1 x RTX 5090, 0.99 USD an hour", "'runpod-1x5090' is there already, in prices/rent.yaml"),
        ("contract: 1 x H100 PCIe, 1.79 EUR an hour", "a contract has a price and a term"),
        ("contrcat: 1 x H100 PCIe, 1.79 EUR an hour", "did you mean 'contract'"),
        ("rental at RunPod: 1 x RTX 4090, 1 EUR an hour, in 2 weeks", "a rental is there at once"),
        ("a box of four", "expected such as"),
        ("box: 4 x RTX 5090, 21900 EUR, 2.1 kW, soon", "'soon' is no part of an offer"),
        ("contract: 1 x H100 PCIe, 1.79 EUR an hour, 48 months", "at most project_months 36"),
        ("box 'A': 4 x RTX 5090, 21900 EUR, 2.1 kW, resale 30000 EUR", "residual of at most capex"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence_and_nothing_is_written(config, start_up, line, words):
    before = contents(config)
    with pytest.raises(UserError, match=words):
        offer(config, line)
    assert contents(config) == before


def test_a_misspelt_study_and_two_ways_at_once_are_refused(config):
    with pytest.raises(UserError, match="did you mean 'start-up-2026'"):
        offer(config, LINE, study="strat-up-2026")
    with pytest.raises(UserError, match="a line and by flags"):
        offer(config, LINE, "--kw", "2")
    with pytest.raises(UserError, match="no offer is given"):
        offer(config, None)


def test_warnings_are_said_of_the_offer_alone(config, capsys):
    """Its price is of the study's day; the rates of the list are made older than a price may be from its rate."""
    prices = config / "studies" / "start-up-2026" / "prices" / "ours.yaml"
    edit(prices, "1.1591}, as_of: 2026-09-28", "1.1591}, as_of: 2026-07-01")
    offer(config, "contract 'a': 1 x H100 PCIe, 1.70 EUR an hour, 12 months")
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert told == ["warning: a: price of 2026-09-28 converted with a EUR rate of 2026-07-01"]


def test_a_rate_that_is_typed_is_written_with_the_day(config, start_up):
    offer(config, "contract: 1 x H100 PCIe, 1.70 CHF an hour, 12 months", "--instance", "swiss", "--rate", "1.25")
    prices = load_yaml(start_up / "prices" / "ours.yaml")
    rate = prices["rates"][-1]
    assert (rate["currency"], rate["usd"]) == ("CHF", 1.25) and "typed on" in rate["source"]
    assert prices["offers"][-1]["currency"] == "CHF"
    with pytest.raises(UserError, match="--rate is 125"):
        offer(config, "contract: 1 x H100 PCIe, 1.70 CHF an hour, 12 months", "--instance", "two", "--rate", "125")
