"""Values for JSON, which has no NaN."""

import json
from typing import Any


def without_nan(value: Any) -> Any:
    """Return a value of JSON with None in place of NaN and infinities, in dicts and lists too."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)
