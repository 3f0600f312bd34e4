"""Common parts of the pages of comparisons: compact numbers that read back, a matrix of verdicts, folded details."""

import json

from validation import writing


def test_numbers_have_a_line_per_case_and_read_back_as_they_were():
    cases = {f"case/{number}": {"title": "x" * 60, "values": list(range(60))} for number in range(3)}
    data = {"machine": "here", "cases": cases}
    text = writing.compact(data, 2)
    assert json.loads(text) == data
    assert [line.strip()[:8] for line in text.splitlines()] == [
        "{", '"machine', '"cases":', '"case/0"', '"case/1"', '"case/2"', "}", "}",
    ]  # fmt: skip
    assert writing.compact({"a": [1, 2]}, 2) == '{"a": [1, 2]}\n', "a small table stays on one line"


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
