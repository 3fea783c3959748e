"""What is said of a file whose keys or values are none that there are: which mistakes, in which order, how long."""

import pytest
from sweetspot.errors import UserError
from sweetspot.study.base import Closed, check_apart, validated


class Part(Closed):
    months: int
    note: str = ""


class Whole(Closed):
    name: str = "usual"
    parts: tuple[Part, ...] = ()
    rate: float = 1.0


def sentences(data):
    with pytest.raises(UserError) as error:
        validated(Whole, data, "file.yaml")
    return [sentence.removeprefix("file.yaml: ") for sentence in error.value.sentences]


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
    ],
)
def test_each_mistake_is_said_once_and_the_misspelt_needed_key_first(data, told):
    assert sentences(data) == told


@pytest.mark.parametrize(("length", "shown"), [(78, "'" + 78 * "a" + "'"), (79, "'" + 76 * "a" + "...")])
def test_a_long_value_is_cut(length, shown):
    (sentence,) = sentences({"rate": length * "a"})
    assert sentence.startswith(f"key 'rate' is {shown}; expected: ")


@pytest.mark.parametrize(("data", "kind"), [(None, "NoneType"), ([], "list"), ("text", "str")])
def test_a_file_that_holds_no_keys(data, kind):
    assert sentences(data) == [f"found {kind}; expected a mapping of keys to values"]


def test_names_that_one_file_of_a_disk_without_case_would_hold():
    check_apart(["a", "b", "a"], "price lists", "here")
    with pytest.raises(UserError) as error:
        check_apart(["a", "B", "A", "b"], "price lists", "here")
    assert error.value.sentences == (
        "here: price lists 'a' and 'A' differ only by case; rename one of them",
        "here: price lists 'B' and 'b' differ only by case; rename one of them",
    )
