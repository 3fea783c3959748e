"""The answer in sentences: the one that answers, those that go with it, and what else must be said.

All that is said comes from the rows of the headline and from the contenders; machines and models have their titles.
"""

from collections.abc import Sequence

from sweetspot.decision.answer_words import AT_LEAST, NEXT, UP_TO, Facts, answer
from sweetspot.decision.counted import begun, listed, the
from sweetspot.decision.divided_words import divided
from sweetspot.decision.further_words import (
    by_other_lists,
    cheapest_kinds,
    fastest,
    in_time,
    left_out,
    of_which_model,
    place,
)
from sweetspot.decision.grounds import grounds
from sweetspot.decision.hour_and_work import hour_and_work
from sweetspot.decision.options import Row
from sweetspot.decision.owning_words import condition, pays_from
from sweetspot.decision.said import Said


def sentences(models: Sequence[Said], several: bool) -> tuple[str, str, list[str]]:
    """The answer (at most 45 words), the short sentences that go with it, and the further ones.

    `models`: least favourable to the reference first; one alone is spoken of by its name where `several` is true and
    it trains.
    """
    first = models[0]
    if len({said.who.cheapest["option"] for said in models}) > 1:
        found, beside = divided(models)
    else:
        found, left = answer(facts_of(models, several and first.row["counts"] == "train"))
        beside = [*of_which_model(models), *_close(models), *left, *cheapest_kinds(models), *fastest(first)]
        beside += [*in_time(first), *condition(first)]
    more = [*hour_and_work(first.who, first.words), *place(first), *by_other_lists(first), *left_out(models)]
    more += grounds(_weak(models), speeds=bool(first.words.hours))
    return found, " ".join(begun(sentence) for sentence in beside), [begun(sentence) for sentence in more]


def no_answer(offers: int, figures: int) -> str:
    """The sentence where no option has both a price and a figure, by how many there are of each."""
    if not offers:
        return "No answer yet: nothing here has a price."
    if not figures:
        return "No answer yet: no machine here has a speed, measured or published."
    return "No answer yet: no machine has both a price and a speed at the batch that is asked for."


def facts_of(models: Sequence[Said], named: bool) -> Facts:
    """What the answer says where one option wins on all models; `named`: of one model it says which."""
    said, n = models[0], len(models)
    who, row, loser = said.who, said.row, said.loser
    take, on = the(who.cheapest["title"]), said.model if named and n == 1 else ""
    if loser is None:
        return Facts(take, on=on, bill=said.bill(who.cheapest))
    turned = row["gain"] < 1  # then the interval and the probability are those of the other, and are turned over
    ends = (1 / row["gain_high"], 1 / row["gain_low"]) if turned else (row["gain_low"], row["gain_high"])
    close = [one.model for one in models if one.close]
    losers = {one.loser["option"] for one in models if one.loser is not None}
    following = who.runner_up is not None and who.runner_up["option"] == loser["option"]
    only = who.stays == 1 and who.cheapest is who.alternative and not who.cheapest["persistent"]
    return Facts(
        take=take,
        against=NEXT if following and len(losers) > 1 else the(loser["title"]),
        next_best=following,
        times=max(row["gain"], 1 / row["gain"]),
        low=ends[0],
        high=ends[1],
        probability=1 - row["p_cheaper"] if turned else row["p_cheaper"],
        close=said.close,
        close_on="" if len(close) == n else close[0] if len(close) == 1 else f"{len(close)} of {n} models",
        bound="" if n == 1 else UP_TO if turned else AT_LEAST,
        on=on,
        bill=said.bill(who.cheapest) if row["counts"] != "train" or said.by_month else "",
        taken_away=only,
        all_month=said.by_month,
        use=pays_from(said),
        hangs=f"Most hangs on {said.hangs}." if said.hangs else "",
    )


def _close(models: Sequence[Said]) -> list[str]:
    """On which models the order is not sure, where the answer itself does not say so."""
    close = [said.model for said in models if said.close]
    return [f"Too close to call on {listed(close)}."] if close and not models[0].close else []


def _weak(models: Sequence[Said]) -> list[Row]:
    """The options whose grounds are told: those that are compared, on the model of the answer."""
    who = models[0].who
    compared = (who.reference, who.alternative, who.by_hour)
    return list({row["option"]: row for row in compared if row is not None}.values())
