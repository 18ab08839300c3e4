"""Charts speak the language of the pages."""

from dataclasses import MISSING, fields

from attention.figures import FigureWords
from pages.shared.chart import figure_words


def test_the_catalogue_says_in_english_what_figures_say_by_themselves():
    """A figure in a notebook and on a page reads alike, and no text of either is missing in the other."""
    words = figure_words()
    for field in fields(FigureWords):
        if field.name != "form":
            default = field.default if field.default is not MISSING else field.default_factory()
            assert getattr(words, field.name) == default, field.name
    assert [words.form(count) for count in (0, 1, 2)] == ["other", "one", "other"]
