"""What a visitor has chosen: one frozen record, read from the address bar and written back to it.

It has the model and the view that all pages share, under the names used in the address, and for each page the values
of what that page declares in its `address.py`. Nothing here knows Streamlit or a page. A value of the address that is
not possible gives a notice and the nearest value that is.
"""

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

from attention import ModelConfig, StackConfig
from attention.config import ATTENTION_KINDS, KV_VARIANTS, divisors, listing
from attention.cross_attention import KV_WAYS
from attention.inspection.heads import Head
from attention.messages import Message
from attention.tasks import TASKS, get_task
from pages.shared.misspelt import misspelt
from pages.shared.parameters import Choice, Parameter, Whole, notice, number_in, shown
from pages.shared.switched_off import format_off, parse_off

MAX_HEADS, MAX_HEAD_DIM, MAX_WIDTH, MAX_LAYERS, MAX_SEED, MAX_STEP = 32, 128, 512, 6, 9999, 1_000_000
KEEPS = ("width", "size")
LONGEST_TEXT = 400  # of the address; a task's own limit is far below, and says so in its own sentence
KV_HEADS = ("enc_kv_heads", "dec_kv_heads")  # each a divisor of its side's heads, or left out
FITTED = (*KV_HEADS, "layer", "head", "kv_variant", "off")  # what `fitted` brings back to what the model can have


@dataclass(frozen=True)
class Settings:
    """Everything the pages can be told. Layers and heads count from 1.

    Attributes:
        enc_kv_heads, dec_kv_heads: None for as many K/V heads as there are heads.
        moment: the step of a training in the app whose weights are shown, where not its end.
        off: heads that are switched off, in the model's order.
        of_pages: what pages declare, with its value: `settings[VIEW]`, `settings.put(VIEW, "layers")`.
    """

    task: str = "spelling"
    text: str = "knight"
    enc_heads: int = 8
    enc_dim: int = 8
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
    seed: int = 0
    moment: int | None = None
    off: tuple[Head, ...] = ()
    of_pages: tuple[tuple[Parameter, object], ...] = ()

    def __getitem__(self, field: str | Parameter) -> object:
        """One setting: a field by its name, or what a page declares."""
        return getattr(self, field) if isinstance(field, str) else self._by_name.get(field.name, field.default)

    def put(self, field: str | Parameter, value: object) -> Self:
        """The same with one setting changed."""
        if isinstance(field, str):
            return replace(self, **{field: value})
        changed = {parameter.name: (parameter, kept) for parameter, kept in self.of_pages}
        changed[field.name] = field, value
        return replace(self, of_pages=tuple(changed.values()))

    @cached_property
    def _by_name(self) -> dict[str, object]:  # a name is looked up some hundred times a run
        return {parameter.name: value for parameter, value in self.of_pages}

    @cached_property
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

        In cross-attention that is for the K/V way to say.
        """
        if kind == "cross":
            return KV_WAYS[self.kv].kv_heads_shared(self.config)
        return self.enc_kv_heads or self.enc_heads if kind == "encoder" else self.dec_kv_heads or self.dec_heads

    def fitted(self) -> Self:
        """The same with K/V heads, layer, head, variant and heads that are off brought back to what the model has."""
        variants = KV_VARIANTS[self.kv]
        there = {kind: (self.layers_of(kind), self.heads_of(kind)) for kind in ATTENTION_KINDS}
        off = tuple(h for h in self.off if h.layer < there[h.kind][0] and h.number < there[h.kind][1])
        return replace(
            self,
            off=off,
            enc_kv_heads=_kv_heads_for(self.enc_heads, self.enc_kv_heads),
            dec_kv_heads=_kv_heads_for(self.dec_heads, self.dec_kv_heads),
            layer=min(self.layer, self.layers_of(self.kind)),
            head=min(self.head, self.heads_of(self.kind)),
            kv_variant=self.kv_variant if self.kv_variant in variants else next(iter(variants), None),
        )

    def with_config(self, config: ModelConfig) -> Self:
        """The settings that describe another model: what a suggestion applies."""
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

    def sound(self) -> Self:
        """The same without the faults that pages put into the model."""
        return replace(self, of_pages=tuple((p, p.default if p.fault else value) for p, value in self.of_pages))

    def first_looked_at(self) -> Self:
        """The same without what was chosen while looking at one ledger of shapes."""
        return replace(self, of_pages=tuple((p, p.default if p.in_ledger else value) for p, value in self.of_pages))

    def first_visit(self) -> Self:
        """What somebody sees who opens the app without an address."""
        return Settings(of_pages=tuple((parameter, parameter.default) for parameter, _ in self.of_pages))

    def same_model(self, other: "Settings") -> bool:
        """Whether both describe the same model; for settings that are fitted."""
        return all(self[name] == other[name] for name in ("task", *MODEL))

    def same_ledger(self, other: "Settings") -> bool:
        """Whether both show the same kind of attention of the same model, with the same faults."""
        faults = [[value for parameter, value in one.of_pages if parameter.fault] for one in (self, other)]
        return self.same_model(other) and self.kind == other.kind and faults[0] == faults[1]

    def differences(self, other: "Settings") -> list[tuple[str, object, object]]:
        """What the model of `other` has that this one has not, as (name, here, there)."""
        found = []
        for field in (*MODEL, "seed", *(parameter for parameter, _ in self.of_pages if parameter.fault)):
            name = field if isinstance(field, str) else field.name
            here, there = self[field], other[field]
            if here != there and name in KV_HEADS:  # None is as many as heads
                heads = name.replace("_kv", "")
                here, there = here or self[heads], there or other[heads]
            if here != there:
                found.append((name, here, there))
        return found

    def to_address(self, of_page: Iterable[Parameter] = ()) -> dict[str, str]:
        """Names and values for the address bar: nothing for a first visit, else `whole_address`.

        A bare address goes along with whatever the defaults will be.
        """
        return {} if self == self.first_visit() else self.whole_address(of_page)

    def whole_address(self, of_page: Iterable[Parameter] = ()) -> dict[str, str]:
        """Names and values of all that does not follow from the rest, so that who shares a picture shares that one.

        What only other pages have is written where it is not the default. A text that is too long for its task is left
        out: it is refused, and nobody is helped by an address of thousands of letters.

        Args:
            of_page: what is declared by the page that is shown.
        """
        shared = {field.name: self[field.name] for field in fields(self) if field.name != "of_pages"}
        shared["off"] = format_off(self.off, self.config) or None
        shared["text"] = None if get_task(self.task).is_too_long(self.text) else self.text
        for name in ("enc_dim", "dec_dim"):  # the decoder's may follow from the encoder's
            if _follow_keep(self, shared.keys() - {"dec_dim", name})[name] == self[name]:
                del shared[name]
        of_page = set(of_page)
        written = {p: value for p, value in self.of_pages if p in of_page or value != p.default}
        of_pages = {p.name: p.word(value) for p, value in written.items() if value is not None}
        return {name: str(value) for name, value in (shared | of_pages).items() if value is not None}


def _whole(name: str, low: int, high: int) -> Whole:
    return Whole(name, getattr(Settings, name), low=low, high=high)


def _choice(name: str, allowed: Iterable[str]) -> Choice:
    return Choice(name, getattr(Settings, name), allowed=tuple(allowed))


# What all pages share, but for what depends on other values (`DEPENDENT`).
SHARED = (
    _choice("task", TASKS),
    _choice("kv", KV_VARIANTS),
    _choice("keep", KEEPS),
    _choice("kind", ATTENTION_KINDS),
    *(
        _whole(f"{side}_{what}", 1, high)
        for side in ("enc", "dec")
        for what, high in (("heads", MAX_HEADS), ("dim", MAX_HEAD_DIM), ("layers", MAX_LAYERS), ("width", MAX_WIDTH))
    ),
    _whole("seed", 0, MAX_SEED),
    _whole("moment", 0, MAX_STEP),
)
RANGES = {parameter.name: (parameter.low, parameter.high) for parameter in SHARED if isinstance(parameter, Whole)}
MODEL = (*(name for name in RANGES if name[:3] in ("enc", "dec")), *KV_HEADS, "kv", "kv_variant")
DEPENDENT = {*KV_HEADS, "text", "width", "kv_variant", "layer", "head", "off"}


def head_dim_for(total_width: int, num_heads: int) -> int:
    """The head size that keeps a total width, or comes closest below where it does not divide."""
    return min(max(total_width // num_heads, 1), MAX_HEAD_DIM)


def _kv_heads_for(num_heads: int, wanted: int | None) -> int | None:
    """The possible number of K/V heads nearest to the wanted one (of two, the larger); None for as many as heads."""
    if wanted is None:
        return None
    nearest = min(divisors(num_heads), key=lambda number: (abs(number - wanted), -number))
    return None if nearest == num_heads else nearest


def read_address(params: Mapping[str, str], of_pages: Iterable[Parameter] = ()) -> tuple[Settings, list[Message]]:
    """Settings from the address bar, and a notice for each value that could not be used as given.

    `width` sets both widths. A head size that is not given follows from `keep`: the total width of each side is its
    width, or (`keep=size`) the decoder's heads have the encoder's size.
    """
    settings = Settings(of_pages=tuple((parameter, parameter.default) for parameter in of_pages))
    known = (*SHARED, *(parameter for parameter, _ in settings.of_pages))
    names = DEPENDENT | {parameter.name for parameter in known}
    given = {name: value for name, value in params.items() if name in names}
    notices = [misspelt(name, names) for name in params if name not in names]
    if not given:
        return settings, [told for told in notices if told is not None]

    def read(parameter: Parameter) -> object:
        value, told = parameter.read(given[parameter.name])
        notices.append(told)
        return value

    if "width" in given:
        width = given.pop("width")
        given = {"enc_width": width, "dec_width": width} | given
    for parameter in known:
        if parameter.name in given:
            settings = settings.put(parameter.name if parameter in SHARED else parameter, read(parameter))
    if "text" in given or "task" in given:
        settings = replace(settings, text=_read_text(settings.task, given.get("text"), notices))
    settings = replace(settings, **_follow_keep(settings, given))
    for name, heads in zip(KV_HEADS, ("enc_heads", "dec_heads"), strict=True):
        if name in given:
            settings = settings.put(name, _read_kv_heads(name, given[name], heads, settings[heads], notices))
    settings = replace(settings, kv_variant=_read_variant(settings.kv, given.get("kv_variant"), notices))
    last, most = settings.layers_of(settings.kind), settings.heads_of(settings.kind)
    for parameter in (Whole("layer", last, low=1, high=last), Whole("head", Settings.head, low=1, high=most)):
        settings = settings.put(parameter.name, read(parameter) if parameter.name in given else parameter.default)
    settings = settings.fitted()
    if "off" in given:
        off, told = parse_off(given["off"], settings.config)
        settings, notices = replace(settings, off=off), [*notices, *told]
    return settings, [told for told in notices if told is not None]


def _read_text(task: str, text: str | None, notices: list[Message | None]) -> str:
    """The text as typed, up to a limit; the task's first example where there is none."""
    if text is None:
        return get_task(task).examples[0]
    if len(text) > LONGEST_TEXT:
        english = "The text in the address was cut after {limit} characters."
        notices.append(notice("cut_text", english, limit=LONGEST_TEXT))
    return text[:LONGEST_TEXT]


def _follow_keep(settings: Settings, given: Container[str]) -> dict[str, int]:
    """Both head sizes, as they follow from the rest where the address leaves them out."""
    enc_dim = settings.enc_dim if "enc_dim" in given else head_dim_for(settings.enc_width, settings.enc_heads)
    if "dec_dim" in given:
        dec_dim = settings.dec_dim
    elif settings.keep == "size":
        dec_dim = enc_dim
    else:
        dec_dim = head_dim_for(settings.dec_width, settings.dec_heads)
    return {"enc_dim": enc_dim, "dec_dim": dec_dim}


def _read_kv_heads(name: str, text: str, heads_name: str, num_heads: int, notices: list[Message | None]) -> int | None:
    """A divisor of the heads, the nearest one with a notice, or None for as many as heads."""
    number, allowed = number_in(text), listing(divisors(num_heads))
    values = {"name": name, "text": shown(text), "heads_name": heads_name, "heads": num_heads, "allowed": allowed}
    if math.isnan(number):
        english = (
            "{name}={text} is not a number: with {heads_name}={heads} the possible ones are {allowed}; {heads} is used."
        )
        notices.append(notice("no_number_of_kv_heads", english, **values))
        return None
    possible = _kv_heads_for(num_heads, int(min(max(number, 1), MAX_HEADS)))
    if (possible or num_heads) != number:
        english = "{name}={text} is not possible: with {heads_name}={heads} it can be {allowed}; {used} is used."
        notices.append(notice("impossible_kv_heads", english, **values, used=possible or num_heads))
    return possible


def _read_variant(kv: str, text: str | None, notices: list[Message | None]) -> str | None:
    """A variant of this K/V way, or None for its usual one."""
    variants = KV_VARIANTS[kv]
    if text is None or text in variants:
        return text
    values = {"text": shown(text), "kv": kv}
    if variants:
        english = "kv_variant={text} is not known for kv={kv}: {allowed}; {used} is used."
        notices.append(notice("unknown_variant", english, **values, allowed=", ".join(variants), used=variants[0]))
    else:
        english = "kv_variant={text} does not apply: kv={kv} has no variants; it is left out."
        notices.append(notice("no_variants", english, **values))
    return None
