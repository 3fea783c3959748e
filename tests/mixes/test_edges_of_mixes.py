"""Edges of the dispatch and of the search, each by hand: ties, draws that differ, what only some can do, bounds."""

import numpy as np
import pytest
from mix_problems import held, problem, rented
from sweetspot.mixes.dispatch import _filled, _ways, dispatch
from sweetspot.mixes.problem import NEVER, Held, load_duration
from sweetspot.mixes.search import BEST, BOUGHT, RENTED, climb, mixes, most_useful, numbers_to_have


def by_draw(name, hours, running, capacity):
    """A kind that is there, of one class, whose figures differ by draw."""
    one, many = np.array([hours], float), len(hours)
    return Held(name, 1, False, np.zeros(many), np.asarray(capacity, float), one, np.array([running], float))


# --- the orders in which kinds are filled -----------------------------------------------------------------------------


def three_and_more(count, usd=lambda kind: [1.0, 1.0 + kind]):
    """Kinds that differ in what the second class costs there; 0 is the cheapest."""
    return [held(f"kind {kind}", [1.0, 1.0], usd(kind), 10.0) for kind in range(count)]


def ways(kinds):
    case = problem([[[1.0]], [[1.0]]], kinds, [rented("rent", [9.0, 9.0])])
    return [(tuple(order), others) for order, others in _ways(case, case.by_running)]


def test_of_three_kinds_all_orders_are_tried_of_four_the_turns_of_the_order_of_merit():
    three, four = ways(three_and_more(3)), ways(three_and_more(4))
    assert len(three) == len(set(three)) == 6 + 5  # six against each other's hours, five against renting alone
    assert {order for order, _ in four} == {(0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2)}
    assert len(four) == 4 + 3 and ((0, 1, 2, 3), False) not in four


@pytest.mark.parametrize("off", [0.0, 1e-6])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_kinds_in_proportion_have_one_order(scale, off):
    """The second takes three times the hours of the first for each class, for twice the money; or a millionth more."""
    first = held("first", [1.0 * scale, 2.0 * scale], [4.0 * scale, 6.0 * scale], 10.0)
    second = held("second", [3.0 * scale, 6.0 * scale * (1 + off)], [8.0 * scale, 12.0 * scale], 10.0)
    assert bool(ways([first, second])) == (off > 0)


def test_of_jobs_worth_the_same_those_that_fewer_kinds_can_do_come_first():
    """Ten hours of the first kind; a could go to the second as well, b cannot."""
    kinds = [held("first", [1.0, 1.0], [0.0, 0.0], 10.0), held("second", [1.0, NEVER], [0.0, 0.0], 10.0)]
    case = problem([[[10.0]], [[10.0]]], kinds, [rented("rent", [5.0, 5.0])])
    done, left, running = _filled(case, (1, 1), (0, 1), False)
    assert done[:, :, 0, 0].tolist() == [[0.0, 10.0], [10.0, 0.0]]
    assert not left.any() and not running.any()


# --- what is done, and what is not ------------------------------------------------------------------------------------


def test_what_runs_for_as_much_as_it_is_rented_is_rented():
    done = dispatch(problem([[[50.0]]], [held("ours", [1.0], [0.5], 100.0, there=1)], [rented("rent", [0.5])]), (1,))
    assert done.held.sum() == 0


def test_a_machine_works_in_the_draws_in_which_it_is_the_cheaper():
    """At 0.2 in the first draw and 0.9 in the second, beside 0.5 rented; ten jobs of two hours, and of four."""
    ours = by_draw("ours", [2.0, 4.0], [0.2, 0.9], [100.0, 100.0])
    done = dispatch(problem([[[10.0], [10.0]]], [ours], [rented("rent", [0.5], draws=2)]), (1,))
    assert done.held[0, 0, :, 0].tolist() == [10.0, 0.0]
    assert done.usd.tolist() == pytest.approx([2.0, 5.0])


@pytest.mark.parametrize(("late", "finite"), [(9.0, True), (15.0, False)])
def test_one_job_in_a_hundred_may_wait_for_a_quieter_month(late, finite):
    """A thousand jobs of an hour, which nobody rents out, on a machine that has `late` hours too few."""
    machine = held("machine", [1.0], [0.0], 1000.0 - late, there=1, for_sale=False)
    done = dispatch(problem([[[1000.0]]], [machine], []), (1,))
    assert done.undone.sum() == pytest.approx(late)
    assert np.isfinite(done.usd).all() == finite


def test_what_has_no_name_here_does_no_job():
    case = problem([[[3.0]]], [], [rented("first", [1.0]), rented("second", [2.0])])
    done = dispatch(case, ())
    assert not done.jobs("third").any() and done.jobs("first").sum() == 3.0
    assert not dispatch(problem([[[3.0]]], [], [rented("second", [2.0]), rented("first", [1.0])]), ()).jobs("x").any()


def test_device_hours_are_those_of_all_devices_of_a_machine():
    one = held("box", [3.0], [0.0], 10.0)
    four = Held(one.name, 1, True, one.fixed, one.capacity, one.hours, one.running, devices=4)
    assert four.device_hours.tolist() == [[12.0]]


# --- the order of merit -----------------------------------------------------------------------------------------------


def test_merit_is_the_mean_over_the_classes_of_what_runs_there_over_the_least():
    """A: 1.3 times the least of both classes; B: 1.5 times that of the second alone; C the least of both."""
    kinds = [
        held("B", [NEVER, 1.0], [0.0, 0.15], 10.0),
        held("A", [1.0, 1.0], [13.0, 0.13], 10.0),
        held("C", [1.0, 1.0], [10.0, 0.10], 10.0),
    ]
    assert problem([[[1.0]], [[1.0]]], kinds, []).by_running == [2, 1, 0]


def test_one_offer_for_all_that_it_can_do_and_the_others_for_the_rest():
    offers = [rented("cheap", [1.0, 1.0]), rented("chosen", [3.0, NEVER]), rented("dear", [2.0, 4.0])]
    alone = problem([[[1.0]], [[1.0]]], [], offers).only("chosen")
    assert alone.rent[:, 0].tolist() == [3.0, 1.0]
    assert {one.name for one in alone.rented} == {"cheap", "chosen", "dear"}


def test_a_curve_of_two_points_is_the_means_of_the_two_halves():
    """Eight months: the five busiest 8, 7, 6, 5, 4, the five quietest 5, 4, 3, 2, 1 (a window of four either side)."""
    load = np.array([[3.0, 8.0, 1.0, 6.0, 5.0, 2.0, 7.0, 4.0]])
    assert load_duration(load, np.array([0.0, 1.0])).tolist() == [[6.0, 3.0]]


# --- how many machines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fixed", "count"), [(39.0, 3), (40.1, 2), (41.0, 1)])
def test_the_programme_counts_running_and_rent_by_the_month(fixed, count):
    """100.5 and 300.5 h in turn; 100 h a machine, 0.2 an hour of running, 1.0 rented: the third saves 0.8 x 50, the
    second 0.8 x 50.25.
    """
    machines = [held("one", [1.0], [0.2], 100.0, fixed, draws=2), held("dear", [1.0], [0.2], 100.0, 999.0, draws=2)]
    case = problem([[[100.5], [300.5]]], machines, [rented("rent", [1.0], draws=2)])
    assert numbers_to_have(case) == (count, 0)


def test_a_machine_is_bought_for_what_nobody_else_does_however_dear_the_machine():
    machines = [held("cheap", [NEVER], [0.0], 10.0, 1.0), held("dear", [1.0], [0.0], 10.0, 500_000.0)]
    assert numbers_to_have(problem([[[1.0]]], machines, [])) == (0, 1)


def test_the_sample_of_two_draws_has_both():
    """Nothing is to be done in the first; in the second what no single step finds (21 h: one of 10 and one of 11)."""
    kinds = [held("ten", [1.0], [0.0], 10.0, 10.0, draws=2), held("eleven", [1.0], [0.0], 11.0, 10.5, draws=2)]
    case = problem([[[0.0], [21.0]]], kinds, [rented("rent", [100.0], draws=2)])
    assert mixes(case)[0].counts == (1, 1)


def test_a_source_that_does_one_class_of_two_is_held_against_the_others():
    box = held("box", [1.0, NEVER], [0.0, 0.0], 10.0, 1.0)
    case = problem([[[5.0]], [[5.0]]], [box], [rented("first", [2.0, 2.0]), rented("second", [1.0, NEVER])])
    found = mixes(case)
    assert {(one.kind, one.source) for one in found[1:]} == {(BOUGHT, "box"), (RENTED, "first"), (RENTED, "second")}
    # One box for the five hours of the first class, five of the second at 2; nothing is cheaper.
    assert (found[0].kind, found[0].expected) == (BEST, pytest.approx(1.0 + 10.0))


def test_one_machine_more_is_on_offer_where_those_that_are_there_do_all():
    case = problem([[[15.0]]], [held("box", [1.0], [0.0], 10.0, 9.0, there=2)], [rented("rent", [1.0])])
    (bought,) = (one for one in mixes(case) if one.kind == BOUGHT)
    assert bought.counts == (3,)


def test_more_machines_than_the_busiest_draw_takes_are_never_useful():
    """Twenty jobs of 1 and 3 hours in machines of 20 and 10 hours: at most six."""
    kind = by_draw("kind", [1.0, 3.0], [0.0, 0.0], [20.0, 10.0])
    for_sale = Held(kind.name, 1, True, kind.fixed, kind.capacity, kind.hours, kind.running)
    case = problem([[[20.0], [20.0]]], [for_sale], [rented("rent", [1.0], draws=2)])
    assert most_useful(case) == (6,)


def test_from_where_the_work_is_not_done_the_way_begins_at_the_most():
    """Less than four do not do it, each costs 1; of a kind that does not count there are as many as before."""

    def usd(counts):
        return np.inf if counts[0] < 4 else float(sum(counts))

    assert climb((1, 2), usd, [0], (0, 0), (9, 9)) == (4, 2)
    assert climb((1, 2), usd, [0, 1], (0, 0), (9, 9)) == (4, 0)
    assert climb((1, 2), usd, [0], (0, 0), (3, 9)) == (1, 2)  # no number does it: as it is


def test_where_nothing_is_rented_as_many_are_bought_as_every_month_takes():
    """Two hours a job, ten hours a machine: one has room for the mean month, the other one takes two."""
    best = mixes(problem([[[2.0, 6.0]]], [held("box", [2.0], [0.0], 10.0, fixed=100.0)], []))[0]
    assert best.counts == (2,) and best.expected == pytest.approx(200.0)


def test_the_way_up_is_gone_in_ever_longer_steps_and_stops_where_nothing_is_gained():
    asked = []

    def usd(counts):
        asked.append(counts)
        return float(abs(counts[0] - 1000))

    assert climb((0,), usd, [0], (0,), (5000,)) == (1000,)
    assert len(set(asked)) < 100
    level = climb((0,), lambda counts: 5.0 - min(counts[0], 1), [0], (0,), (9,))
    assert level == (1,)  # further ones cost the same
