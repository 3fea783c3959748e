"""Every bound that a schema states is the bound of what is read: generated from the models."""

from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError
from schemas import schemas
from sweetspot.study.base import Closed

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
