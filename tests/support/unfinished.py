"""Tests whose subject is half rebuilt: they say what is still to be done, and fail no run until it is.

Each entry goes with the work that it names; nothing may be added here to make a change pass.
"""

PAGE = "the new page and verdict: words, print rule and shapes are not followed everywhere yet"
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
    "tests/workflow/test_as_module.py::test_a_study_of_ones_own_as_a_module": "new-study laid in an importing workflow",
    "tests/faults/test_faults_study.py::"
    "test_a_framework_that_is_not_installed_says_so_in_its_cell_and_the_report_is_made": "the message names an index",
    "tests/harness/test_native_backends.py::"
    "test_every_framework_trains_every_kind_of_network_on_two_devices": "collectives of networks in one process",
    "tests/harness/test_harness_networks.py::"
    "test_an_optional_framework_learns_or_says_how_to_install_it": "the message names an index",
    "tests/harness/test_harness.py::"
    "test_the_same_run_from_before_the_newest_columns_has_the_same_speed": "run files are sealed: it edits one",
}
