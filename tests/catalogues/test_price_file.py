"""Price lists edited as text: the values change, every other character stays."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from sweetspot.catalogues.price_file import with_values
from sweetspot.study.price_list import load_price_list

STUDIES = Path(__file__).parent.parent.parent / "config" / "studies"
LISTS = sorted(STUDIES.glob("*/prices/*.yaml"))
NEW = {"per_hour": 12.5, "as_of": date(2026, 11, 22), "source": 'a "catalogue", of today: 1/2'}


def test_flow_and_block_offers_keep_their_comments_and_layout():
    """New keys are put at the end of their offer; the last line has no end."""
    text = (
        "# On top.\n"
        "offers:   # all\n"
        "  - {instance: a, per_hour: 3.06, source: 'old', note: \"2 x 1.53\"}   # one\n"
        "  - instance: b\n"
        "    per_hour: 4   # four\n"
        "    note: >-\n"
        "      folded\n"
        "      text\n"
        "    # before the next\n"
        "  - instance: Käse\n"
        "    per_hour: 1"
    )
    day = date(2026, 11, 22)
    new = {"per_hour": 12.5, "as_of": day, "note": "2 x 6.25"}
    assert with_values(text, {0: new, 1: new, 2: {"per_hour": 2.5, "as_of": day}}) == (
        "# On top.\n"
        "offers:   # all\n"
        "  - {instance: a, per_hour: 12.5, source: 'old', note: 2 x 6.25, as_of: 2026-11-22}   # one\n"
        "  - instance: b\n"
        "    per_hour: 12.5   # four\n"
        "    note: 2 x 6.25\n"
        "    as_of: 2026-11-22\n"
        "    # before the next\n"
        "  - instance: Käse\n"
        "    per_hour: 2.5\n"
        "    as_of: 2026-11-22"
    )


@pytest.mark.parametrize("price", [0.0001, 0.03, 1.0, 40.96575, 113.9328, 1e4, 18.169536])
def test_a_price_is_read_as_it_was_meant(price):
    text = with_values("as_of: 2026-09-19\nsource: x\noffers: [{instance: a, per_hour: 3}]\n", {0: {"per_hour": price}})
    assert yaml.safe_load(text)["offers"][0]["per_hour"] == price


@pytest.mark.parametrize("file", LISTS, ids=lambda file: f"{file.parent.parent.name}/{file.stem}")
def test_every_list_of_the_project_can_be_edited(file, tmp_path):
    """Each offer with an hourly rate gets a price, a day and a source; comments and all other values are as before."""
    text, old = file.read_text(encoding="utf-8"), load_price_list(file)
    places = [place for place, offer in enumerate(old.offers) if offer.per_hour is not None]
    edited = tmp_path / file.name
    edited.write_text(with_values(text, dict.fromkeys(places, NEW)), encoding="utf-8")
    new = load_price_list(edited)
    assert new.model_copy(update={"offers": old.offers}) == old
    for place, (before, after) in enumerate(zip(old.offers, new.offers, strict=True)):
        if place not in places:
            assert after == before
            continue
        assert (after.per_hour.value, after.as_of, after.source) == tuple(NEW.values())
        kept = {"per_hour": before.per_hour, "as_of": before.as_of, "source": before.source}
        assert after.model_copy(update=kept) == before
    comments = [line.split("#", 1)[1] for line in text.splitlines() if " #" in line or line.startswith("#")]
    for comment in comments:
        assert comment in edited.read_text(encoding="utf-8")
