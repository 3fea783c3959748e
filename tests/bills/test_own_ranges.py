"""The range of a speed of one's own goes from throughput.csv into the hours and the price of a training."""

import datetime

import pytest
from price_lists import price_study
from sweetspot.study.instances import load_instances
from sweetspot.study.study import Question
from sweetspot.throughput.gather import gather_throughput

DAY = datetime.date(2026, 1, 1)
FILES = {
    "instances.yaml": """
one: {title: One device, provider: own, gpu: RTX 4090, gpus: 1}
four: {title: Four devices, provider: own, gpu: RTX 4090, gpus: 4, base_instance: one}
twin: {title: The same elsewhere, provider: cloud, gpu: RTX 4090, gpus: 1, equivalent_to: one}
""",
    "workloads.yaml": "job: {kind: training, model: resnet50, samples: 5040000, source: this test}\n",
    "prices.yaml": """
as_of: 2026-01-01
source: this test
offers: [{instance: one, per_hour: 3}, {instance: four, per_hour: 9}, {instance: twin, per_hour: 3}]
""",
    "throughput.csv": (
        "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,"
        "images_per_s,images_per_s_low,images_per_s_high,source,note\n"
        "RTX 4090,one,1,tensorflow,2.15,own,resnet50,64,fp16,default,synthetic,1400,1300,1500,our own runs,\n"
    ),
    "efficiency.csv": """base_instance,instance,gpus,model,batch_size,precision,variant,efficiency,source
one,four,4,resnet50,64,fp16,default,0.9,our own runs
""",
}


@pytest.fixture
def costs(tmp_path):
    """Costs of the job by instance."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    question = Question(model=["resnet50"], batch_size=[64], precision="fp16", headline_batch_size=64)
    machines = [tmp_path / "instances.yaml"]
    throughput = gather_throughput([], question, DAY.isoformat(), load_instances(*machines), tmp_path)
    files = (tmp_path / "prices.yaml", tmp_path / "workloads.yaml", machines)
    return price_study(throughput, None, *files, "prices", 30.5, DAY)["costs"].set_index("instance")


def ends(costs, instance, what):
    return costs.loc[instance, [f"{what}_low", what, f"{what}_high"]].astype(float).tolist()


@pytest.mark.parametrize("instance", ["one", "twin"])
def test_of_a_machine_with_figures_and_of_one_declared_equivalent(costs, instance):
    # 5.04e6 samples take 3600 s at 1400 a second; 5.04e6 / (1500 x 3600) = 0.93333 h, 5.04e6 / (1300 x 3600) = 1.07692.
    assert ends(costs, instance, "hours") == pytest.approx([0.93333, 1.0, 1.07692], abs=1e-5)
    assert ends(costs, instance, "usd") == pytest.approx([2.8, 3.0, 3.23077], abs=1e-5)  # at 3 USD an hour


def test_of_a_machine_whose_speed_follows_by_a_printed_efficiency(costs):
    # 4 x 0.9 = 3.6 times as fast: 5040 (4680 to 5400) a second; at 9 USD an hour.
    assert ends(costs, "four", "hours") == pytest.approx([0.259259, 0.277778, 0.299145], abs=1e-6)
    assert ends(costs, "four", "usd") == pytest.approx([2.33333, 2.5, 2.69231], abs=1e-5)
