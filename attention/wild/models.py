"""What is published about real models: widths, heads, K/V heads and head sizes, each with its source.

Only figures that the source states are here; what it does not state is None or left out.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where a figure comes from: whose, which part of it, and its address."""

    name: str
    part: str
    url: str


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
class RealModel:
    """A published encoder-decoder.

    Attributes:
        key: a name for addresses and texts.
        name: as its makers write it.
        encoder: self-attention of the encoder (of the last stage, where stages differ).
        decoder: the decoder's width, and the heads of its cross-attention.
        shrink: what widths are divided by in the miniature; a divisor of all widths.
        source: of all figures.
        bridge: how cross-attention reads another width: "w_k" (W_K and W_V take the encoder's), "linear" (one linear
            layer before them), or None where the source used here does not say or nothing has to be bridged.
        self_kv_heads: K/V heads of the decoder's self-attention, where they differ from those of its cross-attention.
    """

    key: str
    name: str
    encoder: Side
    decoder: Side
    shrink: int
    source: Source
    bridge: str | None = None
    self_kv_heads: int | None = None


@dataclass(frozen=True)
class EqualModel:
    """A published encoder-decoder with as many heads on both sides."""

    name: str
    num_heads: int
    source: Source


def _github(repository: str, path: str) -> Source:
    return Source(repository, path, f"https://github.com/{repository}")


def _transformers(path: str) -> Source:
    return _github("huggingface/transformers", path)


def _published_config(name: str) -> Source:
    return Source(name, "config.json", f"https://huggingface.co/{name}")


_UNILM = _github("microsoft/unilm", "trocr/trocr_models.py")
_TROCR = _transformers("trocr: convert_trocr_unilm_to_pytorch.py")
_AUDIOCRAFT = _github("facebookresearch/audiocraft", "config/model/lm/model_scale")
_T5GEMMA = _github("google-deepmind/gemma", "research/t5gemma/config.py")
_DONUT = _transformers("donut, nougat: conversion scripts")
_SAM = _transformers("sam")
_T5_BASE = Side(768, 12, 64)  # MusicGen's encoder

REAL_MODELS: tuple[RealModel, ...] = (
    RealModel("trocr_small", "TrOCR-small", Side(384, 6, 64), Side(256, 8, 32), 4, _UNILM, bridge="w_k"),
    RealModel("trocr_base", "TrOCR-base", Side(768, 12, 64), Side(1024, 16, 64), 8, _TROCR, bridge="w_k"),
    RealModel("musicgen_s", "MusicGen S", _T5_BASE, Side(1024, 16, 64), 8, _AUDIOCRAFT, bridge="linear"),
    RealModel("musicgen_m", "MusicGen M", _T5_BASE, Side(1536, 24, 64), 8, _AUDIOCRAFT, bridge="linear"),
    RealModel("musicgen_l", "MusicGen L", _T5_BASE, Side(2048, 32, 64), 8, _AUDIOCRAFT, bridge="linear"),
    RealModel(
        "llama_vision",
        "Llama 3.2 11B Vision",
        Side(1280, 16, 80),
        Side(4096, 32, 128, num_kv_heads=8),
        16,
        _transformers("mllama: defaults"),
    ),
    RealModel(
        "t5gemma",
        "T5Gemma 9B-2B",
        Side(3584, 16, 256, num_kv_heads=8),
        Side(2304, 8, 256, num_kv_heads=4),
        32,
        _T5GEMMA,
        bridge="w_k",
    ),
    RealModel("donut", "Donut, Nougat", Side(1024, 32, 32), Side(1024, 16, 64), 8, _DONUT),
    RealModel("blip2", "BLIP-2 Q-Former", Side(1408, 16, 88), Side(768, 12, 64), 8, _transformers("blip_2: defaults")),
    RealModel("sam_b", "SAM B", Side(768, 12, 64), Side(256, 8, 16), 4, _SAM),
    RealModel("sam_l", "SAM L", Side(1024, 16, 64), Side(256, 8, 16), 4, _SAM),
    RealModel("sam_h", "SAM H", Side(1280, 16, 80), Side(256, 8, 16), 4, _SAM),
    RealModel(
        "dia",
        "Dia 1.6B",
        Side(1024, 16, 128),
        Side(2048, 16, 128),
        16,
        _transformers("dia: defaults"),
        self_kv_heads=4,
    ),
    RealModel(
        "t5_11b", "T5-11b", Side(1024, 128, 128), Side(1024, 128, 128), 16, _published_config("google-t5/t5-11b")
    ),
    RealModel("mt5_small", "mT5-small", Side(512, 6, 64), Side(512, 6, 64), 8, _published_config("google/mt5-small")),
)

EQUAL_MODELS: tuple[EqualModel, ...] = (
    EqualModel("BART-large", 16, _published_config("facebook/bart-large")),
    EqualModel("Whisper-large-v3", 20, _published_config("openai/whisper-large-v3")),
    EqualModel("Marian", 16, _transformers("marian: defaults")),
    EqualModel("M2M100", 16, _transformers("m2m_100: defaults")),
    EqualModel("DETR", 8, _transformers("detr: defaults")),
)
