"""The lecturer's plan: one page a step, to print with the answers expected today, and as a file without them.

    python -m pages.lesson.plan > docs/lesson.md

Both come from the texts of the lesson, so neither can say something else.
"""

from time import monotonic, sleep

from pages.lesson.sheet import LOOK, POLICY
from pages.lesson.steps import STEPS
from pages.shared.texts import label, language_folder, listed, verbatim

PAGE = "section + section{break-before:page}"


def plan() -> str:
    """As Markdown, without anything computed."""
    lines = [
        f"# {label('plan', 'title')}",
        "",
        f"{label('plan', 'about')} {label('plan', 'without')}",
        "",
        label("plan", "hands"),
        "",
    ]
    minute = 0
    for number, step in enumerate(STEPS, start=1):
        begin, minute = minute, minute + step.minutes
        title = label("lesson", "title", number=number, title=step.text("title"), minutes=step.minutes)
        lines += [f"## {title}", "", label("plan", "time", begin=begin, end=minute), ""]
        lines += [f"* **{label('plan', part)}** {step.text(f'plan_{part}')}" for part in ("say", "expect")]
        lines += [f"* **{label('plan', 'learned')}** {step.learned()}", ""]
    return "\n".join([*lines, label("plan", "sheets"), ""])


def wait_for_numbers(seconds: float) -> None:
    """Have made what takes long, and wait until it is there, but no longer than this."""
    until = monotonic() + seconds
    for step in STEPS:
        step.begin()
    while not all(step.is_ready() for step in STEPS) and monotonic() < until:
        sleep(0.2)


def printed_plan() -> str:
    """As a page to print, with the question and the expected answers as computed now."""
    parts, minute = [], 0
    for number, step in enumerate(STEPS, start=1):
        begin, minute = minute, minute + step.minutes
        title = label("lesson", "title", number=number, title=step.text("title"), minutes=step.minutes)
        choices, right = step.choices(), step.right()
        answers = listed(choices[code] for code in choices if code in right) or label("plan", "not_yet")
        lines = [
            ("", label("plan", "time", begin=begin, end=minute)),
            (label("plan", "say"), step.text("plan_say")),
            (label("plan", "question"), step.question()),
            (label("plan", "right"), answers),
            (label("plan", "seen"), step.seen().replace("**", "") if right else label("plan", "not_yet")),
            (label("plan", "expect"), step.text("plan_expect")),
            (label("plan", "learned"), step.learned()),
        ]
        said = "".join(f"<p><b>{verbatim(name)}</b> {verbatim(text)}</p>" for name, text in lines)
        parts.append(f"<section><h2>{verbatim(title)}</h2>{said}</section>")
    title = label("plan", "title")
    return (
        f'<!doctype html><html lang="{verbatim(language_folder().name)}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{verbatim(title)}</title>'
        f"<style>{LOOK}{PAGE}</style></head><body><h1>{verbatim(title)}</h1>"
        f"<p>{verbatim(label('plan', 'about'))} {verbatim(label('plan', 'computed'))}</p>"
        f"<p>{verbatim(label('plan', 'hands'))}</p>{''.join(parts)}"
        f"<p>{verbatim(label('plan', 'sheets'))}</p></body></html>"
    )


if __name__ == "__main__":
    print(plan(), end="")
