"""Other values leave every weight as it is, to the last bit; by way of weights too, and at 100 settings."""

import pytest
import torch
from random_settings import settings_that_fit

from attention import EncoderDecoder
from attention.experiments.other_values import with_other_values
from attention.tasks import get_task

SETTINGS = settings_that_fit(100)


@pytest.mark.sample(20)
@pytest.mark.parametrize("number", range(100))
def test_values_do_not_enter_the_distribution(number):
    settings = SETTINGS[number]
    task = get_task(settings.task)
    model = EncoderDecoder(settings.config, seed=settings.seed)
    source = task.read(settings.text)
    found = with_other_values(model, task, source, layer=settings.dec_layers - 1, seed=number)
    assert found.num_changed == 0 and found.output_change > 0.1
    assert found.num_weights % (settings.dec_heads * (len(source) + 1 if settings.kv != "extra" else 1)) == 0


@torch.no_grad()
def test_a_model_with_another_w_v_in_its_last_layer_has_the_same_maps_and_other_logits():
    model, twin = (EncoderDecoder(settings_that_fit(1, "reproject")[0].config, seed=5) for _ in range(2))
    w_v = twin.decoder.layers[-1].cross.kv_way.w_v
    w_v.weight.copy_(torch.randn(w_v.weight.shape, generator=torch.Generator().manual_seed(3)))
    src, tgt = torch.tensor([[3, 4, 5, 2]]), torch.tensor([[1, 3, 4]])
    ours, theirs = model(src, tgt), twin(src, tgt)
    for kind in ("encoder", "decoder", "cross"):
        for mine, other in zip(getattr(ours.maps, kind), getattr(theirs.maps, kind), strict=True):
            assert torch.equal(mine, other)
    assert not torch.allclose(ours.logits, theirs.logits, atol=1e-3)


def test_queries_of_another_size_fit_no_key_whatever_the_values_are():
    """What Q has to fit is K: PyTorch's own product refuses other keys, and takes values of any size."""
    q, k, v = torch.ones(1, 1, 3, 4), torch.ones(1, 1, 5, 4), torch.ones(1, 1, 5, 7)
    assert torch.nn.functional.scaled_dot_product_attention(q, k, v).shape == (1, 1, 3, 7)
    with pytest.raises(RuntimeError):
        torch.nn.functional.scaled_dot_product_attention(q, torch.ones(1, 1, 5, 7), v)
