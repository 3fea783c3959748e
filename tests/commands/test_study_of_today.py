"""The files of a new study about one GPU, by hand: its own figure, its box, its targets, its currency."""

import csv
import io

import pytest
import yaml
from price_lists import findings, price_list
from project_copy import ROOT
from sweetspot.commands.study_of_today import OWN, RATES, Offer, Own, Work, checked_money, files_of_today
from sweetspot.errors import UserError
from sweetspot.study.instances import Instance
from sweetspot.transfer.figures import shipped_devices

STUDIES = ROOT / "config" / "studies"
DEVICES = shipped_devices()
TODAY = "2026-01-02"


def made(gpu="RTX 4090", work=None, **own):
    own = {"instance": OWN, "model": "resnet50", "precision": "fp16", "framework": "torch", "batch_size": 256} | own
    files = files_of_today("new", Own(DEVICES.get(gpu), **own), STUDIES, DEVICES, TODAY, work)
    return {name: text if name.endswith(".csv") else yaml.safe_load(text) for name, text in files.items()}


def test_the_figure_that_the_person_timed_is_a_row_of_one_device():
    (row,) = csv.DictReader(io.StringIO(made(images_per_s=1120.0)["throughput.csv"]))
    assert {name: value for name, value in row.items() if value} == {
        "gpu": "RTX 4090", "instance": OWN, "gpus": "1", "framework": "torch", "benchmark": "own", "model": "resnet50",
        "batch_size": "256", "precision": "fp16", "variant": "default", "images_per_s": "1120", "as_of": TODAY,
        "source": f"timed by us, given to sweetspot new-study on {TODAY}",
    }  # fmt: skip
    assert "throughput.csv" not in made()  # it is to be measured


def test_what_is_timed_has_an_instance_of_its_own_and_what_is_measured_has_not():
    timed, measured = made(images_per_s=1120.0), made(instance="workstation-gpu")
    own = {"title": "RTX 4090", "provider": "own", "gpu": "RTX 4090", "gpus": 1}
    assert timed["instances.yaml"][OWN] == own and OWN not in measured["instances.yaml"]
    for files, base in ((timed, OWN), (measured, "workstation-gpu")):
        assert files["instances.yaml"]["box-4"] == {
            "title": "box with 4 RTX 4090", "provider": "own", "gpu": "RTX 4090", "gpus": 4, "interconnect": "pcie",
            "base_instance": base,
        }  # fmt: skip
        assert files["study.yaml"]["targets"][0] == {"instance": "box-4", "base_instance": base, "gpus": 4}


def providers(files, gpu):
    """Who lets a device, with USD per device and hour as the list has it."""
    hours = {offer["instance"]: offer["per_hour"] for offer in files["prices/rent.yaml"]["offers"]}
    found = {}
    for name, hour in hours.items():
        machine = files["instances.yaml"][name]
        if machine["gpu"] == gpu:
            usd = (hour["value"] if isinstance(hour, dict) else hour) / machine["gpus"]
            found[machine["provider"]] = min(usd, found.get(machine["provider"], usd))
    return found


def test_rentals_are_of_the_six_cheapest_providers_of_each_device_by_the_listings():
    """Read by hand in the price lists of the studies of 2026: 30.8 / 8 is 3.85 at Nebius, 1.522 / 4 at Vast.ai."""
    files = made(images_per_s=1120.0)
    # Left out, as seventh and eighth: DigitalOcean at 35.28 / 8 and CoreWeave at 49.24 / 8.
    assert providers(files, "H100 SXM") == pytest.approx(
        {"hyperstack": 3.2, "runpod": 3.49, "nebius": 3.85, "crusoe": 3.9, "lambda": 3.99, "together": 3.99}
    )
    assert providers(files, "RTX 4090") == pytest.approx({"vast.ai": 0.3805, "runpod": 0.74})
    assert providers(files, "RTX PRO 6000") == {"runpod": 2.09, "nebius": 1.8}
    assert providers(files, "L40S") == {"runpod": 1.09}
    assert set(providers(files, "H200 SXM")) == {"crusoe", "digitalocean", "nebius", "coreweave"}
    assert not providers(files, "MI300X"), "another maker's: speeds from an RTX 4090 are guesses"
    marketplace = next(one for one in files["prices/rent.yaml"]["offers"] if one["instance"] == "vastai-4x4090")
    assert (str(marketplace["as_of"]), marketplace["billing"]) == ("2026-07-20", {"granularity": "second"})
    assert marketplace["source"].startswith("vast.ai, on demand") and "gpu-pricing-tracker" in marketplace["source"]


def test_each_machine_of_several_devices_is_estimated_from_one_of_its_device():
    """One that nobody offers alone is declared for it."""
    files = made(images_per_s=1120.0)
    instances = files["instances.yaml"]
    offered = [offer["instance"] for offer in files["prices/rent.yaml"]["offers"]]
    assert len(offered) == len(set(offered)) > 20 and set(offered) <= set(instances)
    assert not any("equivalent_to" in machine for machine in instances.values())
    targets = {target["instance"]: target for target in files["study.yaml"]["targets"][1:]}
    several = [name for name in offered if instances[name]["gpus"] > 1]
    assert set(targets) == set(several)
    for name, target in targets.items():
        base = instances[target["base_instance"]]
        assert DEVICES.get(base["gpu"]).gpu == DEVICES.get(instances[name]["gpu"]).gpu
        assert (base["gpus"], target["gpus"]) == (1, instances[name]["gpus"])
    assert {base for base in instances if base.startswith("one-")} == {"one-h200-sxm", "one-b200", "one-b300"}


def test_a_box_that_office_box_2026_prices_has_its_price():
    office = yaml.safe_load((STUDIES / "office-box-2026" / "prices" / "office.yaml").read_text())
    known = next(offer for offer in office["offers"] if offer["instance"] == "office-4x4090")
    box = made()["prices/box.yaml"]
    offer = box["offers"][0]
    assert (offer["instance"], offer["source"]) == ("box-4", known["source"])
    assert {key: offer["own"][key] for key in ("capex", "kw", "per_kwh")} == {
        key: known["own"][key] for key in ("capex", "kw", "per_kwh")
    }
    assert (box["currency"], box["as_of"], box["max_age_days"]) == ("USD", str(office["as_of"]), 400)


def test_another_box_is_priced_by_the_facts_in_every_currency():
    """H100 new: 18,550 to 57,500 USD, sqrt of the product 32,659; four and a host of 6,000 (4,000 to 9,000)."""
    box = made("H100 SXM")["prices/box.yaml"]["offers"][0]["own"]
    # 4 x 32,659 + 6,000 = 136,637; 4 x 18,550 + 4,000 = 78,200; 4 x 57,500 + 9,000 = 239,000
    assert box["capex"] == {"value": 136_640, "low": 78_200, "high": 239_000}
    # 4 x (700 W + 100 W of host) = 3.2 kW; 1.6 / 2.2 and 2.5 / 2.2 of it
    assert box["kw"] == {"value": 3.2, "low": pytest.approx(2.3273), "high": pytest.approx(3.6364)}
    euro = made("H100 SXM", currency="EUR")["prices/box.yaml"]["offers"][0]["own"]
    # 136,640 / 1.1378 = 120,091; 78,200 / 1.1378 = 68,729; 239,000 / 1.1378 = 210,054
    assert euro["capex"] == {"value": 120_090, "low": 68_730, "high": 210_050}


def test_a_box_whose_price_nobody_knows_is_not_offered():
    files = made("GRID K520")
    assert [offer["instance"] for offer in files["prices/box.yaml"]["offers"]] == [OWN]
    assert "box-4" not in files["instances.yaml"] and "reference" not in files["study.yaml"]
    assert all(target["instance"] != "box-4" for target in files["study.yaml"]["targets"])


@pytest.mark.parametrize("gpu", ["GTX 1080 Ti", "RTX 3090", "RTX 4090", "RTX 5090", "L40S", "H100 SXM", "B200", "V100"])
def test_no_price_of_a_box_is_one_that_the_lint_asks_about(gpu):
    """6,500 USD for four H100, 1,625 each, is below 0.4 x 18,550; so were prices of new studies."""
    own = made(gpu)["prices/box.yaml"]["offers"][0]
    known = {"box-4": Instance(title="box", provider="own", gpu=gpu, gpus=4)}
    found = findings(price_list(own), known)
    assert [one.message for one in found if one.rule.startswith("own_")] == []


def test_the_currency_of_the_box_is_that_of_the_page_at_one_rate():
    assert "rates" not in made()["prices/box.yaml"] and "currency" not in made()["study.yaml"]
    euro = made(currency="EUR")
    assert euro["prices/box.yaml"]["rates"] == [{"currency": "EUR", **RATES["EUR"]}]
    assert euro["study.yaml"]["currency"]["usd_per_unit"] == 1.1378
    typed = made(currency="CHF", usd_per_unit=1.25)
    said = {"as_of": TODAY, "source": f"typed by us on {TODAY} (RATE of sweetspot new-study)"}
    assert typed["prices/box.yaml"]["rates"] == [{"currency": "CHF", "usd": 1.25, **said}]
    assert typed["study.yaml"]["currency"] == {"code": "CHF", "usd_per_unit": 1.25, **said}
    with pytest.raises(UserError, match="CURRENCY is 'CHF'; expected USD, EUR, or RATE beside it: USD per CHF"):
        checked_money("chf", None)
    assert checked_money("chf", 1.25) == ("CHF", 1.25)


@pytest.mark.parametrize(
    ("own", "work", "headline", "measure"),
    [
        ({"images_per_s": 1120.0}, Work(), "own", False),
        ({"images_per_s": 1120.0}, None, "own", False),
        ({"instance": "workstation-gpu"}, Work(), 256, True),
        ({"instance": "workstation-gpu"}, None, 256, True),
    ],
)
def test_which_batch_and_whether_it_is_measured(own, work, headline, measure):
    study = made(work=work, **own)["study.yaml"]
    assert study["cells"]["headline_batch_size"] == headline
    assert study["measure"] is measure


def test_the_offer_on_the_desk_is_the_machine_that_one_may_buy():
    """Another device than one's own: its price and power as told, its speed from one such device."""
    offer = Offer(DEVICES.get("RTX 5090"), 2, 11_000.0, 1.45, 6.0)
    files = made(images_per_s=1120.0, work=Work(offer=offer), currency="EUR")
    box, there = files["prices/box.yaml"]["offers"]
    assert (box["instance"], box["available_from_weeks"]) == ("box-2", 6)
    assert (box["own"]["capex"], box["own"]["kw"]) == (11_000, 1.45)  # in EUR, as it was told
    # one's own RTX 4090: 450 W and 100 W of a host, 1.6 / 2.2 and 2.5 / 2.2 of it
    assert there["own"]["kw"] == {"value": 0.55, "low": pytest.approx(0.4), "high": pytest.approx(0.625)}
    machine = files["instances.yaml"]["box-2"]
    assert (machine["gpu"], machine["gpus"], machine["base_instance"]) == ("RTX 5090", 2, "runpod-1x5090")
    assert files["study.yaml"]["reference"] == "box-2"
    assert {"instance": "box-2", "base_instance": "runpod-1x5090", "gpus": 2} in files["study.yaml"]["targets"]


def test_an_offer_of_a_device_that_nobody_prices_needs_its_price_alone():
    offer = Offer(DEVICES.get("GRID K520"), 1, 500.0)
    box = made(work=Work(offer=offer))["prices/box.yaml"]["offers"][0]
    assert box["own"]["capex"] == 500 and box["own"]["kw"]["value"] == pytest.approx(0.325)  # 225 W + 100 W
