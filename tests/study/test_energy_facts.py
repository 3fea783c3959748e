"""The facts of energy in study.yaml: bounds, ranges, sources; each mistake one sentence that names file and key."""

import json

import pytest
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.study.study import load_study

STUDY = {
    "name": "warm", "title": "T", "question": "Q?", "as_of": "2026-01-01",
    "sources": [{"id": "s", "title": "S", "date": "2026"}],
    "cells": {"model": ["m"], "batch_size": [1], "precision": "fp16", "headline_batch_size": 1},
}  # fmt: skip


def fact(value, **more):
    return {"value": value, "as_of": "2025", "source": "a report"} | more


def site(**facts):
    return {"sites": [{"provider": "cloud", **facts}]}


def device(**facts):
    return {"utilisation": fact(0.7), "devices": [{"gpu": "a card", "watts": fact(700)} | facts]}


def read(folder, energy):
    file = folder / "warm" / "study.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(STUDY | {"energy": energy}))  # which YAML reads too
    return load_study(file.parent).energy


@pytest.mark.parametrize(
    ("energy", "words"),
    [
        (site(g_per_kwh=fact(-1)), ["energy.sites[0].g_per_kwh", "from 0 to 1500, found -1"]),
        (site(g_per_kwh=fact(1501)), ["g_per_kwh", "found 1501"]),
        (site(g_per_kwh=fact(400, high=1600)), ["g_per_kwh", "found 1600"]),
        (site(pue=fact(0.99)), ["energy.sites[0].pue", "from 1 to 3, found 0.99"]),
        (site(pue=fact(1.2, high=3.1)), ["pue", "found 3.1"]),
        (site(pue=fact(1.2, low=1.3)), ["pue", "low <= value <= high, found 1.3, 1.2, 1.2"]),
        (site(pue={"value": 1.2, "as_of": "2025"}), ["energy.sites[0].pue.source", "missing"]),
        (site(pue=fact(1.2, as_of="last year")), ["pue.as_of", "a date in quotes"]),
        (site(pue=1.2), ["energy.sites[0].pue", "1.2"]),
        (site(pue=fact(1.2), intensity=fact(300)), ["energy.sites[0].intensity", "unknown"]),
        (site(), ["energy.sites[0]", "at least one of pue, g_per_kwh"]),
        (site(grid="mars"), ["energy.sites[0]", "one of us, us-unplaced", "found 'mars'"]),
        (site(grid="us", g_per_kwh=fact(300)), ["energy.sites[0]", "one of g_per_kwh and grid"]),
        ({"sites": 2 * site(pue=fact(1.2))["sites"]}, ["energy", "once, found 'cloud' twice"]),
        (device(utilisation=fact(0.5)), ["energy.devices[0].utilisation", "unknown"]),
        (device() | {"utilisation": fact(-0.1)}, ["energy.utilisation", "found -0.1"]),
        (device() | {"utilisation": fact(76)}, ["energy.utilisation", "not a percentage", "found 76"]),
        (device() | {"utilisation": fact(0.9, high=1.1)}, ["energy.utilisation", "found 1.1"]),
        (device() | {"utilisation": None}, ["energy", "utilisation beside devices"]),
        (device(watts=fact(0)), ["energy.devices[0].watts", "found 0"]),
        (device(watts=fact(700_000)), ["energy.devices[0].watts", "at most 5000"]),
        (device(host_share=fact(-0.5)), ["energy.devices[0].host_share", "found -0.5"]),
    ],
)
def test_a_fact_out_of_bounds_or_without_a_source_is_one_sentence(tmp_path, energy, words):
    with pytest.raises(UserError) as error:
        read(tmp_path, energy)
    message = str(error.value)
    assert message.count("\n") == 0
    assert "study.yaml: key 'energy" in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "energy",
    [
        site(g_per_kwh=fact(0)), site(g_per_kwh=fact(1500)), site(pue=fact(1)), site(pue=fact(3.0)),
        device() | {"utilisation": fact(1)}, device(host_share=fact(0)), {},
    ],
)  # fmt: skip
def test_the_bounds_themselves_and_a_study_with_few_facts_are_taken(tmp_path, energy):
    assert read(tmp_path, energy) is not None


def test_a_fact_without_a_range_stands_alone(tmp_path):
    found = read(tmp_path, site(pue=fact(1.2, low=1.1)))
    assert found.site("cloud").pue.three == (1.2, 1.1, 1.2)
    assert found.site("elsewhere") is None


def test_what_is_shipped_fills_what_the_study_leaves_open(tmp_path):
    """The figures of facts/*.csv by hand; what the study says of a device or a site comes before them."""
    said = {
        "shipped": True,
        "devices": [{"gpu": "H100 SXM", "watts": fact(650)}],
        "sites": [
            {"provider": "own", "grid": "finland"},
            {"provider": "aws", "grid": "france"},
            {"provider": "lambda", "pue": fact(1.3)},
            {"provider": "gcp", "g_per_kwh": fact(100)},
        ],
    }
    found = read(tmp_path, said)
    assert found.utilisation.three == (0.76, 0.64, 0.83)
    assert (found.device("H100 SXM").watts.value, found.device("H100 SXM").host_share) == (650, None)
    assert (found.device("A100 SXM 80GB").watts.value, found.device("A100 SXM 80GB").host_share.value) == (400, 1.031)
    told = {site.provider: (site.pue and site.pue.value, site.g_per_kwh.value) for site in found.sites}
    expected = {"own": (None, 79), "aws": (1.14, 56), "lambda": (1.3, 367), "gcp": (1.10, 100), "oci": (1.15, 369)}
    assert {name: told[name] for name in expected} == expected
    assert found.site("lambda").g_per_kwh.three == (367, 367, 412)
    assert found.site("oci").g_per_kwh.source.startswith("us-ashburn-1: US EPA eGRID 2023")
    assert type(found).model_validate(found.model_dump(mode="json")) == found  # as a rule hands it on


def test_nothing_is_shipped_to_a_study_that_does_not_ask(tmp_path):
    assert [site.provider for site in read(tmp_path, site(grid="us")).sites] == ["cloud"]


@pytest.mark.parametrize("name", ["power", "providers", "grids"])
def test_every_shipped_fact_has_a_source_a_date_and_stands_once(name):
    rows = table(name)
    assert all(row["source"] and row["as_of"] for row in rows)
    keys = [(row.get("quantity"), row.get("gpu") or row.get("provider") or row.get("grid")) for row in rows]
    assert len(set(keys)) == len(keys)
    assert name != "providers" or {row["grid"] for row in rows} <= {row["grid"] for row in table("grids")}
