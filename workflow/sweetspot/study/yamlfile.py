"""YAML as data only: no tags, no anchors, no repeated keys; mistakes named by file and line."""

import re
from pathlib import Path
from typing import Any

import yaml

from sweetspot.errors import UserError
from sweetspot.files import read_limited

MAX_BYTES = 2_000_000
DEEPEST = 50  # brackets within each other: no file of a study has ten, and thousands end Python itself
# YAML 1.1 reads these as numbers that nobody means: 010 is 8, and 1:30 is 90 (sixties, like 1 minute 30 seconds).
OCTAL, SIXTIES = re.compile(r"[-+]?0[0-7_]+"), re.compile(r"[-+]?[0-9_]+(:[0-5]?[0-9])+(\.[0-9_]*)?")
EXPONENT = re.compile(r"[-+]?[0-9][0-9.]*[eE][-+]?[0-9]+")  # YAML 1.1 takes 1e6, without point and sign, for text


def _mistake(node: Any, problem: str) -> yaml.MarkedYAMLError:
    """Return the error of a node, with its line."""
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


class _StrictLoader(yaml.CSafeLoader):
    """The safe loader, refusing keys that stand twice (YAML would silently keep the last)."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Return the mapping of a node as a dict. MarkedYAMLError, with its line, for a key twice or not a text."""
        keys = set()
        for key_node, value_node in node.value:
            text = key_node.value
            if node.flow_style and str(text).isdecimal() and value_node.value == "":
                raise _mistake(key_node, f"',{text}' ends a number; a decimal has a point, such as 3.{text}")
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _mistake(key_node, f"key {key!r} is not text; put it in quotes")
            if key in keys:
                raise _mistake(key_node, f"key {key!r} stands twice")
            keys.add(key)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: Any) -> Any:
        """Return the number of a node. MarkedYAMLError for 010 and 1:30, which YAML 1.1 reads as 8 and 90."""
        text = f"found {node.value}, which YAML 1.1"
        if OCTAL.fullmatch(node.value):
            raise _mistake(node, f"{text} reads as octal; write {int(node.value.replace('_', ''))}")
        if SIXTIES.fullmatch(node.value):
            raise _mistake(node, f"{text} counts in sixties; write the number itself, or quotes around a text")
        return self.construct_yaml_int(node) if node.tag.endswith(":int") else self.construct_yaml_float(node)


for _tag in ("int", "float"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _StrictLoader.construct_number)
_StrictLoader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+0123456789"))


def load_yaml(path: str | Path) -> Any:
    """Return the content of a YAML file as dicts, lists, texts and numbers; every file of a study is read by it.
    Raises UserError with file and line: missing, no YAML, a key twice, an alias, or a number such as 010.
    """
    file = Path(path)
    raw = read_limited(file, MAX_BYTES)
    try:
        text = raw.decode("utf-8")
        _check_structure(text)
        value = yaml.load(text, Loader=_StrictLoader)
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: byte {error.start} is not UTF-8 text") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise UserError(f"{file}{line}: {problem or 'not YAML: ' + ' '.join(str(error).split())[:200]}") from None
    if value is None:
        raise UserError(f"{file}: the file is empty")
    return value


def _check_structure(text: str) -> None:
    """Raise MarkedYAMLError for aliases and deep nesting in a YAML text, before loading it takes gigabytes."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):  # a few aliases of aliases can grow to gigabytes
            raise _mistake(event, "aliases (*name) are not allowed")
        if depth > DEEPEST:
            raise _mistake(event, f"more than {DEEPEST} brackets or levels within each other")
