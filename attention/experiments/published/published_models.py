"""What is published about encoder-decoder models: widths, heads, K/V heads and head sizes, each with its source.

Only figures that the source states are here; what it does not state is None or left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where a figure comes from: whose, which part of it, and its address."""

    name: str
    part: str
    url: str


@dataclass(frozen=True)
class Sources:
    """Where a model's figures come from: those of each side, and how the one reads the other's width.

    Of `bridge` there are none where nothing is said of it.
    """

    encoder: tuple[Source, ...]
    decoder: tuple[Source, ...]
    bridge: tuple[Source, ...] = ()

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Source]]:
        """Each source once, with what it is the source of."""
        named = {"encoder": self.encoder, "decoder": self.decoder, "bridge": self.bridge}
        every = dict.fromkeys(source for sources in named.values() for source in sources)
        return ((tuple(name for name, sources in named.items() if source in sources), source) for source in every)


@dataclass(frozen=True)
class Side:
    """One side's attention. `num_kv_heads` left at None becomes `num_heads`, as in `StackConfig`."""

    d_model: int
    num_heads: int
    head_dim: int
    num_kv_heads: int | None = None

    def __post_init__(self) -> None:
        if self.num_kv_heads is None:
            object.__setattr__(self, "num_kv_heads", self.num_heads)

    @property
    def total_width(self) -> int:
        """Heads × head size."""
        return self.num_heads * self.head_dim


@dataclass(frozen=True)
class PublishedModel:
    """A published encoder-decoder.

    Attributes:
        key: a name for addresses and texts.
        name: as its makers write it.
        encoder: self-attention of the encoder (of the last stage, where stages differ).
        decoder: the decoder's width, and the heads of its cross-attention.
        shrink: what widths are divided by in the miniature; a divisor of all widths.
        sources: of its figures.
        bridge: how cross-attention reads another width: "w_k" (W_K and W_V take the encoder's), "linear" (one linear
            layer before them), "side_by_side" (one linear layer that takes the states of six layers at once), "neck"
            (convolutions at the encoder's end), or None where nothing has to be bridged.
        self_kv_heads: K/V heads of the decoder's self-attention, where they differ from those of its cross-attention.
    """

    key: str
    name: str
    encoder: Side
    decoder: Side
    shrink: int
    sources: Sources
    bridge: str | None = None
    self_kv_heads: int | None = None


@dataclass(frozen=True)
class EqualModel:
    """A published encoder-decoder with as many heads on both sides."""

    name: str
    num_heads: int
    source: Source


def head_counts() -> dict[str, tuple[int, int]]:
    """Encoder and decoder heads of every model, by name; a name that stands for two models, "Donut, Nougat", is two."""
    counts = {model.name: (model.encoder.num_heads, model.decoder.num_heads) for model in PUBLISHED_MODELS}
    counts |= {model.name: (model.num_heads, model.num_heads) for model in EQUAL_MODELS}
    return {name: pair for names, pair in counts.items() for name in names.split(", ")}


def _github(repository: str, path: str) -> Source:
    return Source(repository, path, f"https://github.com/{repository}")


def _transformers(path: str) -> Source:
    return _github("huggingface/transformers", path)


def _config_of(name: str) -> Source:
    return Source(name, "config.json", f"https://huggingface.co/{name}")


def _class_defaults(name: str) -> Source:
    return _transformers(f"src/transformers/models/{name}/configuration_{name}.py: defaults")


def _both(source: Source, bridge: Source | None = None) -> Sources:
    return Sources((source,), (source,), (bridge,) if bridge else ())


_UNILM = _github("microsoft/unilm", "trocr/trocr_models.py")
_TROCR = Sources((_UNILM, _github("microsoft/unilm", "trocr/deit.py")), (_UNILM,), (_UNILM,))
_AUDIOCRAFT = "facebookresearch/audiocraft"
_T5GEMMA = _github("google-deepmind/gemma", "gemma/research/t5gemma/config.py")
_DONUT = Sources(
    (
        _transformers("src/transformers/models/donut/convert_donut_to_pytorch.py"),
        _transformers("src/transformers/models/nougat/convert_nougat_to_hf.py"),
    ),
    (_class_defaults("mbart"),),
)
_LLAMA = _both(_class_defaults("mllama"), _transformers("src/transformers/models/mllama/modeling_mllama.py"))
_BLIP_2 = _both(_class_defaults("blip_2"), _transformers("src/transformers/models/blip_2/modeling_blip_2.py"))
_DIA = _both(_class_defaults("dia"), _transformers("src/transformers/models/dia/modeling_dia.py"))
_SAM_REPOSITORY = "facebookresearch/segment-anything"
_BUILD_SAM = _github(_SAM_REPOSITORY, "segment_anything/build_sam.py")
_SAM = Sources(
    (_BUILD_SAM,),
    (_BUILD_SAM, _github(_SAM_REPOSITORY, "segment_anything/modeling/transformer.py")),
    (_github(_SAM_REPOSITORY, "segment_anything/modeling/image_encoder.py"),),
)
_T5_BASE = Side(768, 12, 64)  # MusicGen's encoder


def _musicgen(scale: str) -> Sources:
    """Which encoder it is, and that encoder's figures; the decoder's of this size; the layer between them."""
    return Sources(
        (_github(_AUDIOCRAFT, "config/conditioner/text2music.yaml"), _config_of("google-t5/t5-base")),
        (_github(_AUDIOCRAFT, f"config/model/lm/model_scale/{scale}.yaml"),),
        (_github(_AUDIOCRAFT, "audiocraft/modules/conditioners.py"),),
    )


PUBLISHED_MODELS: tuple[PublishedModel, ...] = (
    PublishedModel("trocr_small", "TrOCR-small", Side(384, 6, 64), Side(256, 8, 32), 4, _TROCR, bridge="w_k"),
    PublishedModel("trocr_base", "TrOCR-base", Side(768, 12, 64), Side(1024, 16, 64), 8, _TROCR, bridge="w_k"),
    PublishedModel("musicgen_s", "MusicGen S", _T5_BASE, Side(1024, 16, 64), 8, _musicgen("small"), bridge="linear"),
    PublishedModel("musicgen_m", "MusicGen M", _T5_BASE, Side(1536, 24, 64), 8, _musicgen("medium"), bridge="linear"),
    PublishedModel("musicgen_l", "MusicGen L", _T5_BASE, Side(2048, 32, 64), 8, _musicgen("large"), bridge="linear"),
    PublishedModel(
        "llama_vision",
        "Llama 3.2 11B Vision",
        Side(1280, 16, 80),
        Side(4096, 32, 128, num_kv_heads=8),
        16,
        _LLAMA,
        bridge="side_by_side",
    ),
    PublishedModel(
        "t5gemma",
        "T5Gemma 9B-2B",
        Side(3584, 16, 256, num_kv_heads=8),
        Side(2304, 8, 256, num_kv_heads=4),
        32,
        _both(_T5GEMMA, _T5GEMMA),
        bridge="w_k",
    ),
    PublishedModel("donut", "Donut, Nougat", Side(1024, 32, 32), Side(1024, 16, 64), 8, _DONUT),
    PublishedModel("blip2", "BLIP-2 Q-Former", Side(1408, 16, 88), Side(768, 12, 64), 8, _BLIP_2, bridge="w_k"),
    PublishedModel("sam_b", "SAM B", Side(768, 12, 64), Side(256, 8, 16), 4, _SAM, bridge="neck"),
    PublishedModel("sam_l", "SAM L", Side(1024, 16, 64), Side(256, 8, 16), 4, _SAM, bridge="neck"),
    PublishedModel("sam_h", "SAM H", Side(1280, 16, 80), Side(256, 8, 16), 4, _SAM, bridge="neck"),
    PublishedModel(
        "dia", "Dia 1.6B", Side(1024, 16, 128), Side(2048, 16, 128), 16, _DIA, bridge="w_k", self_kv_heads=4
    ),
    PublishedModel(
        "t5_11b", "T5-11b", Side(1024, 128, 128), Side(1024, 128, 128), 16, _both(_config_of("google-t5/t5-11b"))
    ),
    PublishedModel(
        "mt5_small", "mT5-small", Side(512, 6, 64), Side(512, 6, 64), 8, _both(_config_of("google/mt5-small"))
    ),
)

EQUAL_MODELS: tuple[EqualModel, ...] = (
    EqualModel("M2M100", 16, _class_defaults("m2m_100")),
    EqualModel("BART-large", 16, _config_of("facebook/bart-large")),
    EqualModel("Whisper-large-v3", 20, _config_of("openai/whisper-large-v3")),
    EqualModel("Marian", 16, _class_defaults("marian")),
    EqualModel("DETR", 8, _class_defaults("detr")),
)
