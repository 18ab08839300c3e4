"""Step 9: published models, equal and unequal, and what has to match."""

from attention.experiments.published import EQUAL_MODELS, PUBLISHED_MODELS
from pages.lesson.step import START, Step
from pages.shared.head_counts import draw_head_counts

OFFERED = ("BART-large", "TrOCR-base", "Whisper-large-v3", "MusicGen S")


def head_counts() -> dict[str, tuple[int, int]]:
    """Encoder and decoder heads of every published model, by name."""
    counts = {model.name: (model.encoder.num_heads, model.decoder.num_heads) for model in PUBLISHED_MODELS}
    return counts | {model.name: (model.num_heads, model.num_heads) for model in EQUAL_MODELS}


class Pairs(Step):
    name, minutes, trained_once = "pairs", 3, False

    def choices(self) -> dict[str, str]:
        return {str(number): name for number, name in enumerate(OFFERED, start=1)}

    def right(self) -> set[str]:
        counts = head_counts()
        return {code for code, name in self.choices().items() if counts[name][0] != counts[name][1]}

    def draw(self, theme: str, predicted: str | None) -> bool:
        draw_head_counts(theme)
        return True

    def seen(self) -> str:
        counts = head_counts().values()
        more, fewer = sum(dec > enc for enc, dec in counts), sum(dec < enc for enc, dec in counts)
        return self.text("seen", count=len(counts), more=more, fewer=fewer, equal=len(counts) - more - fewer)

    def explore(self) -> tuple[str, dict[str, str]]:
        return "wild", START.to_address()
