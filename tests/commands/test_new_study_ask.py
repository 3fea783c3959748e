"""A study from ten answers by a pipe: what is written is what was said, and what is not known has a wide interval."""

import io

import pytest
from price_refresh import contents
from sweetspot.commands import new_study
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study
from sweetspot.commands.study_of_today import PER_KWH
from sweetspot.errors import UserError
from sweetspot.study.workloads import load_monthly
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import read_published

NO_IDEA = "don't know"
QUESTIONS = 10
START_UP = (
    "2 x RTX 3090, 0.45 (0.35 to 0.5) kW each", "resnet50 at 905", "31 (22 to 42) jobs of 115305030 samples",
    "0.67 within 12 hours",
    "box 'Workstation A': 4 x RTX 5090, 21900 EUR, 2.1 kW, in 6 weeks",
    "contract: 1 x H100 PCIe, 1.79 EUR an hour, 12 months", "", "EUR", "0.35 (0.28 to 0.45)", "none", "3 years", "ours",
)  # fmt: skip

pytestmark = pytest.mark.slow  # reads all figures that the library ships, and checks a study: a second or two a test


@pytest.fixture(autouse=True)
def processor(monkeypatch):
    monkeypatch.setattr(new_study, "own_machine", lambda: ("workstation", "AMD EPYC"))


@pytest.fixture
def asked(config, monkeypatch):
    """Answers by lines; the folder of the study."""

    def typed(*lines, name="mine"):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["new-study", "--ask", "--no-answer", "--config", str(config)]) == 0
        assert not read_study(name, config).errors
        return config / "studies" / name

    return typed


def test_what_a_start_up_says_is_in_the_files_and_shown_before(asked, capsys):
    folder = asked(*START_UP, name="ours")
    (work,) = load_monthly(folder / "workloads.yaml").values()
    (job,) = work.jobs
    assert (work.have, work.months, job.devices_per_job) == (["mine", "mine"], 36, 1)
    assert (job.model, job.samples, job.within_hours, job.urgent_per_month.value) == ("resnet50", 115305030, 12, 0.67)
    assert (job.per_month.value, *job.per_month.ends) == (31, 22, 42)
    there, box, contract = load_yaml(folder / "prices" / "box.yaml")["offers"]
    assert there["own"]["capex"] == 0 and there["own"]["per_kwh"] == {"value": 0.35, "low": 0.28, "high": 0.45}
    assert there["own"]["kw"] == {"value": 0.45, "low": 0.35, "high": 0.5}
    assert (box["own"]["capex"], box["own"]["months"], box["own"]["kw"]) == (21900, 36, 2.1)
    assert box["own"]["per_kwh"] == there["own"]["per_kwh"] and box["available_from_weeks"] == 6
    assert contract["commitment"] == {"term_months": 12, "per_hour": 1.79}
    (figure,) = read_published(folder / "throughput.csv").to_dict("records")
    assert (figure["gpu"], figure["instance"], figure["images_per_s"]) == ("RTX 3090", "mine", 905)
    study = load_yaml(folder / "study.yaml")
    assert study["currency"]["code"] == "EUR" and "reference" not in study
    assert "box-4" not in load_yaml(folder / "instances.yaml")
    said = capsys.readouterr().out
    assert all(f"{number}. " in said for number in range(1, QUESTIONS + 1))
    assert (folder / "workloads.yaml").read_text() in said and "Nothing is reckoned for its sale" in said


def test_limits_are_those_of_the_work(asked):
    lines = ["", "", "", "", "", "EUR", "", "at most 30,000 EUR up front, 2000 a month and 8 hours of waiting", "", ""]
    (work,) = load_monthly(asked(*lines) / "workloads.yaml").values()
    assert (work.at_most_up_front, work.at_most_a_month, work.mean_wait_at_most) == (30000, 2000, 8)


def test_enter_ten_times_is_a_study_of_the_defaults(asked):
    """Nothing is had: the figure is the published one of an RTX 4090, and four of these are on offer."""
    folder = asked(*[""] * QUESTIONS)
    (work,) = load_monthly(folder / "workloads.yaml").values()
    (job,) = work.jobs
    assert (work.have, job.hours, job.instance, job.urgent_per_month) == ([], 30, "mine", None)
    assert (job.per_month.value, *job.per_month.ends) == (20, 10, 30)
    (box,) = load_yaml(folder / "prices" / "box.yaml")["offers"]
    assert (box["instance"], box["own"]["per_kwh"]) == ("box-4", PER_KWH)
    (figure,) = read_published(folder / "throughput.csv").to_dict("records")
    assert (figure["gpu"], figure["model"], figure["images_per_s"]) == ("RTX 4090", "resnet50", 1301)
    assert figure["source"].startswith("github:lambdal/deeplearning-benchmark")


def test_what_nobody_knows_has_an_interval_of_half_to_twice(asked):
    folder = asked(*[NO_IDEA] * QUESTIONS)
    (work,) = load_monthly(folder / "workloads.yaml").values()
    (job,) = work.jobs
    assert (job.per_month.value, *job.per_month.ends) == (20, 10, 40)
    assert (job.urgent_per_month.value, *job.urgent_per_month.ends, job.within_hours) == (1, 0.5, 2, 24)
    (figure,) = read_published(folder / "throughput.csv").to_dict("records")
    assert (figure["images_per_s"], figure["images_per_s_low"], figure["images_per_s_high"]) == (1301, 650.5, 2602)
    (box,) = load_yaml(folder / "prices" / "box.yaml")["offers"]
    assert box["own"]["per_kwh"] == {"value": 0.3, "low": 0.15, "high": 0.6}
    assert box["own"]["months"] == {"value": 36, "low": 18, "high": 72}


def test_a_speed_of_another_device_is_a_figure_of_that_one(asked):
    folder = asked("RTX 3090", "resnet50 at 1301 (1200 to 1400) on RTX 4090", *[""] * 8)
    instances = load_yaml(folder / "instances.yaml")
    assert (instances["mine"]["gpu"], instances["timed"]["gpu"]) == ("RTX 3090", "RTX 4090")
    (figure,) = read_published(folder / "throughput.csv").to_dict("records")
    assert (figure["instance"], figure["images_per_s_low"], figure["images_per_s_high"]) == ("timed", 1200, 1400)
    assert load_yaml(folder / "study.yaml")["transfer"] is True


def test_this_machines_gpu_is_what_one_has(asked, monkeypatch):
    monkeypatch.setattr(new_study, "own_machine", lambda: ("workstation-gpu", "NVIDIA GeForce RTX 4090"))
    folder = asked(*[""] * QUESTIONS)
    (work,) = load_monthly(folder / "workloads.yaml").values()
    assert work.have == ["mine"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "the answers end at question 1; nothing is written"),
        (("2 x RTX 3090", "resnet50"), "the answers end at question 3"),
        (("2 x RTX 309O",), r"question 1 .*did you mean 'RTX 3090'"),
        (("", "mynet"), "question 2 .*no speed of 'mynet' is published; say it as mynet at"),
        (("", "mynet at 300"), "the device that it was timed on is missing"),
        (("", "", "a lot"), "question 3 .*expected such as 25 jobs of 30 hours"),
        (("", "", "", "40 within 24 hours"), "question 4 .*found 40 urgent jobs of 20"),
        (("", "", "", "", "box: 4 x RTX 5090, 21900 EUR, 2,100 kW"), r"question 5 .*did you mean 2.1\?"),
        (("", "", "", "", "boxx: 4"), "question 5 .*did you mean 'box'"),
        (("RTX 3090, 450 kW",), "question 1 .*expected 0.02 to 4"),
        (("", "", "", "", "box: 4 x RTX 5090, 21900 EUR, 2.1 kW", "", "USD"), "question 6 .*an offer is in EUR"),
        (("", "", "", "", "", "euros"), "question 6 .*expected three letters"),
        (("", "", "", "", "", "", "cheap"), "question 7 .*expected a number such as 0.30"),
        (("", "", "", "", "", "", "", "8 days"), "question 8"),
        (("", "", "", "", "", "", "", "little"), "question 8 .*expected such as 30000 up front"),
        (("", "", "", "", "", "", "", "", "36 years"), "question 9 .*expected 1 to 120 months"),
        ((*[""] * 9, "../x"), "question 10 .*expected letters"),
        ((*[""] * 9, "lab-of-five"), "the study exists"),
        ((*[""] * 5, "XAU", *[""] * 4), "CURRENCY is 'XAU'; expected USD, EUR"),
    ],
)
def test_what_cannot_be_read_or_ends_is_one_sentence_and_nothing_is_written(config, monkeypatch, lines, words):
    before = contents(config)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    with pytest.raises(UserError, match=words):
        main(["new-study", "--ask", "--no-answer", "--config", str(config)])
    assert contents(config) == before


def test_a_terminal_asks_again_and_ctrl_c_writes_nothing(config, monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def readline(self, *_):
            line = super().readline()
            if not line:
                raise KeyboardInterrupt
            return line

    before = contents(config)
    monkeypatch.setattr("sys.stdin", Terminal("2 x RTX 309O\n2 x RTX 3090\n"))
    with pytest.raises(UserError, match="the answers end at question 2; nothing is written"):
        main(["new-study", "--ask", "--no-answer", "--config", str(config)])
    assert capsys.readouterr().out.count("1. What do you have?") == 2
    assert contents(config) == before
