"""The names of a study's machines in catalogues: what is refused, and what the states of a price list are."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.matrix.invocation import price_list_names
from sweetspot.study.base import validated
from sweetspot.study.catalogue_map import CatalogueMap, checked_catalogue
from sweetspot.study.instances import load_instances
from sweetspot.study.price_list import days_kept, lists_at, load_price_list, newest_day, place_for
from sweetspot.study.study import load_study

STUDIES = Path(__file__).parent.parent.parent / "config" / "studies"
PART = {"lists": ["rent"], "instances": {"a": "p5.48xlarge"}}


def refused(catalogue: dict) -> list[str]:
    with pytest.raises(UserError) as error:
        made = validated(CatalogueMap, catalogue, "study.yaml")
        checked_catalogue(made, {"a", "b"}, ["rent", "spot"], "study.yaml")
    return list(error.value.sentences)


@pytest.mark.parametrize(
    ("catalogue", "told"),
    [
        ({"skypilott": {"aws": PART}}, "key 'skypilott' is unknown; .*did you mean 'skypilot'"),
        ({"aws": {"us-east-1": {**PART, "place": "x"}}}, "key 'aws.us-east-1.place' is unknown"),
        ({"skypilot": {"aws": {**PART, "instances": {"c": "x"}}}},
         "catalogue.skypilot.aws.instances names 'c'; expected an instance of instances.yaml"),
        ({"skypilot": {"aws": {**PART, "lists": ["rents"]}}},
         "catalogue.skypilot.aws.lists names 'rents'; expected some of rent, spot"),
        ({"skypilot": {"aws": {**PART, "instances": {}}}}, "catalogue.*instances|skypilot.aws.instances"),
        ({"skypilot": {"aws": PART}, "aws": {"us-east-1": PART}},
         "catalogue.aws.us-east-1 and catalogue.skypilot.aws both refresh 'a' on_demand of rent; expected one"),
        ({"shipped": {"rates": ["rents"]}}, "catalogue.shipped.rates names 'rents'; expected some of rent, spot"),
        ({"csv": {"mine": PART}}, "exactly one of file, url"),
        ({"csv": {"mine": {**PART, "url": "ftp://x"}}}, "csv.mine.url"),
        ({"skypilot": {"aws": {**PART, "purchases": ["reserved"]}}}, "skypilot.aws.purchases"),
    ],
)  # fmt: skip
def test_a_wrong_map_is_one_sentence(catalogue, told):
    (sentence,) = refused(catalogue)
    assert sentence.startswith("study.yaml: ")
    with pytest.raises(UserError, match=told):
        raise UserError(sentence)


def test_two_sources_may_share_a_machine_by_purchase_or_list():
    spot = {"skypilot": {"aws": {**PART, "purchases": ["spot"]}}, "aws": {"us": {**PART, "purchases": ["on_demand"]}}}
    lists = {"skypilot": {"aws": PART}, "aws": {"us": {**PART, "lists": ["spot"]}}}
    for catalogue in (spot, lists):
        checked_catalogue(validated(CatalogueMap, catalogue, "study.yaml"), {"a"}, ["rent", "spot"], "study.yaml")


@pytest.mark.parametrize("study", ["eight-gpus-2026", "office-box-2026"])
def test_the_maps_of_the_studies_of_today_name_offers_of_their_lists(study):
    """A part that names a list in which it has no offer, or a machine without an offer in its lists, is a mistake."""
    folder = STUDIES / study
    names = price_list_names(folder / "prices")
    instances = load_instances(folder / "instances.yaml")
    written = load_study(folder).catalogue
    parts = [part for _, _, part in checked_catalogue(written, instances, names, "study.yaml").parts()]
    named = set().union(*(part.instances for part in parts))
    offered = {
        name: {offer.instance for offer in load_price_list(folder / "prices" / f"{name}.yaml").offers}
        for name in (*written.shipped.rates, *written.shipped.contracts)
    }
    assert all(machines & named for machines in offered.values()) and named <= set().union(*offered.values())
    assert all(len({instances[name].provider for name in part.instances}) == 1 for part in parts)


def test_shipped_names_are_those_of_its_machines_and_what_the_study_says_comes_first():
    machines = [
        "lambda-8xh100-sxm",
        "nebius-8xb200-x4",
        "gcp-a3-ultragpu-8g",
        "aws-p5.48xlarge",
        "azure-ND96isr-H100-v5",
    ]
    said = {"skypilot": {"aws": {"lists": ["spot"], "instances": {"aws-p5.48xlarge": "p5e.48xlarge"}}},
            "shipped": {"rates": ["rent"], "contracts": ["spot"]}}  # fmt: skip
    made = validated(CatalogueMap, said, "study.yaml")
    parts = {
        key: (source, part.lists, dict(part.instances))
        for source, key, part in checked_catalogue(made, machines, ["rent", "spot"], "study.yaml").parts()
    }
    assert parts == {
        "aws": ("skypilot", ["spot"], {"aws-p5.48xlarge": "p5e.48xlarge"}),
        "shipped-lambda": ("skypilot", ["rent"], {"lambda-8xh100-sxm": "gpu_8x_h100_sxm5"}),
        "shipped-nebius": ("skypilot", ["rent"], {"nebius-8xb200-x4": "gpu-b200-sxm_8gpu-160vcpu-1792gb"}),
        "shipped-gcp-us": ("skypilot", ["rent"], {"gcp-a3-ultragpu-8g": "a3-ultragpu-8g"}),
        "shipped-eastus": ("azure", ["rent"], {"azure-ND96isr-H100-v5": "Standard_ND96isr_H100_v5"}),
        "shipped-eastus-contracts": ("azure", ["spot"], {"azure-ND96isr-H100-v5": "Standard_ND96isr_H100_v5"}),
    }


def test_names_of_the_maps_that_are_in_the_real_files_at_hand():
    """SkyPilot's own names, by the rows that this project carries of its files."""
    carried = {}
    for file in (STUDIES.parent.parent / "tests" / "data" / "skypilot").glob("*.csv"):
        text = file.read_text(encoding="utf-8")
        carried[file.stem.split("_")[0]] = carried.get(file.stem.split("_")[0], "") + text
    missing = {
        (row["file"], row["machine"])
        for row in table("catalogue_names")
        if row["file"] in ("gcp", "nebius", "aws") and f"\n{row['machine']}," not in carried[row["file"]]
    }
    # Of the whole file (p5.48xlarge: 98.32 USD in 2024) no row of these two is carried.
    assert missing == {("aws", "p4de.24xlarge"), ("aws", "p5.48xlarge")}


def price_list(folder: Path, day: str, price: float, *offers: str) -> str:
    rows = [{"instance": "a", "per_hour": price}, *({"instance": name, "per_hour": 1.0} for name in offers)]
    text = yaml.safe_dump({"as_of": date.fromisoformat(day), "source": "x", "offers": rows})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rent.yaml").write_text(text)
    return text


def test_the_state_of_a_list_on_a_day(tmp_path):
    prices = tmp_path / "prices"
    for day, price in (("2026-09-19", 1.0), ("2026-10-05", 2.0)):
        text = price_list(prices, day, price)
        kept = place_for(prices, "rent", load_price_list(prices / "rent.yaml"), text)
        kept.parent.mkdir(parents=True)
        kept.write_text(text)
    price_list(prices, "2026-11-22", 3.0)
    assert days_kept(prices) == [date(2026, 9, 19), date(2026, 10, 5)]

    def price(day: date) -> float:
        return load_price_list(lists_at(prices, ["rent"], day)["rent"]).offers[0].per_hour.value

    expected = {"2026-09-01": 1.0, "2026-09-19": 1.0, "2026-10-04": 1.0, "2026-10-05": 2.0, "2026-11-21": 2.0,
                "2026-11-22": 3.0, "2027-01-01": 3.0}  # fmt: skip
    assert {day: price(date.fromisoformat(day)) for day in expected} == expected


def test_two_states_of_one_day_are_both_kept_and_the_same_state_once(tmp_path):
    prices = tmp_path / "prices"
    first = price_list(prices, "2026-09-19", 1.0)
    loaded = load_price_list(prices / "rent.yaml")
    kept = place_for(prices, "rent", loaded, first)
    assert kept == prices / "history" / "2026-09-19" / "rent.yaml"
    kept.parent.mkdir(parents=True)
    kept.write_text(first)
    assert place_for(prices, "rent", loaded, first) == kept
    assert place_for(prices, "rent", loaded, first + "# edited\n") == prices / "history" / "2026-09-19_2" / "rent.yaml"


def test_the_newest_day_is_that_of_the_newest_offer(tmp_path):
    price_list(tmp_path, "2026-09-19", 1.0)
    old = load_price_list(tmp_path / "rent.yaml")
    later = old.offers[0].model_copy(update={"as_of": date(2026, 11, 22)})
    assert (newest_day(old), newest_day(old.model_copy(update={"offers": [later]}))) == (
        date(2026, 9, 19), date(2026, 11, 22))  # fmt: skip


def test_old_lists_are_no_price_lists_of_today_and_yml_is_still_refused(tmp_path):
    prices = tmp_path / "prices"
    price_list(prices, "2026-11-22", 3.0)
    price_list(prices / "history" / "2026-09-19", "2026-09-19", 1.0)
    assert price_list_names(prices) == ["rent"]
    (prices / "other.yml").write_text("offers: []")
    with pytest.raises(UserError, match=r"other\.yml: price lists end in \.yaml"):
        price_list_names(prices)
