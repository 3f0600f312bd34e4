"""Common parts of the pages of comparisons: a matrix of verdicts, folded details."""

from validation import writing


def test_a_matrix_has_a_symbol_where_verdicts_agree_and_counts_where_not():
    found = {
        "first": [
            ("goodput_mbps/a", "agrees"),
            ("goodput_steady_mbps/a", "agrees"),
            ("rtt_ms/a", "not defined"),
        ],
        "second": [("goodput_mbps/a", "agrees"), ("goodput_mbps/b", "differs"), ("rtt_ms/a", "undecided")],
    }
    assert list(writing.matrix("case", found)) == [
        "| case | goodput | RTT |",
        "|---|---|---|",
        "| first | ✓ | – |",
        "| second | ✓\u00a01 ✗\u00a01 | ? |",
    ]


def test_details_are_folded_behind_a_summary_that_links_can_name():
    lines = list(writing.folded("All numbers", ["| a |"], "numbers"))
    assert lines == [
        '<details id="numbers"><summary>All numbers</summary>',
        "",
        "| a |",
        "",
        "</details>",
        "",
    ]


def test_text_between_two_marks_is_replaced_and_nothing_else():
    assert writing.fill("before<a>old<b>after<b>", "<a>", "<b>", "new") == "before<a>new<b>after<b>"
