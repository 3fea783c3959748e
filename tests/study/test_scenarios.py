"""Scenarios: only what differs, merged into the study's own files; what they say, and what is refused."""

from pathlib import Path

import pytest
import yaml
from sweetspot.errors import UserError
from sweetspot.study.scenarios import Scenario, differences, load_scenarios, merged, write_scenario

HERE = Path("scenarios/one.yaml")
WORK = {"month": {"kind": "monthly", "months": 36, "jobs": [
    {"name": "a", "per_month": {"value": 25, "low": 18, "high": 33}, "within_hours": 12, "urgent_per_month": 1},
    {"name": "b", "per_month": 6}]}}  # fmt: skip
PRICES = {"title": "Ours", "offers": [
    {"instance": "box", "purchase": "own", "own": {"capex": 100, "per_kwh": 0.3}},
    {"instance": "cloud", "per_hour": 2.0},
    {"instance": "cloud", "purchase": "spot", "per_hour": 1.0}]}  # fmt: skip


def test_entries_are_found_by_name_and_offers_by_machine_and_purchase():
    made = merged(WORK, {"month": {"jobs": [{"name": "b", "per_month": 12}]}}, HERE)
    assert made["month"]["jobs"] == [WORK["month"]["jobs"][0], {"name": "b", "per_month": 12}]
    assert made["month"]["months"] == 36 and WORK["month"]["jobs"][1] == {"name": "b", "per_month": 6}
    change = {"month": {"jobs": [{"name": "a", "within_hours": None, "urgent_per_month": None}, {"name": "c"}]}}
    assert merged(WORK, change, HERE)["month"]["jobs"] == [
        {"name": "a", "per_month": {"value": 25, "low": 18, "high": 33}}, {"name": "b", "per_month": 6}, {"name": "c"},
    ]  # fmt: skip
    assert merged({"month": {}}, {"month": {"jobs": [{"name": "c"}]}}, HERE) == {"month": {"jobs": [{"name": "c"}]}}
    made = merged(PRICES, {"offers": [{"instance": "cloud", "purchase": "spot", "per_hour": 0.5}]}, HERE)
    assert [offer.get("per_hour") for offer in made["offers"]] == [None, 2.0, 0.5]
    made = merged(PRICES, {"offers": [{"instance": "cloud", "purchase": "on_demand", "per_hour": 3.0}]}, HERE)
    assert [offer.get("per_hour") for offer in made["offers"]] == [None, 3.0, 1.0]


def test_an_offer_of_a_machine_that_has_several_says_which(study):
    """The first was taken, whichever that was."""
    said = r"one\.yaml: 'cloud' has several offers; expected its purchase, one of on_demand, spot"
    with pytest.raises(UserError, match=said):
        written(study, prices={"ours": {"offers": [{"instance": "cloud", "per_hour": 0.5}]}})
    turned = {**PRICES, "offers": [*reversed(PRICES["offers"])]}  # what changed is told of the offer that did
    made = merged(turned, {"offers": [{"instance": "cloud", "purchase": "on_demand", "per_hour": 3.0}]}, HERE)
    assert "offers cloud per_hour: 2.0 → 3.0" in list(differences(turned, made))


def test_what_changed_in_words():
    change = {"month": {"at_most_up_front": 20000, "jobs": [
        {"name": "a", "per_month": {"value": 50, "low": 40, "high": 60}, "within_hours": None},
    ]}}  # fmt: skip
    assert list(differences(WORK, merged(WORK, change, HERE))) == [
        "month jobs a per_month: 25 (18 to 33) → 50 (40 to 60)",
        "month jobs a within_hours: 12 → nothing",
        "month at_most_up_front: nothing → 20000",
    ]
    assert list(differences(WORK, WORK)) == []


@pytest.fixture
def study(tmp_path):
    (tmp_path / "workloads.yaml").write_text(yaml.safe_dump(WORK))
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(PRICES))
    return tmp_path


def written(study, **keys):
    """Workloads, the price list and the changes of a scenario."""
    one = Scenario(title="One", **keys)
    lists = {"ours": study / "ours.yaml"}
    workloads, files, changes = write_scenario(one, HERE, study / "workloads.yaml", lists, study / "made")
    return yaml.safe_load(workloads.read_text()), yaml.safe_load(files["ours"].read_text()), changes


def test_twice_the_work_is_twice_all_jobs_and_a_tariff_is_of_all_that_are_owned(study):
    work, prices, changes = written(study, times_work=2.0)
    assert work["month"]["jobs"] == [
        {"name": "a", "per_month": {"value": 50, "low": 36, "high": 66}, "within_hours": 12, "urgent_per_month": 2},
        {"name": "b", "per_month": 12},
    ]
    assert prices == PRICES and changes == ["2 times the jobs"]
    _, prices, changes = written(study, per_kwh=0.45)
    assert prices["offers"][0]["own"] == {"capex": 100, "per_kwh": 0.45}
    assert prices["offers"][1:] == PRICES["offers"][1:] and changes == ["electricity 0.45"]
    ranged = {"ours": {"offers": [{"instance": "box", "own": {"per_kwh": {"value": 0.3, "low": 0.2, "high": 0.4}}}]}}
    assert written(study, per_kwh=0.45, prices=ranged)[1]["offers"][0]["own"]["per_kwh"] == 0.45


def test_of_phases_there_are_whole_jobs(study):
    """Half of one is one; a phase without jobs stays as wrong as it was."""
    for factor, many, one in ((1.5, 4, 2), (0.1, 1, 1)):  # 4.5 is rounded to 4, 1.5 to 2
        plan = {"p": {"kind": "plan", "phases": [{"name": "a", "jobs": 3}, {"name": "b", "jobs": 1}, {"name": "c"}]}}
        plan["a"] = {"kind": "training"}  # whose place is behind it
        (study / "workloads.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))
        phases = [{"name": "a", "jobs": many}, {"name": "b", "jobs": one}, {"name": "c"}]
        made = written(study, times_work=factor)[0]
        assert made["p"]["phases"] == phases and list(made) == ["p", "a"]


def test_work_and_prices_change_together(study):
    work, prices, changes = written(
        study, workloads={"month": {"months": 24}}, prices={"ours": {"offers": [{"instance": "box", "own": None}]}}
    )
    assert work["month"]["months"] == 24 and "own" not in prices["offers"][0]
    assert changes == [
        "month months: 36 → 24", "ours offers box own capex: 100 → nothing",
        "ours offers box own per_kwh: 0.3 → nothing",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"prices": {"theirs": {}}}, r"one\.yaml: prices\.theirs is unknown; expected one of ours"),
        ({"workloads": {"moth": None}}, r"workloads\.moth is unknown; expected one of month: did you mean 'month'"),
        ({"workloads": {"moth": {"months": 12}}}, r"workloads\.moth is unknown"),
        ({"workloads": {"month": {"gain": None}}}, r"one\.yaml: key 'gain' is null and removes a key that is missing"),
        ({"prices": {"our": {}}}, r"prices\.our is unknown; expected one of ours: did you mean 'ours'"),
    ],
)
def test_what_is_not_there_is_refused(study, keys, said):
    with pytest.raises(UserError, match=said):
        written(study, **keys)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("times_work: 2\n", "key 'title' is missing and needed"),
        ("title: A\ntime_work: 2\n", "key 'time_work' is unknown.*did you mean 'times_work'"),
        ("title: A\ntimes_work: 0\n", "times_work"),
        ("- a\n", "expected a mapping"),
    ],
)
def test_a_scenarios_own_mistakes_name_its_file_and_key(tmp_path, text, said):
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "a.yaml").write_text(text)
    with pytest.raises(UserError, match=rf"scenarios/a\.yaml.*{said}"):
        load_scenarios(tmp_path)


def test_work_without_a_number_of_jobs_cannot_be_multiplied(study):
    (study / "workloads.yaml").write_text("one: {kind: training, model: resnet50, samples: 5, source: ours}\n")
    with pytest.raises(UserError, match=r"times_work is 4; expected a workload of kind plan or monthly"):
        written(study, times_work=4.0)


@pytest.mark.parametrize(
    "keys",
    [
        {"workloads": {"month": {"jobs": "hello"}}},
        {"workloads": {"month": {"jobs": ["hello"]}}},
        {"workloads": {"month": {"jobs": [{"name": "a", "per_month": {"value": 5, "low": None, "high": 9}}]}}},
        {"prices": {"ours": {"offers": None}}},
        {"prices": {"ours": "hello"}},
        {"prices": {"ours": {"offers": [{"instance": "box", "own": "dear"}]}}},
    ],
)
def test_values_of_another_shape_are_written_for_their_reader_to_refuse(study, keys):
    written(study, times_work=2.0, per_kwh=0.5, **keys)


def test_a_file_that_nothing_reads_is_refused_and_names_are_plain(tmp_path):
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "more.yml").write_text("title: More\n")
    (tmp_path / "scenarios" / "wrong.yaml").write_text("titel: More\n")
    with pytest.raises(UserError) as told:
        load_scenarios(tmp_path)
    files = [sentence.split("scenarios/")[1].split(":")[0] for sentence in told.value.sentences]
    assert files[:2] == ["more.yml", "wrong.yaml"]
    (tmp_path / "plain" / "scenarios").mkdir(parents=True)
    (tmp_path / "plain" / "scenarios" / "more.yaml").write_text("title: More\ntimes_work: 2\n")
    assert list(load_scenarios(tmp_path / "plain")) == ["more"] and load_scenarios(tmp_path / "none") == {}
    (tmp_path / "plain" / "scenarios" / "most.yaml").write_text("title: More\ntimes_work: 3\n")
    with pytest.raises(UserError, match="scenarios: titles 'More' and 'More' differ at most by case"):
        load_scenarios(tmp_path / "plain")
    (tmp_path / "plain" / "scenarios" / "<b>.yaml").write_text("title: More\n")
    with pytest.raises(UserError, match=r"<b>\.yaml: key 'name' is '<b>'; expected a name of letters"):
        load_scenarios(tmp_path / "plain")
