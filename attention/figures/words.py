"""Every word that a figure writes by itself, in one place, so that another language is another `FigureWords`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FigureWords:
    """The words of hovers, marks and text alternatives. Fields in braces are filled in by the figure."""

    query: str = "query"
    key: str = "key"
    weight: str = "weight"
    head: str = "head"
    heads: str = "heads"
    cosine: str = "cosine"
    step: str = "step"
    loss: str = "loss"
    no_keys: str = "no keys"
    not_allowed: str = "may not attend"
    undefined: str = "undefined"
    no_single_key: str = "no single key"

    map_alt: str = "Attention map, rows × columns: {rows} {row_title} × {cols} {col_title}."
    strongest_alt: str = "Strongest cell in each row: {cells}."
    more_rows_alt: str = "{count} more rows"
    similarity_alt: str = "Similarity of {heads} heads, from −1 to 1."
    one_head_alt: str = "One head: there is no other to compare it with."
    pairs_alt: str = "Most alike: heads {most} ({most_value}); least alike: heads {least} ({least_value})."
    pair_alt: str = "Heads {most}: {most_value}."
    no_pairs_alt: str = "No pair of heads has a defined similarity."
    undefined_alt: str = "Undefined for heads {heads}."
    and_word: str = "and"
    curve_alt: str = (
        "{loss} against {step}: from {first} at {first_step} to {last} at {last_step}; "
        "the lowest is {low} at {low_step}."
    )
    one_point_alt: str = "{loss} against {step}: {first} at {first_step}."
    encoder_heads: str = "encoder heads"
    decoder_heads: str = "decoder heads"
    more_decoder_heads: str = "▲ more decoder heads"
    fewer_decoder_heads: str = "▼ fewer decoder heads"
    against: str = "against"
    head_counts_alt: str = "Encoder heads against decoder heads of published models:"
    empty_curve_alt: str = "{loss} against {step}: nothing recorded yet."
    comparison_alt: str = "{y} against {x}."
    points_alt: str = "{line}: {points}."
    marked_alt: str = "Marked: {x} {at}, {mark}."


ENGLISH = FigureWords()
