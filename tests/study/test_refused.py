"""What is wrong with a number, between the keys of an entry or with a range is one sentence of file, key and value."""

from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError
from schemas import schemas
from study_entries import OWN, PRICES, QUESTION, STUDY, TAKEN
from sweetspot.errors import UserError
from sweetspot.study.base import Closed, validated
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Executor
from sweetspot.study.price_list import PriceList, check_together
from sweetspot.study.scripts import Script
from sweetspot.study.stock import Availability
from sweetspot.study.study import Study
from sweetspot.study.workloads import Workloads


def fact(value, **more):
    return {"value": value, "as_of": "2025", "source": "a report"} | more


def site(**facts):
    return {"sites": [{"provider": "cloud", **facts}]}


def device(**facts):
    return {"utilisation": fact(0.7), "devices": [{"gpu": "a card", "watts": fact(700)} | facts]}


def stock(quantity="stock_share", value=0.5, **more):
    return {"facts": [{"quantity": quantity, "as_of": "2026-08", **fact(value, **more)}]}


def offers(*given, **more):
    return PRICES | {"offers": list(given)} | more


def offer(**keys):
    return offers({"instance": "x", **keys})


def owned(**keys):
    return offer(purchase="own", own=OWN | {"capex": 6500} | keys)


def committed(months, purchase="reserved"):
    return {"instance": "x", "purchase": purchase, "commitment": {"term_months": months, "per_month": 1.0}}


JOB = {"name": "runs", "model": "vgg16", "samples": 5.0, "per_month": 10, "devices_per_job": 1, "source": "x"}
URGENT = {"within_hours": 24, "urgent_per_month": 2}
TOKENS = {"model": "Llama-3.1-8B", "method": "lora", "tokens": 1000, "samples": None}


def month(**work):
    return {"lab": {"kind": "monthly", "months": 36, "jobs": [JOB], "source": "x"} | work}


def job(**keys):
    return month(jobs=[{key: value for key, value in (JOB | keys).items() if value is not None}])


def script(**keys):
    return {"command": "x", "steps": "keras"} | keys


ONE = {"instance": "x", "per_hour": 1.0}
EURO = {"currency": "EUR", "usd": 1.2, "as_of": "2018-01-01", "source": "x"}
# Model, what is written, and parts of the one sentence that is said of it.
WRONG = [
    (PriceList, owned(residual=65000),
     "offers[0].own' is ... residual of at most capex, found residual 65000 and capex 6500"),
    (PriceList, owned(days_per_month=31.1), "own.days_per_month ... days a month above 0, at most 31, found 31.1"),
    (PriceList, owned(residual={"points": [[2.0, 0.5, 0.6, 0.7]], "share": 1.0}),
     "low <= share <= high at 2 years, found 0.6, 0.5, 0.7"),
    (PriceList, offer(per_hour=1.0, per_month=1.0), "exactly one price, found per_hour, per_month"),
    (PriceList, offers(committed(1.0, "on_demand")), "purchase reserved or committed for a price of kind commitment"),
    (PriceList, offer(per_hour=1.0, interruptions=TAKEN | {"per_hour": 1.0}), "interruptions only for spot"),
    (PriceList, offer(per_hour=1.0, available_from_weeks=2),
     "available_from_weeks only of what is bought or signed for, found on_demand"),
    (PriceList, owned() | offers(owned()["offers"][0] | {"available_from_weeks": 2, "available_from": "2018-02-01"}),
     "one of available_from_weeks, available_from"),
    (PriceList, offers(committed(12) | {"trend": "spot"}), "a contract keeps its price"),
    (PriceList, offers(ONE, ONE), "offers[1] offers 'x' on_demand a second time"),
    (PriceList, offers(ONE | {"currency": "EUR"}), "in EUR; expected a dated rate"),
    (PriceList, offers(ONE, rates=[EURO, EURO]), "rates[1] is a second rate of EUR; expected one"),
    (PriceList, offers(ONE, rates=[EURO | {"usd": 0.86}]), "0.86 USD for one EUR; expected 1.163, the rate turned"),
    (PriceList, offers(committed(12.0), project_months=11.5),
     "term_months is 12; expected at most project_months 11.5"),
    (Energy, site(pue=fact(1.2, low=1.3)), "pue ... low <= value <= high, found 1.3, 1.2, 1.2"),
    (Energy, site(pue=fact(1.2, as_of="last year")), "pue.as_of ... a date in quotes"),
    (Energy, site(g_per_kwh=fact(0.4)), "g_per_kwh ... of at least 1, at most 1500, found 0.4"),  # kg for g
    (Energy, device(watts=fact(0.45)), "devices[0].watts ... W of at least 5, at most 5000, found 0.45"),  # kW for W
    (Study, STUDY | {"deadlines_hours": [86_400]}, "deadlines_hours[0] ... at most 8784"),  # seconds for hours
    (Workloads, job(sequence=512), "sequence only with tokens"),
    (Energy, site(), "sites[0] ... at least one of pue, g_per_kwh"),
    (Energy, site(grid="mars"), "sites[0] ... one of us, us-unplaced ... found 'mars'"),
    (Energy, site(grid="us", g_per_kwh=fact(300)), "sites[0] ... one of g_per_kwh and grid"),
    (Energy, device() | {"utilisation": None}, "utilisation beside devices"),
    (Availability, stock(value=1.2), "facts[0] ... stock_share from 0 to 1, found 1.2"),
    (Availability, stock(low=0.6), "low <= value <= high, found 0.6, 0.5"),
    (Availability, stock("wait_days", None), "a value of wait_days, or both low and high"),
    (Availability, {"facts": 2 * stock(provider="nebius", gpus=8)["facts"]},
     "once among facts, found stock_share nebius 8 twice"),
    (Workloads, job(samples=None), "one of samples, hours and tokens"),
    (Workloads, job(samples=None, hours=2.0), "hours and instance, both or none"),
    (Workloads, job(**URGENT | {"within_hours": 86_400}), "within_hours ... at most 8784"),  # seconds for hours
    (Workloads, job(growth_per_month=0.3), "growth of runs to at most 100,000 jobs a month, found 1.26e+05 at the end"),
    (Workloads, month(jobs=[JOB | {"title": "a"}, JOB | {"name": "a"}]), "a name once among jobs, found a twice"),
    (Workloads, job(within_hours=24), "within_hours and urgent_per_month, both or none"),
    (Workloads, job(**URGENT | {"urgent_per_month": 11}), "at most per_month, found 11 of 10"),
    (Workloads, job(**URGENT | {"urgent_per_month": {"value": 2, "low": 0, "high": 4}}), "a low above 0"),
    (Workloads, job(per_month={"value": 50, "low": 1, "high": 1001}), "a range of at most 1000 times, found 1 to 1001"),
    (Workloads, job(**TOKENS | {"model": "Llama-3.1-9B"}), "Llama-3.1-9B' is not known"),
    (Workloads, job(**TOKENS | {"method": None}), "tokens and method, both or none"),
    *((Workloads, job(title=f"a{sign}b"), "title ... expected text without control characters")
      for sign in "\u202e\u2066\u2028\x1b\x07\x9b"),
    (Workloads, {"lab.bert": month()["lab"]}, "a name of letters, digits, '_' and '-', no '.', which joins"),
    (Workloads, month(jobs=[JOB, JOB]), "a name once among jobs, found runs twice"),
    (Workloads, {"job": {"kimd": "runs", "runs": 2}}, "key 'job.kind' is missing and needed"),
    (Workloads, {"job": {"kind": "rums", "runs": 2}},
     "key 'job.kind' is 'rums'; expected one of 'training', 'runs', 'plan', 'monthly'"),
    (Script, script(command="x --b {batch}"), "{batch_size} ... found {batch}"),
    (Script, script(command=["x"], shell=True), "command as one text, since shell is true"),
    (Script, script(command="x 'y"), "quotes end"),
    (Script, script(steps={"pattern": "(("}), "a regular expression"),
    (Script, script(samples_per_step="{batch_size} + 1"), "product of whole numbers"),
    (Script, script(environment={"A=B": "c"}), "environment ... A=B"),
    (Executor, {"where": "slurm", "device": "gpu"}, "partition, since the instance is measured through slurm"),
    (Executor, {"where": "local", "device": "gpu", "gpus_per_node": 4}, "gpus_per_node only with where: slurm"),
    *((Study, STUDY | {"as_of": day}, "as_of ... a date that has been") for day in ("2099-01-01", "1018-02-08")),
    (PriceList, offers(ONE) | {"as_of": "0206-01-01"}, "as_of ... a date that has been"),
    (PriceList, offers(ONE, rates=[EURO | {"as_of": "2099-01-01"}]), "rates[0].as_of ... a date that has been"),
    (Energy, site(pue=fact(1.2, as_of="2099")), "sites[0].pue.as_of ... a date that has been"),
    (Study, STUDY | {"cells": QUESTION | {"headline_batch_size": 8}}, "one of cells.batch_size"),
    (Study, STUDY | {"cells": QUESTION | {"headline_batch_size": {"resnet50": 16}}}, "one batch for each of"),
]  # fmt: skip


def read(model, entry):
    made = validated(model, entry, "f.yaml")
    if model is PriceList:
        check_together(made, "f.yaml")


@pytest.mark.parametrize(("model", "entry", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_said_in_a_sentence_with_file_and_key(model, entry, words):
    with pytest.raises(UserError) as found:
        read(model, entry)
    said = [sentence for sentence in found.value.sentences if all(word in sentence for word in words.split(" ... "))]
    assert len(said) == 1 and said[0].startswith("f.yaml: ") and "\n" not in said[0], found.value.sentences


@pytest.mark.parametrize(
    ("model", "entry"),
    [
        (PriceList, offers(ONE, ONE | {"purchase": "spot"}, project_months=0.5)),  # rents commit to nothing
            (PriceList, offers(ONE | {"currency": "EUR"}, committed(0.5), rates=[EURO])),
        (PriceList, offers(committed(12.0), owned(days_per_month=31)["offers"][0], project_months=12.0)),
        *((Energy, site(pue=fact(pue), g_per_kwh=fact(grams))) for pue, grams in ((1, 1), (3.0, 1500))),
        (Energy, device(host_share=fact(0, high=2)) | {"utilisation": fact(1)}),
        (Energy, {}),
        (Workloads, job(per_month=0.1)),
        (Workloads, job(**URGENT | {"urgent_per_month": 10})),
        (Workloads, job(growth_per_month=-0.5, per_month={"value": 50, "low": 1, "high": 1000})),
        (Workloads, job(per_month=100_000, **URGENT | {"urgent_per_month": {"value": 0, "low": 0, "high": 0}})),
        (Study, STUDY | {"cells": QUESTION | {"batch_size": [8, 16]}}),
    ],
)  # fmt: skip
def test_the_bounds_themselves_are_taken(model, entry):
    read(model, entry)


OUTSIDE = {"minimum": -1, "exclusiveMinimum": 0, "maximum": 1, "exclusiveMaximum": 0}
INSIDE = {"minimum": 0, "exclusiveMinimum": 1, "maximum": 0, "exclusiveMaximum": -1}


def models(base=Closed):
    for model in base.__subclasses__():
        if model.__module__.startswith("sweetspot.study."):
            yield model
            yield from models(model)


def bounded_fields():
    """Each field with a numeric bound: its name, reader, numeric schema and bound."""
    assert schemas()  # which imports every model
    for model in sorted(dict.fromkeys(models()), key=lambda model: model.__name__):
        for name, field in model.model_fields.items():
            reader = TypeAdapter(Annotated[(field.annotation, *field.metadata)]) if field.metadata else None
            reader = reader or TypeAdapter(field.annotation)
            schema = reader.json_schema()
            for part in schema.get("anyOf", [schema]):
                for bound in sorted(OUTSIDE.keys() & part.keys()):
                    yield pytest.param(reader, part, bound, id=f"{model.__name__}.{name}-{bound}")


@pytest.mark.parametrize(("reader", "schema", "bound"), list(bounded_fields()))
def test_a_number_is_read_up_to_its_bound_and_no_further(reader, schema, bound):
    limit = schema[bound]
    step = 1 if schema["type"] == "integer" else max(abs(limit), 1.0) * 1e-6
    if bound == "minimum" and 0 < limit < step:
        step = limit / 2
    inside, outside = limit + INSIDE[bound] * step, limit + OUTSIDE[bound] * step
    reader.validate_python(inside)
    with pytest.raises(ValidationError):
        reader.validate_python(outside)
