"""Frameworks, interconnects and compilers are facts: no pair of two frameworks, and no figure hangs on a name."""

import pandas as pd
import pytest
from scaling_tables import cell, efficiencies
from study_tables import STUDIES, shipped_throughput
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.scaling.evidence import average_efficiency, concat_filled, study_efficiency, study_evidence
from sweetspot.scaling.intervals import METHODS
from sweetspot.scaling.methods import MeanEfficiency
from sweetspot.scaling.published_pairs import published_evidence
from sweetspot.scaling.targets import extrapolate_study
from sweetspot.study.instances import Instance
from sweetspot.throughput.published import read_efficiency, read_published


@pytest.fixture(scope="module")
def parkopedia():
    """The tables that the two rules of scaling make and read."""
    study, instances, throughput = shipped_throughput("parkopedia-2018")
    printed = read_efficiency(STUDIES / study.name / "efficiency.csv")
    efficiency = study_efficiency(throughput, printed, instances, study.cells.framework)
    borrowed = [published_evidence(name, read_published(figures_file(name, STUDIES))) for name in study.borrow]
    evidence = concat_filled([*borrowed, study_evidence(study.name, efficiency, throughput, instances)])
    averages = average_efficiency(efficiency)
    return study, instances, dict(throughput=throughput, efficiency=efficiency, averages=averages, evidence=evidence)


def test_figures_of_two_frameworks_are_never_a_pair():
    rates = [("tensorflow", 1, 100.0), ("tensorflow", 4, 320.0), ("jax", 1, 300.0), ("jax", 4, 600.0)]
    rows = [cell("box", gpus, rate, framework=framework) for framework, gpus, rate in rates]
    throughput, efficiency = pd.DataFrame(rows), efficiencies(rows)
    # 320 / (4 x 100) and 600 / (4 x 300)
    assert dict(zip(efficiency["framework"], efficiency["efficiency"], strict=True)) == {"tensorflow": 0.8, "jax": 0.5}
    evidence = study_evidence("s", efficiency, throughput, {})
    assert evidence.set_index("framework")["base_images_per_s"].to_dict() == {"tensorflow": 100.0, "jax": 300.0}
    averages = average_efficiency(efficiency)
    asked = evidence[["framework", "model", "batch_size", "precision"]]
    found = MeanEfficiency(averages).predict(asked.assign(framework=["tensorflow", "torch"]))["efficiency"]
    assert found.tolist() == pytest.approx([0.8, 0.65])  # torch has none of its own: the mean of the others


def test_a_printed_efficiency_is_of_its_instances_framework_else_of_the_studys(tmp_path):
    header = "base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source\n"
    rows = [f"one,{name},4,vgg16,64,fp16,default,0.9,paper\n" for name in ("declared", "plain")]
    (tmp_path / "efficiency.csv").write_text(header + "".join(rows))
    given = {"title": "x", "provider": "own", "gpu": "RTX 3090", "gpus": 4}
    instances = {"plain": Instance(**given), "declared": Instance(**given, framework="torch")}
    none = pd.DataFrame([cell("box", 1, 1.0)]).head(0)
    table = study_efficiency(none, read_efficiency(tmp_path / "efficiency.csv"), instances, "tensorflow")
    assert dict(zip(table["instance"], table["framework"], strict=True)) == {"declared": "torch", "plain": "tensorflow"}
    assert not table["xla"].any()


def test_the_founding_case_lies_within_the_interval_of_the_learned_method(parkopedia):
    # Measured in 2018 on 4 x GTX 1080 Ti, ResNet-50 at 16, 32 and 64: efficiencies of 0.857, 0.958 and 0.951.
    study, instances, made = parkopedia
    found = extrapolate_study(made, instances, study.targets, study.cells, "mean_efficiency")["extrapolation"]
    assert len(found) == 9 * len(METHODS) and set(found["nodes"]) == {1}
    assert set(found.loc[found["headline"], "method"]) == {"mean_efficiency"}
    rows = found[found["model"] == "resnet50"].sort_values("batch_size").set_index("method")
    measured = pd.Series([0.857, 0.958, 0.951])
    learned = rows.loc["sum_of_parts"].reset_index()
    assert (learned["efficiency"] - measured).abs().max() < 0.12
    one = learned["images_per_s"] / learned["efficiency"]
    assert (learned["images_per_s_low"] < measured * one).all()
    assert (measured * one < learned["images_per_s_high"]).all()
    # the 2018 rule, as printed: 0.76, 0.83, 0.87
    assert rows.loc["mean_efficiency", "efficiency"].to_list() == pytest.approx([0.76, 0.83, 0.87], abs=0.0051)
