"""What all steps of the lesson have in common: a prediction, an experiment, what was seen, and where to go on.

A step computes what it shows, and takes its words from its own section of the texts, `[lesson_NAME]`.
"""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import streamlit as st

from pages.lesson.bars import Bars
from pages.shared.caching import made_once
from pages.shared.models import ModelRecord, record_of, shipped_record
from pages.shared.settings import Settings
from pages.shared.texts import label
from pages.shared.trained import cards_of
from pages.shared.widgets import offers_of, put, taken

START = Settings()  # the lesson's own settings, whatever the visitor has chosen elsewhere
TASK = START.task


class Step:
    """One step; each overrides as little as possible.

    Attributes:
        name: of its texts.
        minutes: what it takes in class.
        trained: how many models on the screen were trained once, which is said after what is seen.
    """

    name: ClassVar[str]
    minutes: ClassVar[int]
    trained: ClassVar[int] = 1

    def begin(self) -> None:
        """Have what takes long made, once for everybody: when the step before is opened."""

    def is_ready(self) -> bool:
        """Whether that is made, or has failed; what is made where it is asked for is always ready."""
        return True

    def question(self) -> str:
        """What is to be predicted."""
        return self.text("question")

    def choices(self) -> Mapping[str, str]:
        """What can be predicted: the words of each choice by its code."""
        return {name: self.text(name) for name in self.codes}

    codes: ClassVar[tuple[str, ...]] = ()

    def may_be_choice(self, code: str) -> bool:
        """Whether a code that is none of `codes` may be one of the choices, where these are computed."""
        return not self.codes and code.isascii() and code.isdecimal() and len(code) < 3

    def bars(self) -> tuple[Bars, ...]:
        """The small pictures on the sheet."""
        return ()

    def right(self) -> Collection[str]:
        """The choices that turn out right, as computed."""
        raise NotImplementedError

    def draw(self, theme: str, predicted: str | None) -> bool:
        """The experiment; False while what is seen is not known yet. `predicted`: the choice, None where skipped."""
        raise NotImplementedError

    def seen(self) -> str:
        """Two or three sentences with the numbers just computed."""
        raise NotImplementedError

    def once(self) -> str:
        """How often the models on the screen were trained; "" where the step has said it, or has none."""
        return label("lesson", "once", count=self.trained) if self.trained else ""

    def learned(self) -> str:
        """What it means."""
        return self.text("learned")

    def explore(self) -> tuple[str, dict[str, str]]:
        """The page, and all settings, to go on with."""
        raise NotImplementedError

    def text(self, part: str, **values: object) -> str:
        return label(f"lesson_{self.name}", part, **values)


def own_record() -> ModelRecord:
    """The model of the lesson."""
    return record_of(START)


def shown_record(name: str) -> ModelRecord:
    """The model that a step shows: the lesson's own, or the pair that was taken instead."""
    return st.session_state.get("lesson_models", {}).get(name) or own_record()


def draw_not_seen(step: Step, shows: Callable[[ModelRecord], bool]) -> None:
    """That the effect is not seen with this model, and a button for the first pair that shows it."""
    own = own_record()
    others = (shipped_record(card) for card in cards_of(TASK) if card.config.kv == "reproject")
    other = next((record for record in others if record != own and shows(record)), None)
    st.markdown(label("lesson", "not_seen"))
    if other is not None:
        heads = {"enc": other.config.encoder.num_heads, "dec": other.config.decoder.num_heads}
        models = st.session_state.setdefault("lesson_models", {})
        st.button(label("lesson", "pair", **heads), on_click=models.__setitem__, args=(step.name, other))


def settings_of(record: ModelRecord) -> Settings:
    """The settings that show a model."""
    return START.with_config(record.config).put("seed", record.seed)


def row_of(name: str, title: str, options: tuple, show: Callable, first: object = None) -> object:
    """A row of buttons that belongs to one step; gives what is chosen, to begin with `first`."""
    kept, key = st.session_state.setdefault("lesson_rows", {}), f"lesson_{name}"
    value = kept.get(name, first)
    value = value if value in options else options[0]
    put(key, value, offers_of(options, show))
    look = {"required": True, "wrap": True, "on_change": taken, "args": (key, kept.__setitem__, name)}
    st.segmented_control(title, options, format_func=show, key=key, **look)
    return value


@made_once()
def _beside() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "lesson")


def make_beside(make: Callable, *args: object) -> None:
    """Have something made beside what is drawn; who needs it before it is there waits for it."""
    _beside().submit(make, *args)
