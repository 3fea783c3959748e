"""YAML as data only; what is said of keys and values that are none; which key or name was meant."""

import re
from datetime import date
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, RootModel
from sweetspot.errors import UserError
from sweetspot.study.base import Closed, Count, Number, check_apart, gathering, validated
from sweetspot.study.spelling import near, nearest, slipped
from sweetspot.study.yamlfile import MAX_BYTES, load_yaml


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.yaml"


BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("# only\n", "the file is empty"),
        ("a: [1", ", line 2: did not find expected"),
        ("a: 1\na: 2\n", "line 2: key 'a' stands twice"),
        ("a: &x 1\nb: *x\n", "line 2: aliases"),
        (f"a0: &a0 [lol]\n{BOMB}\n", "line 2: aliases"),  # grows without end
        ("a: " + 51 * "[" + 51 * "]", "more than 50 brackets or levels within each other"),
        ("true: 1\n", "line 1: key True is not text; put it in quotes"),
        ("? [a, b]\n: 1\n", "key ['a', 'b'] is not text; put it in quotes"),
        ("a: {[1, 2]: }", "key [1, 2] is not text; put it in quotes"),
        ("a: {value: 3,5}", "',5' ends a number; a decimal has a point, such as 3.5"),
        ("a: !!python/object/apply:os.system ['id']\n", "line 1: "),
        ("a: \x00\n", "not YAML"),
        (b"a: \xe9\n", "byte 3 is not UTF-8"),
        (None, "No such file"),
        ("a: 1\n#" + "x" * (MAX_BYTES - 5), "2000001 bytes; expected at most 2000000"),
        ("runs: 010", "line 1: found 010, which YAML 1.1 reads as octal; write 10"),
        ("a: 1\nruns: -017", "line 2: found -017, which YAML 1.1 reads as octal; write -17"),
        ("runs: 1:30", "line 1: found 1:30, which YAML 1.1 counts in sixties"),
        ("runs: [1, 1:30:00]", "found 1:30:00, which"),
        ("hours: 1:30.5", "found 1:30.5, which"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_yaml_is_data_only_and_a_mistake_one_sentence(file, text, words):
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError) as caught:
        load_yaml(file)
    assert words in str(caught.value) and str(caught.value).startswith(str(file)) and "\n" not in str(caught.value)


def test_other_numbers_and_texts_are_read_as_they_stand(file):
    file.write_text("a: 10\nb: 0\nc: 0.10\nd: '010'\ne: '1:30'\nf: -3\ng: 2018-07-01\nh: 1_000\n")
    values = {"a": 10, "b": 0, "c": 0.1, "d": "010", "e": "1:30", "f": -3, "g": date(2018, 7, 1), "h": 1000}
    assert load_yaml(file) == values
    file.write_text("a: " + 49 * "[" + "0" + 49 * "]" + "\n#" + "x" * (MAX_BYTES - 104))
    assert file.stat().st_size == MAX_BYTES and "a" in load_yaml(file)
    file.write_text("0")
    assert load_yaml(file) == 0


class Part(Closed):
    months: int
    note: str = ""


class Whole(Closed):
    name: str = "usual"
    parts: tuple[Part, ...] = ()
    rate: float = 1.0


class Counted(Closed):
    usd: Number = 1.0
    jobs: Count = 1


@pytest.mark.parametrize(
    ("line", "write"),
    [("usd: 5e6", "5000000"), ("usd: '0.5'", "0.5"), ("usd: 25e-4", "0.0025"), ("usd: 3E-7", "3.0e-7"),
     ("usd: 123456789e10", "1.23456789e+18"), ("usd: 1.25e+18x", None), ("usd: 1e999", None), ("usd: fast", None),
     ("jobs: 1e3", "1000"), ("jobs: '7'", "7"), ("jobs: 1e-3", None), ("jobs: 1e20", None)],
)  # fmt: skip
def test_a_number_that_yaml_reads_as_text_is_told_as_yaml_wants_it(tmp_path, line, write):
    file = tmp_path / "a.yaml"
    file.write_text(line)
    key, text = line.split(": ")
    text = text.strip("'")
    if write is None:
        with pytest.raises(UserError, match=f"key '{key}' is '{re.escape(text)}'; expected: Input should be a valid"):
            validated(Counted, load_yaml(file), file)
        return
    told = f"a.yaml: key '{key}' is '{text}'; expected a number; YAML reads that one as text: write {write}"
    with pytest.raises(UserError, match=f"{re.escape(told)}$"):
        validated(Counted, load_yaml(file), file)
    file.write_text(f"{key}: {write}")
    assert load_yaml(file)[key] == float(text)  # so written it is the number that was meant


UNKNOWN = "is unknown; remove it or correct its spelling"
NEEDED = ", which is missing and needed?"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"parts": [{"months": 1}, {}]}, ["key 'parts[1].months' is missing and needed"]),
        # A misspelt key and the needed one are one mistake; one of its own place is meant before any other.
        ({"parts": [{"monhts": 1}]}, [f"key 'parts[0].monhts' {UNKNOWN}: did you mean 'months'{NEEDED}"]),
        ({"parts": [{"months": 1, "noet": ""}]}, [f"key 'parts[0].noet' {UNKNOWN}: did you mean 'note'?"]),
        ({"parts": [{"months": 1, "xyz": ""}]}, [f"key 'parts[0].xyz' {UNKNOWN}"]),
        ({"months": 1, "parts": [{}]}, ["key 'parts[0].months' is missing and needed", f"key 'months' {UNKNOWN}"]),
        # It comes first, the others as the file's model has them.
        (
            {"name": 1, "parts": [{"months": "x"}, {"monhts": 1}], "raet": 2},
            [
                f"key 'parts[1].monhts' {UNKNOWN}: did you mean 'months'{NEEDED}",
                "key 'name' is 1; expected: Input should be a valid string",
                "key 'parts[0].months' is 'x'; expected: Input should be a valid integer, unable to parse string as an "
                "integer",
                f"key 'raet' {UNKNOWN}: did you mean 'rate'?",
            ],
        ),
        # A long value is cut.
        *(({"rate": length * "a"}, [f"key 'rate' is {shown}; expected: Input should be a valid number, unable to parse "
                                    "string as a number"])
          for length, shown in ((78, "'" + 78 * "a" + "'"), (79, "'" + 76 * "a" + "..."))),
        *((data, [f"found {kind}; expected a mapping of keys to values"])
          for data, kind in ((None, "NoneType"), ([], "list"), ("text", "str"))),
    ],
)  # fmt: skip
def test_each_mistake_is_said_once_and_the_misspelt_needed_key_first(data, told):
    with pytest.raises(UserError) as error:
        validated(Whole, data, "file.yaml")
    assert [sentence.removeprefix("file.yaml: ") for sentence in error.value.sentences] == told


class Bounded(Closed):
    most: int
    least: int = 0
    parts: tuple[Part, ...] = ()
    others: tuple[Part, ...] = ()
    inner: Part | None = None

    def _expected(self):
        if self.least > self.most:
            yield "least of at most most"


GOOD, BAD = {"months": 1}, {"months": "x"}


@pytest.mark.parametrize(
    ("data", "told", "left"),
    [
        ({"most": 1, "parts": [GOOD, BAD]}, 1, [GOOD]),
        ({"most": 1, "least": 2, "parts": [GOOD, BAD]}, 2, None),  # what shows only without the faulty part
        ({"most": 1, "inner": BAD, "parts": [GOOD]}, 1, [GOOD]),
        ({"most": 1, "least": 2}, 1, None),
        ({"most": "x", "parts": [GOOD]}, 1, None),  # nothing is left of what is needed
        ({"most": 1, "parts": [BAD]}, 1, None),
        ({"most": 1, "parts": [BAD], "others": [GOOD, BAD]}, 2, None),
    ],
)
def test_what_is_left_of_a_faulty_file(data, told, left):
    with gathering() as found:
        try:
            kept = [part.model_dump(exclude_unset=True) for part in validated(Bounded, data, "f.yaml").parts]
            sentences = found.sentences
        except UserError as error:
            kept, sentences = None, error.sentences
    assert (len(sentences), kept) == (told, left)


def test_names_that_one_file_of_a_disk_without_case_would_hold():
    check_apart(["a", "b", "a"], "price lists", "here")
    with pytest.raises(UserError) as error:
        check_apart(["a", "B", "A", "b"], "price lists", "here")
    assert error.value.sentences == (
        "here: price lists 'a' and 'A' differ only by case; rename one of them",
        "here: price lists 'B' and 'b' differ only by case; rename one of them",
    )


class Spell(BaseModel):
    months: int
    month: int = 1


class Rented(BaseModel):
    kind: Literal["rent"]
    per_hour: float = 1.0
    parts: tuple[Part, ...] = ()


class Bought(BaseModel):
    kind: Literal["buy"]
    capex: float = 1.0


class Named(RootModel[dict[str, Spell]]):
    pass


class Every(BaseModel):
    listed: list[Spell]
    paired: tuple[Spell, ...] = ()
    by_name: dict[str, Spell]
    by_year: dict[int, Rented]
    either: Spell | None = None
    named: Named
    offer: Annotated[Rented | Bought, Field(discriminator="kind")]
    inside: list[Whole]
    by_key: dict[str, Whole]


@pytest.mark.parametrize(
    ("location", "missing", "meant"),
    [
        (("lisetd",), [], "listed"),
        (("xyz",), [], None),
        (("listed", 0, "mnths"), [], "months"),
        (("paired", 1, "mnths"), [], "months"),
        (("by_name", "a", "mnths"), [], "months"),
        (("by_year", 2024, "per_huor"), [], "per_hour"),
        (("either", "mnths"), [], "months"),
        *(
            ((*place, "parts", 0, "mnths"), [], "months")
            for place in (("inside", 0), ("by_key", "a"), ("offer", "rent"))
        ),
        (("named", "a", "mnths"), [], "months"),
        (("offer", "rent", "per_huor"), [], "per_hour"),
        (("offer", "buy", "capx"), [], "capex"),
        (("offer", "buy", "per_huor"), [], None),  # of the other kind
        (("nowhere", "mnths"), [], None),
        # What is missing at its place is meant before what is nearer.
        (("listed", 0, "mnth"), [], "month"),
        (("listed", 0, "mnth"), [("listed", 0, "months")], "months"),
        (("listed", 0, "mnth"), [("listed", 1, "months")], "month"),  # of another entry
        (("listed", 0, "mnth"), [("months",)], "month"),  # of another place
        (("listed", 0, "mnth"), [("listed", 0, "capex")], "month"),  # not like it
    ],
)
def test_a_key_is_meant_of_its_own_place(location, missing, meant):
    assert nearest(Every, location, missing) == meant


@pytest.mark.parametrize(("wrong", "name"), [("capx", "capex"), ("capxe", "capex"), ("note", None), ("cpx", "capex")])
def test_near_is_seven_tenths_of_difflibs_ratio(wrong, name):
    """2 x common / all letters: capx 8 of 9, cpx 6 of 8; note has 2 of 10 with months, 4 of 9 with capex at most."""
    assert near(wrong, ["months", "capex"]) == name


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ("resnet50", None),  # it is one
        ("ResNet-50", "resnet50"),
        ("resnet5O", "resnet50"),
        ("resent50", "resnet50"),
        ("resnet05", "resnet50"),
        ("rsnet50", "resnet50"),
        ("resnet5", None),  # a number less may be another network
        ("resnet51", None),
        ("resnet50d", None),
        ("resnett50", None),
        ("vg16", "vgg16"),  # five signs
        ("gtp2", None),  # of four a slip may be a name
        ("pgt2", None),
        ("GPT_2", "gpt2"),
        ("", None),
    ],
)
def test_a_slip_is_another_case_or_sign_two_exchanged_a_letter_lost(wrong, name):
    assert slipped(wrong, ["resnet50", "vgg16", "gpt2"]) == name
