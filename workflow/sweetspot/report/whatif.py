"""What the page's sliders calculate with."""

import json

from markupsafe import Markup

from sweetspot.config import Study
from sweetspot.report.tables import Tables


def what_if(tables: Tables, study: Study) -> dict[str, object]:
    """Offers and throughputs of the answer's cells, for arithmetic in the page; empty without an owned reference."""
    return {}


def script_json(payload: object) -> Markup:
    """JSON for a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(payload, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
