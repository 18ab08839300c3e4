"""Every word that a figure writes by itself, in one place, so that another language is another `FigureWords`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Forms = str | Mapping[str, str]  # a text, or one for each form of a noun after a number


def english_form(count: int) -> str:
    """The form of a noun after a number."""
    return "one" if count == 1 else "other"


@dataclass(frozen=True)
class FigureWords:
    """The words of hovers, marks and text alternatives, and the signs of numbers.

    What stands in braces is filled in by the figure.
    """

    query: str = "query"
    key: str = "key"
    weight: str = "weight"
    head: str = "head"
    heads: str = "heads"
    pair: str = "{first} and {second}"
    cosine: str = "cosine"
    step: str = "step"
    loss: str = "loss"
    no_keys: str = "no keys"
    not_allowed: str = "may not attend"
    undefined: str = "undefined"
    no_single_key: str = "no single key"
    run: str = "{name}, run {run}: {percent}%"
    encoder_heads: str = "encoder heads"
    decoder_heads: str = "decoder heads"
    more_decoder_heads: str = "▲ more decoder heads"
    fewer_decoder_heads: str = "▼ fewer decoder heads"

    map_alt: str = "Attention map, rows × columns: {rows} {row_title} × {cols} {col_title}."
    strongest_alt: str = "Strongest cell in each row: {cells}."
    more_rows_alt: Forms = field(default_factory=lambda: {"one": "{count} more row", "other": "{count} more rows"})
    one_head_alt: str = "One head: there is no other to compare it with."
    similarity_alt: Forms = "Similarity of {count} heads, from −1 to 1."
    pairs_alt: str = "Most alike: heads {most} ({most_value}); least alike: heads {least} ({least_value})."
    pair_alt: str = "Heads {most}: {most_value}."
    no_pairs_alt: str = "No pair of heads has a defined similarity."
    undefined_alt: Forms = field(
        default_factory=lambda: {"one": "Undefined for head {heads}.", "other": "Undefined for heads {heads}."}
    )
    loss_alt: str = (
        "Loss against step: from {first} at {first_step} to {last} at {last_step}; the lowest is {low} at {low_step}."
    )
    one_loss_alt: str = "Loss against step: {first} at {first_step}."
    no_loss_alt: str = "Loss against step: nothing recorded yet."
    comparison_alt: str = "{y} against {x}."
    points_alt: str = "{line}: {points}."
    marked_alt: str = "Marked: {x} {at}, {mark}."
    lines_alt: str = "{y} / {x}."
    ends_alt: str = "{line}: {begin} ({first}) → {end} ({last})."
    head_counts_alt: str = "Encoder heads against decoder heads of published models: {points}."
    head_counts_point: str = "{names} {encoder} against {decoder}"

    minus: str = "−"
    decimal: str = "."
    percent: str = "{}\u00a0%"
    form: Callable[[int], str] = english_form

    def sign(self, text: str) -> str:
        """A number as Python writes it, with the signs of this language."""
        return text.translate({ord("-"): self.minus, ord("."): self.decimal})

    def number(self, value: float, digits: int = 2) -> str:
        """A number with fixed digits, never "−0.00"; the word for "undefined" where it is NaN."""
        return self.undefined if value != value else self.sign(f"{round(value, digits) + 0.0:.{digits}f}")

    def share(self, value: float) -> str:
        """A share of 1 in whole percent."""
        return self.percent.format(self.number(100 * value, 0))

    def counted(self, forms: Forms, count: int, **values: object) -> str:
        """A text with the count filled in, in the form that fits it."""
        text = forms if isinstance(forms, str) else forms[self.form(count)]
        return text.format(count=count, **values)


ENGLISH = FigureWords()
