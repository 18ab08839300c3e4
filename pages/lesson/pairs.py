"""Step 9: published models, equal and unequal, and what has to match."""

import streamlit as st

from attention.experiments.published import head_counts
from pages.lesson.step import START, Step
from pages.shared.head_counts import draw_head_counts

OFFERED = ("BART-large", "TrOCR-base", "Whisper-large-v3", "MusicGen S")


class Pairs(Step):
    name, minutes, trained = "pairs", 3, 0

    def question(self) -> str:
        return self.text("question", count=len(self.right()))

    def choices(self) -> dict[str, str]:
        return {str(number): name for number, name in enumerate(OFFERED, start=1)}

    def right(self) -> set[str]:
        counts = head_counts()
        return {code for code, name in self.choices().items() if counts[name][0] != counts[name][1]}

    def draw(self, theme: str, predicted: str | None) -> bool:
        if predicted:
            name = self.choices()[predicted]
            enc, dec = head_counts()[name]
            right = "yes" if predicted in self.right() else "no"
            st.markdown(self.text("chosen", right=right, name=name, enc=enc, dec=dec))
        draw_head_counts(theme)
        return True

    def seen(self) -> str:
        counts = head_counts().values()
        more, fewer = sum(dec > enc for enc, dec in counts), sum(dec < enc for enc, dec in counts)
        return self.text("seen", count=len(counts), more=more, fewer=fewer, equal=len(counts) - more - fewer)

    def explore(self) -> tuple[str, dict[str, str]]:
        return "wild", START.to_address()
