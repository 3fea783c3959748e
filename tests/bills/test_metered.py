"""Electricity of a machine owned by the joules that its runs measured, by hand; and where a stated power stays."""

import pandas as pd
import pyarrow as pa
import pytest
from price_lists import MONTH_DAYS, STUDY_DATE, price_list
from sweetspot.bills.energy import metered_machines, with_metered
from sweetspot.bills.offers import offer_rows
from sweetspot.bills.pricing import price_study
from sweetspot.study.base import validated
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.throughput.best import TABLE_COLUMNS

BOX = Instance(title="box", provider="own", gpu="a card", gpus=2)


def figure(images_per_s=100.0, joules=3.0, source="nvml_counter+rapl", **other):
    cell = {"instance": "box", "framework": "torch", "model": "vgg16", "batch_size": 64, "gpus": 2, "precision": "fp16",
            "variant": "ddp", "gpu": "a card", "nodes": 1, "images_per_s": images_per_s, "basis": "measured",
            "status": "ok", "source": "a run", "unit": "images", "logical": False, "joules_per_sample": joules,
            "energy_source": source}  # fmt: skip
    return cell | other


def table(*cells):
    frame = pd.DataFrame(list(cells)).reindex(columns=list(TABLE_COLUMNS))
    numbers = ["images_per_s", "images_per_s_low", "images_per_s_high", "joules_per_sample"]
    return pa.Table.from_pandas(frame.astype(dict.fromkeys(numbers, float)), preserve_index=False)


def shares(host):
    fact = {"value": host, "as_of": "2025", "source": "a chassis"}
    return validated(Energy, {"host_share": fact}, "study.yaml")


def test_power_is_joules_a_sample_times_samples_a_second_over_the_cells_of_the_whole_machine():
    # 100 x 3 = 300 W, 200 x 2 = 400 W, 50 x 4.4 = 220 W: the median 0.3 kW
    cells = [figure(), figure(200.0, 2.0, model="a"), figure(50.0, 4.4, model="b", status="unstable")]
    others = [
        figure(900.0, gpus=1), figure(900.0, model="c", logical=True), figure(900.0, model="d", basis="published"),
        figure(900.0, None, model="e"), figure(None, model="f", status="oom"), figure(900.0, instance="x"),
    ]  # fmt: skip
    found = metered_machines(table(*cells, *others), {"box": BOX}, None)
    assert list(found) == ["box"]
    assert found["box"].kw == pytest.approx((0.3, 0.22, 0.4))
    assert found["box"].source.startswith("0.3 kW by nvml_counter+rapl of 3 cells; supplies, fans and disks")


def test_where_the_processor_does_not_tell_the_host_share_of_the_study_stands_for_it():
    devices = table(figure(source="nvml_power"))
    found = metered_machines(devices, {"box": BOX}, shares(0.5))["box"]
    assert found.kw[0] == pytest.approx(0.45)
    assert "of 1 cell, x (1 + 0.5) for the host" in found.source
    alone = metered_machines(devices, {"box": BOX}, None)["box"]
    assert alone.kw[0] == pytest.approx(0.3)
    assert "of 1 cell, devices alone" in alone.source
    # a processor that trains is its own host: what its counter says is not raised
    assert metered_machines(table(figure(source="rapl")), {"box": BOX}, shares(0.5))["box"].kw[0] == pytest.approx(0.3)


def test_a_throughput_table_of_before_has_no_metered_machine():
    assert metered_machines(table(figure()).drop_columns(["joules_per_sample"]), {"box": BOX}, None) == {}


def offer(**own):
    known = {"capex": 1000, "months": 10, "kw": 2.0, "per_kwh": 0.2, "days_per_month": 10} | own
    return price_list({"instance": "box", "purchase": "own", "own": known}).offers[0]


def test_the_stated_power_becomes_the_high_end_and_one_measured_at_the_plug_stays():
    metered = metered_machines(table(figure()), {"box": BOX}, None)["box"]
    changed = with_metered(offer(load_share=0.5), metered).own
    assert (changed.kw.value, changed.kw.ends, changed.load_share.value) == (0.3, (0.3, 1.0), 1.0)
    for kept in (offer(kw_basis="measured"), price_list({"instance": "box", "per_hour": 2}).offers[0]):
        assert with_metered(kept, metered) is kept
    assert with_metered(offer(), None).own.kw.value == 2.0


def test_power_that_runs_measured_is_said_of_a_box_whose_stated_power_it_replaces_alone():
    metered = metered_machines(table(figure()), {"box": BOX}, None)
    own = {"capex": 1000, "months": 10, "kw": 2.0, "per_kwh": 0.2, "days_per_month": 10}
    offers = [own, own | {"kw_basis": "measured"}]
    for terms, replaced in zip(offers, (True, False), strict=True):
        prices = price_list({"instance": "box", "purchase": "own", "own": terms})
        ((row,), _) = offer_rows("list", prices, {"box": BOX}, MONTH_DAYS, metered=metered)
        assert (metered["box"].source in str(row["power_source"])) == replaced
    ((rented,), _) = offer_rows("list", price_list({"instance": "box", "per_hour": 2.0}), {"box": BOX}, MONTH_DAYS,
                                metered=metered)  # fmt: skip
    assert metered["box"].source not in str(rented.get("power_source"))


def priced(tmp_path, throughput, **own):
    instances, prices, works = (tmp_path / name for name in ("instances.yaml", "p.yaml", "workloads.yaml"))
    instances.write_text("box: {title: box, provider: own, gpu: a card, gpus: 2}\n")
    known = {"capex": 1000, "months": 10, "kw": 2.0, "per_kwh": 0.2, "days_per_month": 10, "pue": 1.5} | own
    text = ", ".join(f"{key}: {value}" for key, value in known.items())
    prices.write_text(
        "as_of: 2018-07-01\nsource: this test\ncurrency: USD\n"
        f"offers:\n- {{instance: box, purchase: own, own: {{{text}}}}}\n"
    )
    works.write_text("work: {kind: training, model: vgg16, samples: 720000, source: this test}\n")
    columns = ["instance", "framework", "model", "batch_size", "gpus", "precision", "variant", "images_per_s",
               "images_per_s_low", "images_per_s_high", "basis", "source", "headline"]  # fmt: skip
    none = pa.table({name: pa.array([], pa.string()) for name in columns})
    tables = price_study(throughput, none, prices, works, [instances], "p", MONTH_DAYS, STUDY_DATE)
    return {name: tables[name].to_pylist() for name in ("offers", "costs", "bills")}


def test_measured_joules_are_priced_in_the_bill_and_its_basis_is_said(tmp_path):
    # 720,000 images x 3 J = 2.16 MJ = 0.6 kWh, x PUE 1.5 = 0.9 kWh, at 0.20: 0.18 USD. Stated: 2 kW x 2 h x 1.5: 1.20
    found = priced(tmp_path, table(figure()))
    lines = {row["line"]: row["usd"] for row in found["bills"]}
    assert lines["electricity"] == pytest.approx(0.18)
    (cost,), (row,) = found["costs"], found["offers"]
    assert (cost["kwh"], cost["power_basis"]) == (pytest.approx(0.9), "metered")
    assert cost["kwh_high"] == pytest.approx(6.0)  # what was stated
    assert (row["kw"], row["energy_usd_per_hour"]) == pytest.approx((0.3, 0.09))
    assert row["variable_usd_per_hour"] == pytest.approx(0.09)  # what the break-even rests on
    assert row["power_source"].endswith("disks are not in it; x PUE 1.5")
    stated = priced(tmp_path, table(figure(joules=None)))
    assert {row["line"]: row["usd"] for row in stated["bills"]}["electricity"] == pytest.approx(1.20)
    assert stated["costs"][0]["power_basis"] == "declared"
