"""The shape ledger as a picture: tensors as blocks that flow from the memory and the decoder to the output.

    shape_flow(steps, current=4) -> HTML, for a style sheet with the classes named here

A block's sides follow its dimensions, to one scale for the whole picture: features go across, positions go down, and
heads are slices of a block. Nothing in it comes from a visitor. Classes: flow, lane (q, k, v, meet), arrow, block,
slices, slice (even, odd), dims, dim, and the states clash, failed, current and later.
"""

from html import escape

from attention.ledger import NamedShape, Step

ACROSS, DOWN = 168.0, 54.0  # px for the widest block and the longest sequence, without the gaps between slices
MIN_SLICE, MAPS_PER_ROW = 1.5, 8
SHORT = {"heads × head size": "features", "target (keys)": "target", "source (keys)": "source"}


def shape_flow(steps: tuple[Step, ...], current: int | None = None, *, description: str = "") -> str:
    """One part of the ledger as HTML.

    Args:
        steps: the steps of one attention operation, in order.
        current: the step to stand out, counted from 0; those after it are drawn faint. None: the whole picture.
        description: said to those who do not see the picture.
    """
    scale = _Scale(steps)
    lanes: dict[str, list[str]] = {"q": [], "k": [], "own k": [], "v": [], "own v": [], "meet": []}
    begun = set()
    for number, step in enumerate(steps):
        lane = _lane(step)
        state = "" if current is None else "current" if number == current else "later" if number > current else ""
        if lane != "meet" and lane not in begun:
            begun.add(lane)
            lanes[lane].append(
                _block(step.inputs[0], scale, _marks(steps, step.inputs[0]), state.replace("current", ""))
            )
        lanes[lane].append(_arrow(step, number, state))
        if step.output is not None:
            lanes[lane].append(_block(step.output, scale, _marks(steps, step.output), state, shared=_group(step)))
    body = "".join(f'<div class="lane {name}">{"".join(items)}</div>' for name, items in lanes.items() if items)
    return f'<div class="flow" role="img" aria-label="{escape(description)}">{body}</div>'


def _lane(step: Step) -> str:
    """Q, K and V are made side by side; from the scores on there is one way."""
    made = step.output.symbol if step.output else step.inputs[0].symbol
    if step.name in ("scores", "weights", "mix values", "merge heads", "project to O"):
        return "meet"
    if step.output is None and step.name.startswith("project to "):
        made = step.name.removeprefix("project to ")
    return made.rstrip("′").lower()


def _group(step: Step) -> int:
    """How many neighbouring heads are the same K/V head, after the step that shares them."""
    if not step.name.startswith("share"):
        return 1
    return dict(step.output.dims)["heads"] // dict(step.inputs[0].dims)["K/V heads"]


class _Scale:
    """Pixels for a feature and for a position, the same in the whole picture."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
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
    return len(shape.sizes) == 4 and shape.dims[3][0] != "head size"


def _marks(steps: tuple[Step, ...], shape: NamedShape) -> set[int]:
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


def _arrow(step: Step, number: int, state: str) -> str:
    weight = next((shape for shape in step.inputs if shape.symbol.startswith("W_")), None)
    text = step.name
    if weight is not None:
        text = f"{step.name}: {weight.symbol} {weight.sizes[0]} × {weight.sizes[1]}"
    failed = "" if step.ok else "failed"
    mark = "→" if step.ok else "✗"
    return f'<div class="arrow {state} {failed}"><span>{number + 1}. {escape(text)}</span><b>{mark}</b></div>'


def _block(shape: NamedShape, scale: _Scale, clashing: set[int], state: str, shared: int = 1) -> str:
    draw = _maps if _is_map(shape) else _heads if len(shape.sizes) == 4 else _plain
    dims = "".join(
        f'<span class="dim{" clash" if axis in clashing else ""}">{escape(SHORT.get(name, name))} {size}'
        f"{' ✗' if axis in clashing else ''}</span>"
        for axis, (name, size) in enumerate(shape.dims)
        if name != "batch"
    )
    classes = " ".join(filter(None, ("block", "clash" if clashing else "", state)))
    return (
        f'<div class="{classes}">{draw(shape, scale, shared)}<b>{escape(shape.symbol)}</b>'
        f'<div class="dims">{dims}</div></div>'
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
    cell = scale.position * (0.62 if count > MAPS_PER_ROW else 0.8)
    shades = ["odd" if head % 2 else "even" for head in range(count)]
    return _slices(shades, columns * cell, rows * cell, in_a_row=MAPS_PER_ROW)


def _slices(shades: list[str], width: float, height: float, in_a_row: int | None = None) -> str:
    width, height = max(width, MIN_SLICE if len(shades) > 1 else 3.0), max(height, 4.0)
    columns = min(len(shades), in_a_row or len(shades))
    slices = "".join(f'<i class="slice {shade}"></i>' for shade in shades)
    grid = f"grid-template-columns:repeat({columns},{width:.1f}px);grid-auto-rows:{height:.1f}px"
    return f'<div class="slices" style="{grid}">{slices}</div>'
