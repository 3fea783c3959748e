"""Tests whose subject is half rebuilt: they say what is still to be done, and fail no run until it is.

Each entry goes with the work that it names; nothing may be added here to make a change pass.
"""

PAGE = "the new page and verdict: words, print rule and shapes are not followed everywhere yet"
ENGINE = "one engine: the test asks the old way of single jobs, or of mixes"
NODES = {
    "tests/browser/test_browser.py::test_reads_without_javascript": PAGE,
    "tests/browser/test_shapes.py::test_nothing_leaves_the_page_at_any_width": PAGE,
    "tests/report/test_report_forms.py::test_the_page_is_printed_by_its_own_rule": PAGE,
    "tests/report/test_sheet_and_card.py::test_no_word_of_a_card_leaves_it_in_a_browser": PAGE,
    "tests/workflow/test_examples.py::test_a_universitys_own_prices_and_partition": PAGE,
    "tests/workflow/test_first_screens.py::"
    "test_the_page_of_the_founding_study_shows_the_few_warnings_that_could_change_its_answer": PAGE,
    "tests/workflow/test_own_study.py::test_the_answer_is_the_sentence_that_the_readme_prints": PAGE,
    "tests/workflow/test_plan_alone.py::test_the_plan_s_answer_stands_in_every_place": PAGE,
    "tests/workflow/test_studies_graph.py::test_a_study_ends_in_its_page_and_the_manual_says_its_answer": PAGE,
    "tests/commands/test_refresh_prices.py::"
    "test_snakemake_reprices_exactly_the_lists_that_changed_and_tells_what_they_did": PAGE,
    "tests/decision/test_mix_turning_in_files.py::"
    "test_the_nearest_turning_points_of_each_kind_put_into_the_files_turn_the_answer": ENGINE,
    "tests/workflow/test_studies_plan.py::"
    "test_each_turning_point_put_into_the_files_turns_the_plan_and_less_does_not": ENGINE,
    "tests/workflow/test_studies_today_worth.py::test_a_box_that_the_tornado_moves_has_its_turning_point": ENGINE,
    "tests/workflow/test_studies_today_worth.py::"
    "test_the_figure_named_first_turns_the_answer_within_its_range_or_at_its_edge": ENGINE,
}
