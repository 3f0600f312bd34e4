"""The page for teachers: texts and tables of the lab's lessons.

`npm run teachers` in `lab/` writes them to ``results/lab/lessons.json.gz``, with numbers of the lab's engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from validation import kept

if TYPE_CHECKING:
    from pathlib import Path

KEPT = "lab/lessons"
HEAD = """# Lessons for teachers

The [lab](lab.md) has {count} lessons of about ten minutes. This page has the aim, the prediction, the numbers and
questions for each one. The tables are means over {seeds} runs, from the same engine as in the page. A test holds what
the numbers must show.

## How to use a lesson

1. Open the lab (`fairwave lab`) and choose the lesson. The page works without a network; send it to your class as a
   file.
2. Let everybody predict before the page shows anything (2 minutes). Collect the predictions: they are the start of the
   discussion.
3. Look at the table and at the curves (3 minutes). A button in each row of the table opens its setting.
4. Do the task (4 minutes). The page says when it is done. Each task has two hints.
5. Discuss (as long as you like). *Copy a link* keeps the state of the page: the place in the lesson, the scenario, and
   A of a comparison.
"""


def chapter(lesson: dict[str, Any], number: int) -> str:
    """Renders one lesson."""
    choices = (
        f"- {words}" + (" **(the engine's answer)**" if at == lesson["right"] else "")
        for at, words in enumerate(lesson["choices"])
    )
    columns, rows = lesson["columns"], lesson["rows"]
    table = [["setting", *columns], ["---", *("---:" for _ in columns)], *rows]
    parts = [
        f"## {number}. {lesson['title']}",
        f"{lesson['about']}.",
        f"**Aim.** {lesson['aim']}",
        f"**Situation.** {lesson['situation']}",
        f"**Prediction.** {lesson['question']}",
        "\n".join(choices),
        f"**What the numbers must show.** {lesson['claim']}",
        "\n".join(f"| {' | '.join(row)} |" for row in table),
        f"**Looks.** {lesson['looks']}",
        f"**Task.** {lesson['task']} One solution: {lesson['answer']}. {lesson['found']}",
        f"Hints: {lesson['hints']}",
        "**Discussion.**",
        "\n".join(f"- {words}" for words in lesson["discussion"]),
    ]
    return "\n\n".join(parts)


def render(_: Path) -> str:
    """Renders the page from the kept lessons."""
    found = kept.read(KEPT)
    lessons = found["lessons"]
    head = HEAD.format(count=len(lessons), seeds=found["seeds"])
    return "\n\n".join([head.rstrip(), *(chapter(one, at) for at, one in enumerate(lessons, 1))]) + "\n"
