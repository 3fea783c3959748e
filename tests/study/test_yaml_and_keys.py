"""YAML as data only; one sentence for each wrong key or value; which key or name was meant."""

from datetime import date

import pytest
from sweetspot.errors import UserError
from sweetspot.spelling import nearest, slipped
from sweetspot.study.base import Closed, Count, Number, validated
from sweetspot.study.yamlfile import MAX_BYTES, load_yaml

BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.yaml"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# only\n", "empty"),
        ("a: [1", "line 2"),
        ("a: 1\na: 2\n", "line 2: key 'a'"),
        (f"a0: &a0 [lol]\n{BOMB}\n", "line 2: aliases"),
        *(("a: " + depth * "[" + depth * "]", "line 1: more than 50 brackets") for depth in (51, 100_000)),
        ("true: 1\n", "line 1: key True"),
        ("a: !!python/object/apply:os.system ['id']\n", "line 1"),
        (b"a: \xe9\n", "byte 3"),
        (None, "No such file"),
        ("a: 1\n#" + "x" * (MAX_BYTES - 5), "2000001 bytes"),
        ("a: 1\nruns: -017", "line 2: found -017, which YAML 1.1 reads as octal; write -17"),
        ("runs: [1, 1:30:00]", "found 1:30:00"),
        ("a: 1\nas_of: 2018-02-30", "line 2: found 2018-02-30 (day is out of range for month)"),
        ("at: 2018-02-01 25:00:00", "line 1: found 2018-02-01 25:00:00 (hour must be"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_yaml_is_data_only_and_a_mistake_one_sentence(file, text, found):
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError) as error:
        load_yaml(file)
    assert str(error.value).startswith(str(file)) and found in str(error.value) and "\n" not in str(error.value)


def test_other_numbers_and_texts_are_read_as_they_stand(file):
    file.write_text("b: 0\nc: 0.10\nd: '010'\ne: '1:30'\nf: -3\ng: 2018-07-01\nh: 1_000\ni: [1e6, 2.5E-3]\n")
    values = {"b": 0, "c": 0.1, "d": "010", "e": "1:30", "f": -3, "g": date(2018, 7, 1), "h": 1000, "i": [1e6, 0.0025]}
    assert load_yaml(file) == values


class Piece(Closed):
    months: int
    note: str = ""


class Whole(Closed):
    name: str = "usual"
    pieces: list[Piece] = []  # noqa: RUF012
    usd: Number = 1.0
    jobs: Count = 1


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ({"pieces": [{"months": 1}, {}]}, [("pieces[1].months", "missing")]),
        ({"pieces": [{"months": 1, "noet": ""}]}, [("pieces[0].noet", "unknown", "'note'")]),
        ({"xyz": 1}, [("'xyz'", "unknown")]),
        (
            {"name": 1, "pieces": [{"months": "x"}, {"months": 1, "notee": 1}], "usdd": 2},
            [("'name'", " 1;", "text"), ("pieces[0].months", "'x'", "whole number"), ("pieces[1].notee",),
             ("'usdd'", "'usd'")],
        ),
        ({"usd": 2e12}, [("'usd'", "2000000000000.0", "at most 1e+12")]),
        ({"jobs": 0}, [("'jobs'", " 0;", "at least 1")]),
        (None, [("NoneType", "mapping")]),
    ],
)  # fmt: skip
def test_each_mistake_is_one_sentence_of_file_key_value_and_what_is_expected(data, parts):
    with pytest.raises(UserError) as error:
        validated(Whole, data, "file.yaml")
    sentences = error.value.sentences
    assert len(sentences) == len(parts)
    for sentence, expected in zip(sentences, parts, strict=True):
        assert sentence.startswith("file.yaml: ") and all(part in sentence for part in expected)


@pytest.mark.parametrize(("wrong", "name"), [("capx", "capex"), ("capxe", "capex"), ("note", None), ("cpx", "capex")])
def test_near_is_seven_tenths_of_difflibs_ratio(wrong, name):
    """2 x common / all letters: capx 8 of 9, cpx 6 of 8; note has 2 of 10 with months, 4 of 9 with capex at most."""
    assert nearest(wrong, ["months", "capex"]) == name


# The first is one; of four letters a slip may be a name.
@pytest.mark.parametrize(("wrong", "name"), [
    ("resnet50", None), ("gtp2", None), ("resnet50d", None), ("ResNet-50", "resnet50"), ("resnet5O", "resnet50"),
    ("resent50", "resnet50"), ("rsnet50", "resnet50")
])  # fmt: skip
def test_a_slip_is_another_case_or_sign_two_exchanged_a_letter_lost(wrong, name):
    assert slipped(wrong, ["resnet50", "vgg16", "gpt2"]) == name
