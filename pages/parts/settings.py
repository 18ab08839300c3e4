"""What a visitor has chosen: one frozen record, read from the address bar and written back to it.

Nothing here knows Streamlit, so that an address can be tested as what it is: input like any other. A value that is
not possible gives a notice and the nearest value that is.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from attention import ModelConfig, StackConfig
from attention.anchors import KINDS as DISTURBANCES
from attention.config import KV_VARIANTS, divisors, listing
from attention.inspection import KINDS
from attention.metrics.measures import MEASURES
from attention.silent import SILENT_FAILURES
from attention.tasks import TASKS, get_task
from attention.trace import FAULTS
from pages.parts.compare_address import from_word

MAX_HEADS, MAX_HEAD_DIM, MAX_WIDTH, MAX_LAYERS, MAX_SEED, MAX_STEP = 32, 128, 512, 6, 9999, 1_000_000
VIEWS = ("heads", "layers")
LINES = ("all", "one")  # of the heads, while a word is said step by step
KEEPS = ("width", "size")
PARTS = ("pairs", "layers", "removal", "twins", "shared")  # of the page Redundancy
EXPERIMENTS = (*DISTURBANCES, "misuse", "other")  # on the page Anchors
LONGEST_TEXT = 400  # of the address; a task's own limit is far below, and says so in its own sentence

# How each whole number may vary. `layer` and `head` end where the model ends.
RANGES = {
    "enc_heads": (1, MAX_HEADS),
    "enc_dim": (1, MAX_HEAD_DIM),
    "enc_layers": (1, MAX_LAYERS),
    "enc_width": (1, MAX_WIDTH),
    "dec_heads": (1, MAX_HEADS),
    "dec_dim": (1, MAX_HEAD_DIM),
    "dec_layers": (1, MAX_LAYERS),
    "dec_width": (1, MAX_WIDTH),
    "seed": (0, MAX_SEED),
    "step": (1, MAX_STEP),
    "moment": (0, MAX_STEP),
}
CHOICES = {
    "task": tuple(TASKS),
    "kv": tuple(KV_VARIANTS),
    "keep": KEEPS,
    "kind": KINDS,
    "view": VIEWS,
    "fault": tuple(FAULTS),
    "demo": tuple(SILENT_FAILURES),
    "lines": LINES,
    "part": PARTS,
    "measure": tuple(MEASURES),
    "experiment": EXPERIMENTS,
}
KV_HEADS = ("enc_kv_heads", "dec_kv_heads")  # each a divisor of its side's heads, or left out
NAMES = {*RANGES, *CHOICES, *KV_HEADS, "text", "width", "kv_variant", "layer", "head", "compare"}


@dataclass(frozen=True)
class Settings:
    """Everything the pages can be told, under the names used in the address bar. Layers and heads count from 1.

    `enc_kv_heads` and `dec_kv_heads` are None for as many K/V heads as there are heads.
    """

    task: str = "spelling"
    text: str = "knight"
    enc_heads: int = 4
    enc_dim: int = 16
    enc_layers: int = 2
    enc_width: int = 64
    dec_heads: int = 8
    dec_dim: int = 8
    dec_layers: int = 2
    dec_width: int = 64
    enc_kv_heads: int | None = None
    dec_kv_heads: int | None = None
    kv: str = "reproject"
    kv_variant: str | None = None
    keep: str = "width"
    kind: str = "cross"
    layer: int = 2
    head: int = 1
    view: str = "heads"
    lines: str = "all"
    seed: int = 0
    fault: str | None = None  # a coding fault for the shape ledger to put in
    demo: str | None = None  # a failure that raises nothing, to be run and shown
    step: int | None = None  # of the decoding, on the page Anchors
    moment: int | None = None  # the step of a training in the app whose weights are shown, where not its end
    part: str | None = None  # of the page Redundancy; of these three, None is the first one
    measure: str | None = None  # of likeness, on that page
    experiment: str | None = None  # what is done to the anchor
    compare: str | None = None  # what the page Fixes compared compares, where not what it opens on

    @property
    def config(self) -> ModelConfig:
        """The model these settings describe."""
        task = get_task(self.task)
        sides = {
            side: StackConfig(
                d_model=getattr(self, f"{short}_width"),
                num_heads=getattr(self, f"{short}_heads"),
                head_dim=getattr(self, f"{short}_dim"),
                num_layers=getattr(self, f"{short}_layers"),
                num_kv_heads=getattr(self, f"{short}_kv_heads"),
            )
            for side, short in (("encoder", "enc"), ("decoder", "dec"))
        }
        return ModelConfig(
            **sides,
            kv=self.kv,
            kv_variant=self.kv_variant,
            src_vocab_size=len(task.src_vocab),
            tgt_vocab_size=len(task.tgt_vocab),
            bias=True,
        )

    def layers_of(self, kind: str) -> int:
        """How many layers have attention of this kind."""
        return self.enc_layers if kind == "encoder" else self.dec_layers

    def heads_of(self, kind: str) -> int:
        """How many heads such a layer has: cross-attention has the decoder's."""
        return self.enc_heads if kind == "encoder" else self.dec_heads

    def shared_by(self, kind: str) -> int:
        """How many K/V heads the query heads of this kind share; as many as there are heads where nothing is shared.

        Cross-attention has the K/V heads of whoever makes them. Only "grouped" shares the encoder's on purpose: the
        other ways need or make as many as the decoder has heads, and "direct" with a single one has its own text.
        """
        heads = self.heads_of(kind)
        if kind == "encoder" or (kind == "cross" and self.kv == "grouped"):
            return min(self.enc_kv_heads or self.enc_heads, heads)
        return self.dec_kv_heads or heads if kind == "decoder" or self.kv == "reproject" else heads

    def fitted(self) -> "Settings":
        """The same with K/V heads, layer, head and variant brought back to what the model can have."""
        variants = KV_VARIANTS[self.kv]
        return replace(
            self,
            enc_kv_heads=_kv_heads_for(self.enc_heads, self.enc_kv_heads),
            dec_kv_heads=_kv_heads_for(self.dec_heads, self.dec_kv_heads),
            layer=min(self.layer, self.layers_of(self.kind)),
            head=min(self.head, self.heads_of(self.kind)),
            kv_variant=self.kv_variant if self.kv_variant in variants else next(iter(variants), None),
        )

    def with_config(self, config: ModelConfig) -> "Settings":
        """The settings that describe another model: what a button that mends an error applies."""
        enc, dec = config.encoder, config.decoder
        return replace(
            self,
            enc_heads=enc.num_heads,
            enc_dim=enc.head_dim,
            enc_layers=enc.num_layers,
            enc_width=enc.d_model,
            enc_kv_heads=enc.num_kv_heads,
            dec_heads=dec.num_heads,
            dec_dim=dec.head_dim,
            dec_layers=dec.num_layers,
            dec_width=dec.d_model,
            dec_kv_heads=dec.num_kv_heads,
            kv=config.kv,
            kv_variant=config.kv_variant,
        ).fitted()

    def without_fault(self) -> "Settings":
        """The same with the coding fault taken out."""
        return replace(self, fault=None)

    def differences(self, other: "Settings") -> list[tuple[str, object, object]]:
        """What the model of `other` has that this one has not, as (name, here, there)."""
        found = []
        for name in (*RANGES, *KV_HEADS, "kv", "kv_variant", "fault"):
            here, there = getattr(self, name), getattr(other, name)
            if here != there and name in KV_HEADS:  # None is as many as heads
                heads = name.replace("_kv", "")
                here, there = here or getattr(self, heads), there or getattr(other, heads)
            if here != there:
                found.append((name, here, there))
        return found

    def to_address(self) -> dict[str, str]:
        """Names and values for the address bar; nothing for a first visit, and everything as soon as one differs."""
        if self == Settings():
            return {}
        return {name: str(value) for name, value in asdict(self).items() if value is not None}


def head_dim_for(total_width: int, num_heads: int) -> int:
    """The head size that keeps a total width, or comes closest below where it does not divide."""
    return min(max(total_width // num_heads, 1), MAX_HEAD_DIM)


def _kv_heads_for(num_heads: int, wanted: int | None) -> int | None:
    """The possible number of K/V heads nearest to the wanted one (of two, the larger); None for as many as heads."""
    if wanted is None:
        return None
    nearest = min(divisors(num_heads), key=lambda number: (abs(number - wanted), -number))
    return None if nearest == num_heads else nearest


# The article's situations, in miniature: what to change, by the name of the preset.
EQUAL = {"enc_heads": 8, "enc_dim": 8, "dec_heads": 8, "dec_dim": 8, "enc_width": 64, "dec_width": 64}
PRESETS: dict[str, dict] = {
    "equal": {**EQUAL, "kv": "reproject"},
    "problem_1": {**EQUAL, "dec_heads": 16, "dec_dim": 4, "kv": "reproject", "keep": "width"},
    "problem_2": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "reproject", "keep": "size"},
    "problem_3": {**EQUAL, "dec_dim": 4, "kv": "direct", "keep": "size"},
    "mismatch": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "direct", "keep": "size"},
    "fix_1": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "projection", "keep": "size"},
    "fix_2": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "grouped", "keep": "size"},
    "fix_3": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "extra", "keep": "size"},
}


def apply_preset(settings: Settings, name: str) -> Settings:
    """One of the article's situations, shown at the last layer's cross-attention; task and text stay."""
    shown = {
        "enc_layers": 2,
        "dec_layers": 2,
        "kind": "cross",
        "layer": 2,
        "head": 1,
        "kv_variant": None,
        "fault": None,
        **dict.fromkeys(KV_HEADS),  # as many as heads
    }
    return replace(settings, **{**shown, **PRESETS[name]}).fitted()


def situation_of(settings: Settings) -> str | None:
    """The article's situation that these settings are."""
    return next((name for name in PRESETS if apply_preset(settings, name).config == settings.config), None)


def read_address(params: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """Settings from the address bar, and a sentence for each value that could not be used as given.

    `width` sets both widths. A head size that is not given follows from `keep`: the total width of each side is its
    width, or (`keep=size`) the decoder's heads have the encoder's size.
    """
    given = {name: value for name, value in params.items() if name in NAMES}
    if not given:
        return Settings(), []
    notices: list[str] = []
    if "width" in given:
        width = given.pop("width")
        given = {"enc_width": width, "dec_width": width} | given
    values: dict = {}
    for name, allowed in CHOICES.items():
        if name in given:
            values[name] = _read_choice(name, given[name], allowed, notices)
    for name, (low, high) in RANGES.items():
        if name in given:
            values[name] = _read_number(name, given[name], low, high, notices)
    if "compare" in given:
        values["compare"] = _read_comparison(given["compare"], notices)
    if values.get("task") and "text" not in given:
        values["text"] = get_task(values["task"]).examples[0]
    if "text" in given:
        values["text"] = given["text"][:LONGEST_TEXT]
        if len(given["text"]) > LONGEST_TEXT:
            notices.append(f"The text in the address was cut after {LONGEST_TEXT} characters.")
    settings = replace(Settings(), **{name: value for name, value in values.items() if value is not None})
    settings = _follow_keep(settings, given)
    for name, heads in zip(KV_HEADS, ("enc_heads", "dec_heads"), strict=True):
        if name in given:
            count = _read_kv_heads(name, given[name], heads, getattr(settings, heads), notices)
            settings = replace(settings, **{name: count})
    settings = replace(settings, kv_variant=_read_variant(settings.kv, given.get("kv_variant"), notices))
    settings = replace(settings, layer=settings.layers_of(settings.kind))
    for name, count in (("layer", settings.layers_of(settings.kind)), ("head", settings.heads_of(settings.kind))):
        if name in given:
            value = _read_number(name, given[name], 1, count, notices)
            settings = replace(settings, **{name: value or getattr(settings, name)})
    return settings.fitted(), notices


def _follow_keep(settings: Settings, given: Mapping[str, str]) -> Settings:
    """Fill in the head sizes that the address leaves out."""
    enc_dim = settings.enc_dim if "enc_dim" in given else head_dim_for(settings.enc_width, settings.enc_heads)
    if "dec_dim" in given:
        dec_dim = settings.dec_dim
    elif settings.keep == "size":
        dec_dim = enc_dim
    else:
        dec_dim = head_dim_for(settings.dec_width, settings.dec_heads)
    return replace(settings, enc_dim=enc_dim, dec_dim=dec_dim)


def _read_kv_heads(name: str, text: str, heads_name: str, num_heads: int, notices: list[str]) -> int | None:
    """A divisor of the heads, the nearest one with a notice, or None for as many as heads."""
    number, allowed = _number_in(text), listing(divisors(num_heads))
    if math.isnan(number):
        notices.append(
            f"{name}={_shown(text)} is not a number: with {heads_name}={num_heads} the possible ones are {allowed}; "
            f"{num_heads} is used."
        )
        return None
    possible = _kv_heads_for(num_heads, int(min(max(number, 1), MAX_HEADS)))
    if (possible or num_heads) != number:
        notices.append(
            f"{name}={_shown(text)} is not possible: with {heads_name}={num_heads} it can be {allowed}; "
            f"{possible or num_heads} is used."
        )
    return possible


def _read_variant(kv: str, text: str | None, notices: list[str]) -> str | None:
    """A variant of this way of feeding the heads, or None for its usual one."""
    variants = KV_VARIANTS[kv]
    if text is None or text in variants:
        return text
    if variants:
        notices.append(
            f"kv_variant={_shown(text)} is not known for kv={kv}: {', '.join(variants)}; {variants[0]} is used."
        )
    else:
        notices.append(f"kv_variant={_shown(text)} does not apply: kv={kv} has no variants; it is left out.")
    return None


def _read_number(name: str, text: str, low: int, high: int, notices: list[str]) -> int | None:
    """A whole number within its range, the nearest one with a notice, or None for the usual value."""
    number = _number_in(text)
    if math.isnan(number):
        notices.append(f"{name}={_shown(text)} is not a number: {low} to {high} are allowed; the usual value is used.")
        return None
    nearest = int(min(max(number, low), high))
    if nearest != number:
        notices.append(f"{name}={_shown(text)} is not possible: {low} to {high} are allowed; {nearest} is used.")
    return nearest


def _number_in(text: str) -> float:
    """The number that was written, or NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _read_choice(name: str, text: str, allowed: tuple[str, ...], notices: list[str]) -> str | None:
    """One of the allowed words, or None with a notice."""
    if text in allowed:
        return text
    usual = getattr(Settings(), name) or ("none" if name in ("fault", "demo") else allowed[0])
    notices.append(f"{name}={_shown(text)} is not known: {', '.join(allowed)}; {usual} is used.")
    return None


def _read_comparison(word: str, notices: list[str]) -> str | None:
    """A comparison that can be made, or None with a notice."""
    try:
        from_word(word)
    except ValueError as error:
        notices.append(f"compare={_shown(word)} {error}; the stored comparison is shown.")
        return None
    return word


def _shown(text: str) -> str:
    """A value from the address, short enough for a sentence."""
    return text if len(text) <= 24 else f"{text[:24]}…"
