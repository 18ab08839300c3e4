"""The textbook Transformer: each decoder layer projects the memory with its own W_K and W_V.

The memory is hidden states, not heads, so the encoder's head count never meets the decoder's: W_K and W_V take the
encoder's width and produce the decoder's heads (Vaswani et al. 2017, section 3.2.3; `kdim` and `vdim` in PyTorch's
`nn.MultiheadAttention`).
"""

from attention.config import ModelConfig
from attention.cross_attention.base import KeyValuePair, KvWay, Memory
from attention.functional import split_heads
from attention.layers import Linear


class Reproject(KvWay):
    name, hands_over_heads = "reproject", False

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        enc, dec = config.encoder, config.decoder
        self.num_kv_heads = dec.num_kv_heads
        self.w_k = Linear(enc.d_model, dec.kv_width, bias=config.bias)
        self.w_v = Linear(enc.d_model, dec.kv_width, bias=config.bias)

    @staticmethod
    def trace(tracer, memory, hidden):
        dec = tracer.config.decoder
        heads_name = "heads" if dec.num_kv_heads == dec.num_heads else "kv_heads"
        return tracer.project_memory(memory, dec, heads_name, then=lambda x: tracer.share(x, dec.num_heads))

    @staticmethod
    def heads_made_per_layer(config: ModelConfig) -> int:
        return config.decoder.num_kv_heads

    kv_heads_shared = heads_made_per_layer

    def source_kv(self, memory: Memory) -> KeyValuePair:
        k = split_heads(self.w_k(memory.hidden), self.num_kv_heads)  # (batch, kv_heads, src_len, head_dim)
        return k, split_heads(self.w_v(memory.hidden), self.num_kv_heads)
