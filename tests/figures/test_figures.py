"""What plotly is given. How it is drawn is looked at in a real browser, in tests/browser."""

import json

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest

from attention.figures import FigureWords, attention_chart, comparison_chart, loss_chart, similarity_chart
from attention.figures.cell_text import text_layers
from attention.figures.colors import contrast, plotly_colorscale
from attention.figures.layout import base_layout
from attention.figures.palette import DARK, LIGHT, palette
from attention.figures.text import literal

THEMES = ("light", "dark")
ZERO_WIDTH = "\u200b"


def attention_figure(*arrays, **options):
    return attention_chart(*arrays, **options).figure


def similarity_figure(matrix, **options):
    return similarity_chart(matrix, **options).figure


def loss_figure(*arrays, **options):
    return loss_chart(*arrays, **options).figure


def comparison_figure(*arrays, **options):
    return comparison_chart(*arrays, **options).figure


def rows_of(q_len, kv_len, seed=0):
    weights = np.random.default_rng(seed).random((q_len, kv_len))
    return weights / weights.sum(axis=1, keepdims=True)


def written(fig):
    """The text in the cells, over all inks: rows of columns."""
    layers = [trace.text for trace in fig.data[1:]]
    return [
        ["".join(layer[i][j] for layer in layers).replace(ZERO_WIDTH, "") for j in range(len(layers[0][0]))]
        for i in range(len(layers[0]))
    ]


def rgb(color):
    if color.startswith("#"):
        return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))
    return tuple(float(part) for part in color[4:-1].split(","))


def drawn_color(scale, position):
    """The colour that plotly gives a cell: it mixes the two nearest stops in RGB."""
    stops = plotly_colorscale(scale)
    places, colors = zip(*stops, strict=True)
    return [np.interp(position, places, [rgb(color)[i] for color in colors]) for i in range(3)]


@pytest.mark.parametrize(
    "labels",
    [
        ("the", "cat", "the"),
        ("1", "2", "10"),
        ("2024-01-01", "1e5", "nan"),
        ("", " ", "\n"),
        ("猫", "👩‍👩‍👧", "e\u0301"),
    ],
)
def test_every_label_keeps_its_own_column_and_row(labels):
    fig = attention_figure(np.eye(3), labels, labels)
    assert fig.data[0].z.shape == (3, 3)
    for axis, positions in ((fig.layout.xaxis, fig.data[0].x), (fig.layout.yaxis, fig.data[0].y)):
        assert axis.type == "linear"
        assert list(axis.tickvals) == list(positions) == [0, 1, 2]
        assert len(axis.ticktext) == 3
    assert all(isinstance(text, str) for text in fig.layout.xaxis.ticktext)


def test_markup_is_shown_as_it_is():
    tokens = ["<s>", "a<b>c", "<br>x", "$x$", "&lt;", "%{x}", "<extra>"]
    shown = ["&lt;s&gt;", "a&lt;b&gt;c", "&lt;br&gt;x", "&#36;x&#36;", "&amp;lt;", "%{x}", "&lt;extra&gt;"]
    fig = attention_figure(np.eye(7), tokens, tokens, title="<b>$t$</b>", row_title="<i>", col_title="$k$")
    assert list(fig.layout.xaxis.ticktext) == list(fig.layout.yaxis.ticktext) == shown
    assert fig.layout.title.text == "&lt;b&gt;&#36;t&#36;&lt;/b&gt;"
    assert (fig.layout.yaxis.title.text, fig.layout.xaxis.title.text) == ("&lt;i&gt;", "&#36;k&#36;")
    for i, row in enumerate(fig.data[0].hovertext):
        for j, text in enumerate(row):
            assert text.split("<br>")[:2] == [f"query {i + 1}: {shown[i]}", f"key {j + 1}: {shown[j]}"]
    assert fig.data[0].hovertemplate is None  # in a template, %{x} would be filled in
    json.loads(pio.to_json(fig))
    assert "</script" not in fig.to_html(include_plotlyjs=False).split("newPlot", 1)[1].split("</script>")[0]


def test_first_row_is_on_top_and_first_column_on_the_left():
    fig = attention_figure(rows_of(3, 2), list("abc"), list("xy"))
    assert tuple(fig.layout.yaxis.range) == (2.5, -0.5)  # downwards
    assert tuple(fig.layout.xaxis.range) == (-0.5, 1.5)
    assert fig.layout.yaxis.autorange is False
    assert list(fig.layout.yaxis.ticktext) == ["a", "b", "c"]
    similar = similarity_figure(np.eye(3))
    assert tuple(similar.layout.yaxis.range) == (2.5, -0.5)
    assert list(similar.layout.xaxis.ticktext) == ["1", "2", "3"]


def test_rows_are_queries_and_columns_are_keys():
    weights = rows_of(2, 3)
    fig = attention_figure(weights, ["n", "aɪ"], ["k", "n", "i"])
    assert fig.layout.yaxis.title.text == "query (decoder)"
    assert fig.layout.xaxis.title.text == "key (encoder)"
    assert fig.data[0].z.dtype == np.float32
    np.testing.assert_allclose(fig.data[0].z, weights, rtol=1e-6)
    assert fig.data[0].hovertext[1][2] == f"query 2: aɪ<br>key 3: i<br>weight {weights[1, 2]:.3f}"


def test_one_scale_for_all_heads():
    """A uniform head and a one-hot head use the same colours for the same numbers."""
    for weights in (np.full((5, 7), 1 / 7), np.eye(5, 7)):
        trace = attention_figure(weights, list("abcde"), list("abcdefg")).data[0]
        assert (trace.zmin, trace.zmax) == (0, 1)
        assert trace.coloraxis is None
    trace = similarity_figure(np.full((3, 3), 0.5)).data[0]
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_cells_that_may_not_be_attended_are_blank():
    causal = np.tril(np.ones((3, 3), dtype=bool))
    fig = attention_figure(causal / causal.sum(axis=1, keepdims=True), list("abc"), list("abc"), allowed=causal)
    np.testing.assert_array_equal(np.isnan(fig.data[0].z), ~causal)
    assert written(fig) == [["1.00", "", ""], ["0.50", "0.50", ""], ["0.33", "0.33", "0.33"]]
    assert fig.data[0].hovertext[0][1].endswith("<br>may not attend")


@pytest.mark.parametrize("allowed", [None, np.array([[True, True], [False, False], [True, True]])])
def test_a_row_without_keys_says_so(allowed):
    fig = attention_figure(np.array([[0.5, 0.5], [0, 0], [1, 0]]), list("abc"), list("xy"), allowed=allowed)
    assert np.isnan(fig.data[0].z[1]).all()
    assert [(note.text, note.y) for note in fig.layout.annotations] == [("no keys", 1)]
    assert fig.data[0].hovertext[1][0] == "query 2: b<br>key 1: x<br>no keys"
    assert written(fig)[2] == ["1.00", "0.00"]


def test_hover_does_not_round_to_nothing():
    fig = attention_figure(np.array([[0.0, 1e-5, 0.99999]]), ["a"], list("xyz"))
    assert [text.split("<br>")[2] for text in fig.data[0].hovertext[0]] == [
        "weight 0.000",
        "weight &lt; 0.001",
        "weight 1.000",
    ]


def test_numbers_are_left_out_where_nobody_could_read_them():
    for cols, traces in ((20, 3), (21, 1)):
        fig = attention_figure(np.eye(20, cols), [str(i) for i in range(20)], [str(i) for i in range(cols)])
        assert len(fig.data) == traces
    assert len(attention_figure(np.eye(3), list("abc"), list("abc"), show_numbers=False).data) == 1
    assert len(similarity_figure(np.eye(16)).data) > 1
    assert len(similarity_figure(np.eye(17)).data) == 1


def test_long_labels_are_thinned_but_hovers_keep_them():
    tokens = [f"a-rather-long-token-{i}" for i in range(60)]
    fig = attention_figure(np.eye(60), tokens, tokens)
    columns = fig.layout.xaxis
    assert len(columns.tickvals) <= 22
    assert list(columns.tickvals[:2]) == [0, 3]
    assert list(columns.ticktext) == ["a-rather-long…"] * len(columns.tickvals)
    assert (
        fig.data[0]
        .hovertext[58][59]
        .startswith("query 59: a-rather-long-token-58<br>key 60: a-rather-long-token-59<br>")
    )


def test_similarity_numbers_and_undefined_cells():
    matrix = np.array([[1, -0.256, np.nan], [-0.256, 1, np.nan], [np.nan, np.nan, np.nan]])
    fig = similarity_figure(matrix)
    assert written(fig) == [["1.00", "−0.26", "–"], ["−0.26", "1.00", "–"], ["–", "–", "–"]]
    assert fig.data[0].hovertext[0][1] == "heads 1 and 2<br>cosine −0.256"
    assert fig.data[0].hovertext[2][2] == "heads 3 and 3<br>cosine undefined"
    wide = np.full((17, 17), np.nan)
    assert {text for row in written(similarity_figure(wide)) for text in row} == {
        "–"
    }  # also where numbers are left out


def test_one_head():
    fig = similarity_figure(np.ones((1, 1)))
    assert list(fig.layout.xaxis.ticktext) == ["1"]
    assert written(fig) == [["1.00"]]


def test_one_cell():
    fig = attention_figure(np.ones((1, 1)), ["a"], ["b"])
    assert written(fig) == [["1.00"]]


@pytest.mark.parametrize(
    "theme, scale",
    [
        ("light", LIGHT.sequential),
        ("dark", DARK.sequential),
        ("light", LIGHT.diverging),
        ("dark", DARK.diverging),
    ],
)
def test_numbers_can_be_read_on_every_cell(theme, scale):
    positions = np.linspace(0, 1, 1001).reshape(7, 143)
    layers = text_layers([["x"] * 143] * 7, positions, scale, palette(theme))
    seen = np.zeros(positions.shape, dtype=int)
    for layer in layers:
        color = rgb(layer["textfont"]["color"])
        for at in np.argwhere(np.array(layer["text"]) == "x"):
            seen[tuple(at)] += 1
            assert contrast(color, drawn_color(scale, positions[tuple(at)])) >= 4.5
    assert (seen == 1).all()  # each text is written once


@pytest.mark.parametrize("theme, page", [("light", "#ffffff"), ("dark", "#0f141d"), ("dark", "#262730")])
def test_text_on_the_page_can_be_read(theme, page):
    for color in (palette(theme).ink, palette(theme).faint_ink):
        assert contrast(rgb(color), rgb(page)) >= 4.5
    label = base_layout(palette(theme), title=None, height=100)["hoverlabel"]
    assert contrast(rgb(label["font"]["color"]), rgb(label["bgcolor"])) >= 4.5


def test_all_inks_write_in_one_size():
    """plotly sizes each trace by its longest text and by the distance of neighbouring texts."""
    texts = [["1.00", "", "", "–"], ["", "", "", "0.50"], ["", "", "", ""]]
    positions = np.array([[1, 0, 0, np.nan], [0, 0, 0, 0.2], [0, 0, 0, 0]])
    layers = text_layers(texts, positions, LIGHT.sequential, LIGHT)
    assert len(layers) == 3
    for layer in layers:
        assert {len(text) for row in layer["text"] for text in row if text} == {4}
        assert layer["text"][0][0] and layer["text"][0][1] and layer["text"][1][0]
        assert layer["hoverinfo"] == "skip" and layer["showscale"] is False


def every_figure(theme):
    causal = np.tril(np.ones((3, 3), dtype=bool))
    labels = ["<s>", "n", "n"]
    matrix = np.array([[1, np.nan], [np.nan, np.nan]])
    yield attention_figure(rows_of(3, 3) * causal, labels, labels, allowed=causal, theme=theme, title="Head 1")
    yield attention_figure(np.array([[0.0, 0], [0, 1]]), ["a", "b"], ["a", "b"], theme=theme, height=300)
    yield similarity_figure(matrix, theme=theme, title="Heads")
    yield loss_figure([], [], theme=theme)
    yield loss_figure([1, 2], [3.0, np.nan], theme=theme, title="Training", num_steps=10)
    yield comparison_figure([1, 2], {"a": [0.5, np.nan]}, x_title="heads", y_title="share", theme=theme)
    lines = {"a": [0.5, 1], "b": [0, 0.1], "c": [1, 1]}
    yield comparison_figure(
        [4, 8], lines, x_title="x", y_title="y", marked=8, mark="trained", theme=theme, title="Heads"
    )


@pytest.mark.parametrize("theme", THEMES)
def test_every_figure_is_valid_and_fits_the_page(theme):
    for fig in every_figure(theme):
        checked = go.Figure(fig.to_dict())  # plotly checks every property here
        assert checked.layout.paper_bgcolor == "rgba(0,0,0,0)"
        assert max(checked.layout.margin[side] for side in "lrtb") <= 20
        assert checked.layout.font.size >= 12
        assert checked.layout.dragmode is False
        assert checked.layout.xaxis.title.text and checked.layout.yaxis.title.text
        assert checked.layout.xaxis.fixedrange and checked.layout.yaxis.fixedrange
        assert len(pio.to_json(fig)) < 12_000  # no template of plotly's own


def test_data_travels_as_typed_arrays():
    spec = json.loads(pio.to_json(attention_figure(rows_of(3, 5), list("abc"), list("abcde"))))
    assert {key: spec["data"][0]["z"][key] for key in ("dtype", "shape")} == {"dtype": "f4", "shape": "3, 5"}


def test_themes_differ_and_no_other_exists():
    light, dark = (attention_figure(np.eye(2), ["a", "b"], ["a", "b"], theme=theme) for theme in THEMES)
    assert light.data[0].colorscale != dark.data[0].colorscale
    with pytest.raises(ValueError, match="'blue'"):
        attention_figure(np.eye(2), ["a", "b"], ["a", "b"], theme="blue")


def test_words_can_be_of_another_language():
    words = FigureWords(query="Anfrage", key="Schlüssel", weight="Gewicht", no_keys="keine <Schlüssel>")
    fig = attention_figure(np.array([[1.0], [0.0]]), ["a", "b"], ["x"], words=words)
    assert fig.data[0].hovertext[0][0] == "Anfrage 1: a<br>Schlüssel 1: x<br>Gewicht 1.000"
    assert fig.layout.annotations[0].text == literal("keine <Schlüssel>") == "keine &lt;Schlüssel&gt;"


@pytest.mark.parametrize(
    "weights, rows, cols, named",
    [
        (np.eye(3), list("ab"), list("abc"), "2 row labels for 3 rows"),
        (np.eye(3), list("abc"), list("abcd"), "4 column labels for 3 columns"),
        (np.zeros((0, 3)), [], list("abc"), r"\(0, 3\)"),
        (np.zeros((2, 3, 5)), [], [], r"\(2, 3, 5\)"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(weights, rows, cols, named):
    with pytest.raises(ValueError, match=named):
        attention_figure(weights, rows, cols)


def test_masks_and_matrices_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 2\).*float64"):
        attention_figure(np.eye(2), ["a", "b"], ["a", "b"], allowed=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        similarity_figure(np.ones((2, 3)))
    with pytest.raises(ValueError, match="3 steps for 2 losses"):
        loss_figure([1, 2, 3], [1, 2])


def test_loss_curve():
    fig = loss_figure([10, 20, 30], [3.0, np.inf, 1.0], num_steps=100)
    np.testing.assert_array_equal(fig.data[0].x, [10, 20, 30])
    np.testing.assert_array_equal(fig.data[0].y, np.array([3, np.nan, 1], dtype=np.float32))
    assert tuple(fig.layout.xaxis.range) == (0, 100)
    assert (fig.layout.xaxis.title.text, fig.layout.yaxis.title.text) == ("step", "loss")
    assert "markers" in loss_figure([10], [3.0]).data[0].mode  # one point has no line
