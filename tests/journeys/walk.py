"""A random walk through the app as a visitor makes it: any control, any page, in any order, the back button included.

    python -m tests.journeys.walk --actions 10000 --seed 0

Every action is one run of the app. A walk stops at the first exception, and at the first row of buttons or address that
is not what the settings say; it tells the way that led there, which `--seed` walks again. Buttons that begin work for
minutes are left alone (`HEAVY`).
"""

import argparse
import logging
import random
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from attention.tasks import get_task
from pages.shared.settings import Settings, read_address

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "support"))  # as pytest has it
from app_test import address_of  # noqa: E402

PAGES = ("playground", "lesson", "shapes", "anchors", "compare", "redundancy", "wild", "article")
WALK = 100  # actions of one visitor, when more are asked for
LESSON = "lesson_"  # its rows may be without a choice, and AppTest cannot press one whose options are numbers
HEAVY = ("train", "study", "compare_run")  # keys of buttons that begin work for minutes
CONTROLS = (
    "segmented_control", "pills", "selectbox", "slider", "select_slider", "text_input", "number_input", "button",
)  # fmt: skip
TEXTS = ("knight", "box", "extraordinarily", "a", "", "x" * 300, "two words", "naïve", "12 May 2024", "你好", "<b>*$x$")
BOXES = ("more", "ledger_table", "what_effective")
# Of ten actions about two change the page, one goes back, one opens or closes a box, and six touch a control.
PAGE, BACK, BOX = 0.2, 0.3, 0.4


@dataclass
class Walk:
    """One visitor. `way` is what was done so far, in words; `visited` the addresses that Back goes through."""

    seed: int
    app: AppTest = field(init=False)
    page: str = "playground"
    way: list[str] = field(default_factory=list)
    visited: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
        self._run("open the app")

    def act(self) -> None:
        """One action, drawn from the seed."""
        chance = self.random.random()
        if chance < PAGE:
            self._go(self.random.choice([page for page in PAGES if page != self.page]))
        elif chance < BACK and self.visited:
            self._back()
        elif chance < BOX:
            self._box()
        else:
            self._touch()

    def _go(self, page: str) -> None:
        """A link of the navigation: Streamlit opens the page with a bare address."""
        self._open(page, {})
        self._run(f"open {page}")

    def _back(self) -> None:
        """The address that was left last, once in a while as bare as Streamlit leaves it in the browser's history."""
        page, address = self.visited.pop()
        if self.random.random() < 0.3:
            address = {}
        self._open(page, address)
        self.visited.pop()
        with patch("pages.shared.session.went_back", lambda: True):
            self._run(f"back to {page} {address}")

    def _open(self, page: str, address: dict[str, str]) -> None:
        self.visited.append((self.page, address_of(self.app)))
        self.page = page
        self.app.query_params.clear()
        self.app.query_params.update(address)
        self.app.switch_page(f"pages/{page}/{page}.py")

    def _box(self) -> None:
        """Open or close an expander. AppTest has no hand for it, so it is told as the visitor's session keeps it."""
        name = self.random.choice(BOXES)
        boxes = dict(self.app.session_state["boxes"])
        self.app.session_state["boxes"] = {**boxes, name: not boxes.get(name, False)}
        self._run(f"open or close {name}")

    def _touch(self) -> None:
        controls = list(_controls(self.app))
        if not controls:
            return
        control = self.random.choice(controls)
        where = f"{control.type} {control.key or control.label!r}"
        before = address_of(self.app)
        if control.type == "button":
            control.click()
            self._run(f"press {where}")
        else:
            value = _value(control, self.random)
            control.set_value(value)
            self._run(f"set {where} to {value!r}")
        if address_of(self.app) != before:
            self.visited.append((self.page, before))

    def _run(self, what: str) -> None:
        self.way.append(what)
        self.app.run()
        if self.app.session_state["page"] != self.page:  # a button may open another page
            self.page = self.app.session_state["page"] or "playground"
        self._require(not self.app.exception, "; ".join(error.value for error in self.app.exception))
        for row in _rows(self.app):
            self._require(row.value is not None, f"row {row.key}: nothing is chosen")
        settings = self.app.session_state["settings"]
        for name, shown, wanted in _marks(self.app, settings):
            self._require(shown == wanted, f"{name} shows {shown!r}, and the settings say {wanted!r}")
        address = address_of(self.app)
        said, _ = read_address(address, [parameter for parameter, _ in settings.of_pages])
        if get_task(settings.task).is_too_long(settings.text):  # it is refused, and left out of the address
            said = replace(said, text=settings.text)
        self._require(said == settings, f"the address says {address}, and the settings are {settings.to_address()}")

    def _require(self, holds: bool, said: str) -> None:
        if not holds:
            raise AssertionError(f"seed {self.seed}, action {len(self.way) - 1}: {said}\n" + "\n".join(self.way[-12:]))


def _controls(app: AppTest) -> Iterator:
    """Everything that can be touched, in the order in which it is on the page."""
    for kind in CONTROLS:
        for control in app.get(kind):
            left_alone = {"button": HEAVY, "segmented_control": LESSON, "pills": LESSON}.get(kind, ())
            if not control.disabled and not (control.key or "").startswith(left_alone):
                yield control


def _rows(app: AppTest) -> Iterator:
    """Rows of buttons, in each of which one has to be chosen."""
    yield from (row for row in app.segmented_control if not row.key.startswith(LESSON))


def _marks(app: AppTest, settings: Settings) -> Iterator[tuple[str, object, object]]:
    """What controls of settings show, by their keys, and what the settings say."""
    for kind in ("segmented_control", "selectbox", "text_input", "number_input"):
        for control in app.get(kind):
            name = (control.key or "").removeprefix("exact_")
            if name in Settings.__dataclass_fields__ and not name.endswith("kv_heads"):
                yield control.key, control.value, settings[name]


def _value(control, rng: random.Random):
    """Something that a visitor could choose in this control."""
    match control.type:
        case "text_input":
            return rng.choice(TEXTS)
        case "number_input":
            ends = zip((control.min, control.max), (0, 99), strict=True)
            low, high = (usual if end is None else int(end) for end, usual in ends)
            return rng.choice([low, min(low + 1, high), rng.randint(low, min(high, low + 32))])
        case "slider":
            return control.min + control.step * rng.randint(0, round((control.max - control.min) / control.step))
    options = list(control.options)
    if isinstance(control.value, list):  # any number of them
        return rng.sample(options, rng.randint(0, min(3, len(options))))
    option = rng.choice(options)
    # AppTest wants what a box formats, where a row of buttons takes its own words: 3 for "head 3".
    head = re.fullmatch(r"head (\d+)", option) if control.type == "selectbox" else None
    return head[1] if head else option


def walk(seed: int, actions: int) -> Walk:
    """A whole walk; AssertionError with the way at the first thing that is wrong."""
    visitor = Walk(seed)
    for _ in range(actions):
        visitor.act()
    return visitor


def main() -> int:
    parser = argparse.ArgumentParser(description="Walk through the app at random.", allow_abbrev=False)
    parser.add_argument("--actions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help=f"of the first walk; each has {WALK} actions")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit's, on there being no browser
    failures, taken, began = 0, 0, time.perf_counter()
    for number in range(-(-given.actions // WALK)):
        actions = min(WALK, given.actions - number * WALK)
        try:
            walk(given.seed + number, actions)
        except AssertionError as error:
            failures += 1
            print(error, flush=True)
        taken += actions
    seconds = time.perf_counter() - began
    print(f"up to {taken} actions from seed {given.seed} on, {failures} walks ended early, {seconds:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
