"""Mixes by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sweetspot.decision.counted import listed, the
from sweetspot.mixes.problem import Problem
from sweetspot.mixes.search import BOUGHT, RENTED, THERE, Mix

if TYPE_CHECKING:
    from sweetspot.decision.mix_problem import Posed


@dataclass(frozen=True)
class Words:
    """Names for people of options, and of machines by instance."""

    titles: Mapping[str, str]
    machines: Mapping[str, str]

    def title(self, option: str) -> str:
        """The name of an option; one without has its key."""
        return self.titles.get(option, option)

    def machine(self, instance: str) -> str:
        """The name of a machine; one without has its key."""
        return self.machines.get(instance, instance)


def bought_in_words(counts: Sequence[int], problem: Problem, words: Words) -> str:
    """What is bought or committed to: `2 x office box ...`; empty for nothing."""
    more = [(kind, count - kind.there) for kind, count in zip(problem.held, counts, strict=True)]
    return listed([f"{count} × {words.title(kind.name)}" for kind, count in more if count > 0])


def purchase_in_words(counts: Sequence[int], problem: Problem, words: Words) -> str:
    """What is bought or committed to as a machine is called where it is one: `office box ...`, `2 × office box ...`."""
    title = bought_title(counts, problem, words)
    if title is not None and sum(counts) - sum(problem.there) == 1:
        return title
    return bought_in_words(counts, problem, words)


def bought_title(counts: Sequence[int], problem: Problem, words: Words) -> str | None:
    """The name of the machine that is bought or committed to; None where there is none, or more than one kind."""
    kinds = [kind.name for kind, count in zip(problem.held, counts, strict=True) if count > kind.there]
    return words.title(kinds[0]) if len(kinds) == 1 else None


def mix_title(one: Mix, posed: "Posed", main: str | None, words: Words) -> str:
    """A mix in words: what is bought, and who does the rest."""
    bought, rest = bought_in_words(one.counts, one.problem, words), "" if main is None else words.title(main)
    there = any(posed.drawn.there)
    if one.kind == THERE:
        return "what is there, alone"
    if one.kind == RENTED:
        return f"{words.title(one.source)} for the rest" if there else f"all on {the(words.title(one.source))}"
    if bought:
        return f"{bought}, the rest on {the(rest)}" if rest else bought
    if one.kind == BOUGHT or not rest:
        return "what is there"
    if there:
        return f"{rest} or another for the rest"  # each job on what is the cheapest in its draw
    return f"nothing bought, all on {the(rest)}"
