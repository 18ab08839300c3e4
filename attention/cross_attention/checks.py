"""What several ways have to check."""

from attention.config import ModelConfig


def other_head_dim(config: ModelConfig) -> list[str]:
    """A sentence if a query has another size than the encoder's keys, for ways that put them together as they are."""
    enc, dec = config.encoder.head_dim, config.decoder.head_dim
    return [f"decoder head_dim ({dec}) must equal encoder head_dim ({enc})"] if enc != dec else []
