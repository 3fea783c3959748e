"""The start-up with three offers: its README's hand calculation, and that none of the three is worth signing."""

from datetime import date

import pytest
import yaml
from month_tables import month_tables
from study_tables import STUDIES
from sweetspot.study.stock import load_availability

# By hand, as in config/studies/start-up-2026/README.md. EUR but where said otherwise.
EUR = 1.1378
VIT, RESNET = 20_000 * 512, 90 * 1_281_167  # images of a job
VIT_3090, RESNET_3090 = VIT / 117.2 / 3600, RESNET / 905 / 3600  # 24.270 and 35.391 h
URGENT = 0.6667  # a month
USUAL = 25 - URGENT
KWH = 0.35
OURS = 0.45 * KWH  # an hour of one RTX 3090
PAYMENTS = (1 - 1.06**-3) / (1.06 ** (1 / 12) - 1)  # 32.949: 36 payments of 1 at 6 % a year
ROOM = 2 * 0.96 * 30.5 * 24  # hours a month of the two that are there
STOCK = {"Hyperstack": 0.4, "Nebius": 0.9, "RunPod": 0.8}


@pytest.fixture(scope="module")
def start_up(tmp_path_factory):
    """The tables with what is known of the stock of three sellers, but for the analyses."""
    file = tmp_path_factory.mktemp("stock") / "availability.yaml"
    facts = [
        {"quantity": "stock_share", "provider": name.lower(), "value": share, "as_of": "2026-09", "source": "ours"}
        for name, share in STOCK.items()
    ]
    file.write_text(yaml.safe_dump({"facts": facts}))
    known = load_availability(file, date(2026, 9, 28))
    return month_tables(STUDIES / "start-up-2026", 300, known, turning=False)


def speed(tables, instance, model):
    """Images/s of a machine of one device: transferred, but for what was published."""
    rows = tables["options"]
    mine = rows[(rows["instance"] == instance) & (rows["model"] == model)]
    return float(mine["images_per_s"].max())


def central(tables, mix):
    """EUR a month where every figure is its middle."""
    return tables["choices"].set_index("choice").loc[mix, "usd_per_month_central"] / EUR


def test_keeping_what_there_is_by_hand(start_up):
    hours = USUAL * VIT_3090 + 6 * RESNET_3090
    assert hours == pytest.approx(802.9, abs=0.1)
    assert hours < ROOM  # what the two can do
    urgent = VIT / speed(start_up, "hyperstack-1xh100-pcie", "ViT-L") / 3600
    assert urgent < 12 < VIT_3090
    keep = hours * OURS + URGENT * urgent * 2.50 / EUR
    assert keep == pytest.approx(137.1, abs=0.1)
    assert central(start_up, "best") == pytest.approx(keep, rel=1e-3)  # Hyperstack bills whole minutes


def test_each_offer_by_hand(start_up):
    """Possession, electricity of the work that moves to the box, urgent jobs where the box is too slow for them."""
    hours = {
        (box, model): images / speed(start_up, one, model) / 3600 / 0.97
        for box, one in (("box-4x5090", "runpod-1x5090"), ("box-2xpro6000", "nebius-1xpro6000"))
        for model, images in (("ViT-L", VIT), ("resnet50", RESNET))
    }
    rented = URGENT * VIT / speed(start_up, "hyperstack-1xh100-pcie", "ViT-L") / 3600 * 2.50 / EUR
    first = (21_900 - 5044.7 / 1.06**3) / PAYMENTS + rented
    first += (USUAL * hours["box-4x5090", "ViT-L"] + 6 * hours["box-4x5090", "resnet50"]) * 2.7 / 4 * KWH
    # 117.2 images/s x 1,790 / 936.2 GB/s, as its data sheet is all that is known of the RTX PRO 6000: 224.1 images/s
    assert speed(start_up, "nebius-1xpro6000", "ViT-L") == pytest.approx(117.2 * 1790 / 936.2)
    assert min(hours["box-4x5090", "ViT-L"], hours["box-2xpro6000", "ViT-L"]) > 12  # urgent jobs are rented
    assert first == pytest.approx(650.4, abs=0.1)
    assert central(start_up, "box-4x5090") == pytest.approx(first, rel=1e-3)
    second = (24_500 - 6982.5 / 1.06**3) / PAYMENTS + rented
    # At central speeds a job takes 13.09 h x 0.28 = 3.66 EUR there, where ours take 24.27 x 0.1575 = 3.82.
    assert hours["box-2xpro6000", "ViT-L"] * 1.6 / 2 * KWH < VIT_3090 * OURS
    second += (USUAL * hours["box-2xpro6000", "ViT-L"] + 6 * hours["box-2xpro6000", "resnet50"]) * 1.6 / 2 * KWH
    assert second == pytest.approx(697.5, abs=0.1)
    assert central(start_up, "box-2xpro6000") == pytest.approx(second, rel=1e-3)
    assert central(start_up, "year-1xh100 (reserved)") == pytest.approx(1.79 * 30.5 * 24, rel=1e-6)
