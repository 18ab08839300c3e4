"""The shape ledger as a picture: tensors as blocks that flow from the memory and the decoder to the output.

    shape_flow(steps, current=4) -> HTML, for a style sheet with the classes named here

A block's sides follow its dimensions, to one scale for the whole picture: features go across, positions go down, and
heads are slices of a block; only maps are made smaller where they would not fit. Rows, and blocks within a row, stand
in the order of the steps. Nothing in it comes from a visitor. Classes: flow, lanes, lane (q, k, v, meet), group (what
is made from one tensor), block (a step with what it makes, or what a group begins with), step, drawn, arrow, slices,
slice (even, odd), names, dim, and the states clash, failed, current and later.
"""

from html import escape

from attention.shapes.ledger import LedgerStep, NamedShape
from pages.shared.ledger import dim_name, step_name, symbol_name

ACROSS, DOWN = 108.0, 22.0  # px for the widest block and the longest sequence, without the gaps between slices
MIN_SLICE, MAPS_PER_ROW = 1.5, 8
LANES = ("q", "k", "v", "meet")


def shape_flow(steps: tuple[LedgerStep, ...], current: int | None = None, *, description: str = "") -> str:
    """One part of the ledger as HTML.

    Args:
        steps: the steps of one attention operation, in order.
        current: the step to stand out, counted from 0; those after it are drawn faint. None: the whole picture.
        description: said to those who do not see the picture.
    """
    scale = _Scale(steps)
    lanes: dict[str, dict[bool, list[str]]] = {lane: {} for lane in LANES}
    for number, step in enumerate(steps):
        state = "" if current is None else "current" if number == current else "later" if number > current else ""
        lane, own = _lane(step)
        groups = lanes[lane]
        if own not in groups:
            groups[own] = []
            # The decoder's own states, from which Q is made, stand at the beginning of the picture.
            if lane != "meet" and not (own and step.inputs[0].symbol == steps[0].inputs[0].symbol):
                before = "later" if state == "later" else ""
                groups[own].append(_block(step.inputs[0], scale, _marks(steps, step.inputs[0]), before))
        groups[own].append(_made(steps, number, scale, state))
    most = max(sum(map(len, groups.values())) for groups in lanes.values())
    body = "".join(_lane_html(name, groups.values()) for name, groups in lanes.items() if groups)
    look = f'class="lanes" style="--most:{most}"'
    return f'<div class="flow" role="img" aria-label="{escape(description)}"><div {look}>{body}</div></div>'


def _lane_html(name: str, groups) -> str:
    inner = "".join(f'<div class="group">{"".join(blocks)}</div>' for blocks in groups)
    return f'<div class="lane {name}">{inner}</div>'


def _lane(step: LedgerStep) -> tuple[str, bool]:
    """Where a step stands, and whether among what begins with something of the decoder's own.

    Q, K and V are made one after the other; from the scores on there is one way.
    """
    if step.name in ("scores", "weights", "mix_values", "merge") or step.symbol == "O":
        return "meet", False
    made = step.output.symbol if step.output else step.symbol
    own = made.startswith("own_") or step.name in ("make_own", "join")
    return made.removeprefix("own_").rstrip("′").lower(), own


def _group(step: LedgerStep) -> int:
    """How many neighbouring heads are the same K/V head, after the step that shares them."""
    if step.name != "share":
        return 1
    return dict(step.output.dims)["heads"] // dict(step.inputs[0].dims)["kv_heads"]


class _Scale:
    """Pixels for a feature and for a position, the same in the whole picture."""

    def __init__(self, steps: tuple[LedgerStep, ...]) -> None:
        shapes = [shape for step in steps for shape in (*step.inputs, *([step.output] if step.output else []))]
        shapes = [shape for shape in shapes if not shape.symbol.startswith("W_")]
        self.feature = ACROSS / max(_features(shape) for shape in shapes)
        self.position = min(6.0, DOWN / max(_positions(shape) for shape in shapes))


def _features(shape: NamedShape) -> int:
    if _is_map(shape):
        return 1
    return shape.sizes[1] * shape.sizes[3] if len(shape.sizes) == 4 else shape.sizes[-1]


def _positions(shape: NamedShape) -> int:
    if _is_map(shape):
        return max(shape.sizes[2:])
    return shape.sizes[2] if len(shape.sizes) == 4 else shape.sizes[-2]


def _is_map(shape: NamedShape) -> bool:
    return len(shape.sizes) == 4 and shape.dims[3][0] != "head_dim"


def _marks(steps: tuple[LedgerStep, ...], shape: NamedShape) -> set[int]:
    """The axes of a block that clash, if it is what the failing step was given."""
    failed = steps[-1]
    if failed.ok:
        return set()
    return {
        clash.axes[side]
        for clash in failed.clashes
        for side, given in enumerate(failed.inputs)
        if given == shape and clash.axes[side] is not None
    }


def _made(steps: tuple[LedgerStep, ...], number: int, scale: _Scale, state: str) -> str:
    """A step, and what it makes."""
    step = steps[number]
    name = f"{number + 1}. {step_name(step)}"
    if step.output is None:
        return f'<div class="block failed {state}"><div class="step">✗ {escape(name)}</div></div>'
    return _block(step.output, scale, _marks(steps, step.output), state, step=name, shared=_group(step))


def _block(shape: NamedShape, scale: _Scale, clashing: set[int], state: str, *, step: str = "", shared: int = 1) -> str:
    draw = _maps if _is_map(shape) else _heads if len(shape.sizes) == 4 else _plain
    dims = "".join(
        f' <span class="dim{" clash" if axis in clashing else ""}">{escape(dim_name(name, short=True))} {size}'
        f"{' ✗' if axis in clashing else ''}</span>"
        for axis, (name, size) in enumerate(shape.dims)
        if name != "batch"
    )
    classes = " ".join(filter(None, ("block", "clash" if clashing else "", state)))
    arrow = '<b class="arrow">→</b>' if step else ""
    return (
        f'<div class="{classes}"><div class="step">{escape(step)}</div>'
        f'<div class="drawn">{arrow}{draw(shape, scale, shared)}</div>'
        f'<div class="names"><b>{escape(symbol_name(shape.symbol))}</b>{dims}</div></div>'
    )


def _plain(shape: NamedShape, scale: _Scale, shared: int) -> str:
    return _slices([""], _features(shape) * scale.feature, _positions(shape) * scale.position)


def _heads(shape: NamedShape, scale: _Scale, shared: int) -> str:
    """Slices side by side: the width of a slice is the head size. Heads that are one K/V head have one shade."""
    shades = ["odd" if head // shared % 2 else "even" for head in range(shape.sizes[1])]
    return _slices(shades, shape.sizes[3] * scale.feature, _positions(shape) * scale.position)


def _maps(shape: NamedShape, scale: _Scale, shared: int) -> str:
    """One small map for each head, a few in a row."""
    count, (rows, columns) = shape.sizes[1], shape.sizes[2:]
    across, down = min(count, MAPS_PER_ROW), -(-count // MAPS_PER_ROW)
    cell = min(0.8 * scale.position, ACROSS / (across * max(columns, 1)), 1.6 * DOWN / (down * max(rows, 1)))
    shades = ["odd" if head % 2 else "even" for head in range(count)]
    return _slices(shades, columns * cell, rows * cell, in_a_row=MAPS_PER_ROW)


def _slices(shades: list[str], width: float, height: float, in_a_row: int | None = None) -> str:
    width, height = max(width, MIN_SLICE if len(shades) > 1 else 3.0), max(height, 4.0)
    count = min(len(shades), in_a_row or len(shades))
    slices = "".join(f'<i class="slice {shade}"></i>' for shade in shades)
    # A style sheet says how large a pixel of the picture is.
    columns, rows = (f"calc({length:.1f} * var(--pixel))" for length in (width, height))
    grid = f"grid-template-columns:repeat({count},{columns});grid-auto-rows:{rows}"
    return f'<div class="slices" style="{grid}">{slices}</div>'
