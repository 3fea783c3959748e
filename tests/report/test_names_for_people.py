"""Sentences and tables of the page name models, units and providers as people do."""

import pandas as pd
from decision_tables import study
from report_tables import small_tables
from sweetspot.report.phrases import worth_knowing
from sweetspot.report.provenance import Provenance
from sweetspot.report.sections import Sections
from sweetspot.report.whatif import what_if

HEADLINE = pd.DataFrame({"model": ["vgg16", "vgg16"], "model_title": "VGG-16", "currency": "USD"})


def test_of_several_models_it_is_said_which_hangs_on_nothing():
    worth = pd.DataFrame({"model": ["vgg16"], "evppi_usd": 0.0, "evppi_usd_low": 0.0, "cost_to_learn_usd": 1.0})
    alone = worth_knowing({"headline": HEADLINE, "worth_knowing": worth})
    assert alone == ["No single uncertain figure, known exactly, would change the choice."]
    both = pd.concat([HEADLINE, HEADLINE.assign(model="resnet50", model_title="ResNet-50")])
    (said,) = worth_knowing({"headline": both, "worth_knowing": worth})
    assert said.startswith("On VGG-16 no single uncertain figure")


def test_texts_of_the_comparison_have_the_study_s_unit_and_names():
    tables = small_tables()
    tables["throughput"] = tables["throughput"].assign(unit="relative")
    made = Sections(tables, study(titles={"vgg16": "VGG-16"}), Provenance())
    told = "at 24.5 images/s (vgg16), 582% more"
    assert made.in_words(told) == "at 24.5 relative units/s (VGG-16), 582 % more"


def test_the_panel_has_the_providers_names():
    payload = what_if(small_tables(), study())
    assert payload["providers"]["aws"] == study().provider_title("aws") == "Amazon Web Services"
