"""Names for people, machines that devices take, rates of a currency, and who else sends jobs: each by a table."""

from datetime import date

import pytest
from sweetspot.errors import UserError
from sweetspot.study.claims import load_claims
from sweetspot.study.instances import Instance, cautions, nodes_of, titles
from sweetspot.study.needs import Demand, load_demands
from sweetspot.study.terms import ShownCurrency, wrong_rate
from sweetspot.study.titles import class_title, framework_title, model_title, provider_title, unit_in_words


def test_names_for_people_are_the_studys_own_else_well_known_else_the_key():
    assert model_title("resnet50") == "ResNet-50" and model_title("mine") == "mine"
    assert model_title("resnet50", {"resnet50": "Ours"}) == "Ours"
    assert model_title("resnet50", {"resnet50": ""}) == model_title("resnet50", {"other": "x"}) == "ResNet-50"
    assert (class_title("resnet50 (urgent)"), class_title("mine"), class_title(3)) == (
        "ResNet-50 (urgent)",
        "mine",
        "3",
    )
    assert (framework_title("torch"), framework_title("mine")) == ("PyTorch", "mine")
    assert (provider_title("vultr"), provider_title("mine")) == ("Vultr", "mine")
    assert provider_title("vultr", {"vultr": "The cloud"}) == "The cloud"


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (["images"], "images"),
        (["runs", "runs"], "samples"),
        ({"runs"}, "runs"),
        ([], "images"),
        ({"images", "tokens"}, "samples"),
        ({"relative"}, "relative units"),
        ({"relative", "images"}, "samples"),
    ],
)
def test_what_speeds_count(units, words):
    assert unit_in_words(units) == words


def machine(**keys):
    return Instance(**{"title": "M", "provider": "own", "gpu": "V100", "gpus": 8} | keys)


@pytest.mark.parametrize(
    ("keys", "gpus", "nodes"),
    [
        ({}, 8, 1),
        ({"nodes": 4}, 8, 4),
        ({"nodes": 4}, 2, 1),
        ({"nodes": 4}, 3, 2),  # two a node
        ({"nodes": 4}, 5, 3),
        ({"measure": {"where": "slurm", "device": "gpu", "partition": "p", "gpus_per_node": 4}}, 8, 2),
        ({"measure": {"where": "slurm", "device": "gpu", "partition": "p", "gpus_per_node": 4}}, 4, 1),
    ],
)
def test_machines_that_devices_take(keys, gpus, nodes):
    assert nodes_of({"m": machine(**keys)}, "m", gpus) == nodes
    assert nodes_of({}, "m", gpus) == 1


def test_titles_and_warnings_of_machines():
    told = {"m": machine(warnings=[{"rule": "shared", "message": "with others"}]), "n": machine(title="N")}
    assert titles(told) == {"m": "M", "n": "N"}
    assert cautions(told, "m") == [{"rule": "shared", "message": "with others"}]
    assert cautions(told, "n") == cautions(told, "nobody") == []


def test_jobs_that_come_are_read_by_workload_and_by_phase(tmp_path):
    file = tmp_path / "workloads.yaml"
    assert load_demands(file) == {}
    file.write_text(
        "a: {kind: runs, runs: 5, shared: {per_month: {value: 10, low: 8, high: 12}, people: 3}}\n"
        "b: {kind: images, shared: {per_month: 2.5, hours_cv: 0.5}}\n"
        "c: {kind: images}\n"
        "d: {kind: phases, phases: [{name: x, gpus_per_job: one, shared: {per_month: 7}}, {name: y},"
        " {name: z, shared: {per_month: 1}}]}\n"
    )
    assert load_demands(file) == {
        "a": Demand((10.0, 8.0, 12.0), 1.0, 3, 5),
        "b": Demand((2.5, 2.5, 2.5), 0.5, None, 1),
        "d.x": Demand((7.0, 7.0, 7.0), 1.0, None, 1),
        "d.z": Demand((1.0, 1.0, 1.0), 1.0, None, 1),
    }


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ("100000", None),
        ("100001", "at most 100,000 jobs a month"),
        ("{value: 50, low: 1, high: 1000}", None),
        ("{value: 50, low: 1, high: 1001}", "a range of at most 1000 times, found 1 to 1001"),
    ],
)
def test_so_many_jobs_come_at_most_and_their_range_is_no_guess_of_anything(tmp_path, jobs, words):
    file = tmp_path / "workloads.yaml"
    file.write_text(f"a: {{kind: images, shared: {{per_month: {jobs}}}}}\n")
    if words is None:
        assert set(load_demands(file)) == {"a"}
    else:
        with pytest.raises(UserError, match=rf"workloads\.yaml: a\.shared: key 'per_month' .*{words}"):
            load_demands(file)


def test_a_claim_stands_once(tmp_path):
    file = tmp_path / "claims.yaml"
    assert load_claims(file) == []
    claim = "{id: ID, kind: fact, text: It is so, source: text}"
    file.write_text("\n".join(f"- {claim.replace('ID', name)}" for name in ("a", "b")) + "\n")
    assert [claim.id for claim in load_claims(file)] == ["a", "b"]
    file.write_text("\n".join(f"- {claim.replace('ID', name)}" for name in ("a", "b", "a", "b", "c")) + "\n")
    with pytest.raises(UserError) as error:
        load_claims(file)
    assert [sentence.removeprefix(f"{file}: ") for sentence in error.value.sentences] == [
        "id 'a' stands twice; each claim needs its own",
        "id 'b' stands twice; each claim needs its own",
    ]


def test_the_currency_of_a_page_in_words():
    shown = ShownCurrency(code="EUR", usd_per_unit=1.08, as_of=date(2024, 9, 18), source="ECB")
    assert shown.in_words() == "EUR at 1.08 USD, ECB 2024-09-18"
    with pytest.raises(ValueError, match=r"usd_per_unit is 0\.92 for EUR: expected 1\.087, the rate turned round"):
        ShownCurrency(code="EUR", usd_per_unit=0.92, as_of=date(2024, 9, 18), source="ECB")
    with pytest.raises(ValueError, match="usd_per_unit is 2 for USD: expected 1, or no rate of USD"):
        ShownCurrency(code="USD", usd_per_unit=2.0, as_of=date(2024, 9, 18), source="ECB")


@pytest.mark.parametrize(
    ("currency", "usd", "year", "told"),
    [
        # The euro was 1.126 to 1.249 in 2018: a tenth beside it may be a bank's.
        ("EUR", 1.126 / 1.099, 2018, False),
        ("EUR", 1.126 / 1.101, 2018, True),
        ("EUR", 1.249 * 1.099, 2018, False),
        ("EUR", 1.249 * 1.101, 2018, True),
        # Turned round, as 1.2 and 0.009 are.
        ("EUR", 1 / 1.2, 2018, True),
        ("JPY", 1 / 0.009, 2018, True),
        # The pound was 1.256 to 1.432; far from both.
        ("GBP", 133.0, 2018, True),
        ("GBP", 1.3, 2018, False),
        # A year that the table does not know has the nearest's, 2026: 1.113 to 1.197, by half.
        ("EUR", 1.197 * 1.49, 2030, False),
        ("EUR", 1.197 * 1.51, 2030, True),
        ("EUR", 1.113 / 1.49, 2030, False),
        ("EUR", 1.113 / 1.51, 2030, True),
        ("XXX", 1e6, 2018, False),  # of which nothing is known
        ("USD", 1.0, 2018, False),
        ("USD", 1.001, 2018, True),
    ],
)
def test_a_rate_that_no_day_had(currency, usd, year, told):
    assert (wrong_rate(currency, usd, date(year, 7, 1)) is not None) == told


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (1 / 1.2, "expected 1.2, the rate turned round, or another beside the 1.126 to 1.249 USD of 2018 (ECB)"),
        (133.0, "expected one beside the 1.126 to 1.249 USD of 2018 (ECB)"),
    ],
)
def test_what_is_said_of_such_a_rate(usd, words):
    assert wrong_rate("EUR", usd, date(2018, 7, 1)) == words
