"""The numbers of the steps, worked out a second time and in another way."""

from dataclasses import replace

import pytest
import torch

from attention.config import END, START
from attention.decoding import greedy_decode
from attention.experiments.comparison import read_rows
from attention.experiments.comparison.stored_runs import DIRECTORY, FILES
from attention.experiments.disturbed_memory import Disturbance, run_experiment
from attention.experiments.published import EQUAL_MODELS, PUBLISHED_MODELS
from attention.inspection.heads import attention_of
from attention.model import EncoderDecoder
from attention.tasks import get_task
from pages.lesson.ahead import without_look_ahead
from pages.lesson.fixes import contrasts
from pages.lesson.hide import best_hidden
from pages.lesson.look import best_looked
from pages.lesson.more import SITUATIONS, sizes_of
from pages.lesson.pairs import Pairs
from pages.lesson.removal import num_heads
from pages.lesson.reuse import failing_step
from pages.lesson.silent import HEADS, WITH_SILENT_LETTERS, loaded
from pages.lesson.step import TASK, own_record
from pages.shared.models import decoding_of, model_of

TASK_OF = get_task(TASK)


def test_each_hidden_column_gives_what_the_experiment_gives():
    record = own_record()
    found = best_hidden(record)
    source = tuple(found.word)
    control = decoding_of(record, source)
    for place in range(len(source) + 1):
        hidden = Disturbance("hidden", hidden=frozenset([place if place < len(source) else -1]))
        free = run_experiment(control, model_of(record), TASK_OF, source, hidden).free
        assert TASK_OF.tgt_vocab.decode(free.answer) == found.without[place]


def test_the_heads_that_look_at_the_letters_are_those_of_a_teacher_forced_pass():
    record = own_record()
    found = best_looked(record)
    answer = decoding_of(record, tuple(found.word)).answer
    src_ids = torch.tensor([TASK_OF.encode_source(tuple(found.word))])
    with torch.no_grad():
        maps = model_of(record)(src_ids, torch.tensor([[START, *answer]])).maps.cross[-1][0]
    strongest = maps[:, found.row].argmax(-1).tolist()
    assert tuple(head for head, column in enumerate(strongest) if column in found.columns) == found.heads


def test_the_head_that_is_taken_away_adds_nothing_any_longer():
    record = own_record()
    found, model = without_look_ahead(record), model_of(record)
    cut = EncoderDecoder.with_weights(model.config, {name: w.clone() for name, w in model.state_dict().items()})
    w_o = attention_of(cut, found.head.kind, found.head.layer).w_o.weight
    size = w_o.shape[1] // model.config.encoder.num_heads
    with torch.no_grad():
        w_o[:, found.head.number * size : (found.head.number + 1) * size] = 0
    word = tuple("city")
    (ids,) = greedy_decode(cut, torch.tensor([TASK_OF.encode_source(word)]), TASK_OF.max_tgt_len(len(word)))
    assert TASK_OF.tgt_vocab.decode([token for token in ids if token != END]) == found.after[0]


def test_the_sizes_of_the_three_situations():
    sizes = [sizes_of(name) for name in SITUATIONS]
    assert [(s.heads, s.head_dim, s.takes, s.gives) for s in sizes] == [
        (8, 8, 64, 64),
        (16, 4, 64, 64),
        (16, 8, 128, 64),
    ]
    assert all(s.runs for s in sizes)


def test_the_mismatch_stops_at_16_heads_against_8():
    step = failing_step()
    assert (step.name, [clash.sizes for clash in step.clashes]) == ("scores", [(16, 8)])
    with pytest.raises(RuntimeError) as error:
        torch.zeros(1, 16, 4, 8) @ torch.zeros(1, 8, 7, 8).mT
    assert step.error == str(error.value)


def test_each_pair_of_fixes_is_compared_seed_by_seed():
    rows = read_rows((DIRECTORY / FILES["fixes"]).read_text(encoding="utf-8"), "fixes")
    accuracy = {(row.arm, row.seed): row.results.sequence_accuracy for row in rows}
    for finding in contrasts():
        seeds = sorted(seed for arm, seed in accuracy if arm == finding.what)
        values = [accuracy[finding.what, seed] - accuracy[finding.base, seed] for seed in seeds]
        assert finding.difference.values == pytest.approx(values)
        assert finding.difference.family == 3


@pytest.mark.slow
@pytest.mark.parametrize("heads", HEADS)
def test_the_share_right_of_weights_loaded_into_other_heads(heads):
    record = own_record()
    found = loaded(record, heads)
    decoder = record.config.decoder
    wide = decoder.num_heads * decoder.head_dim
    other = EncoderDecoder.with_weights(_with_decoder_heads(record.config, heads, wide), model_of(record).state_dict())
    word = tuple(WITH_SILENT_LETTERS[0])
    (ids,) = greedy_decode(other, torch.tensor([TASK_OF.encode_source(word)]), TASK_OF.max_tgt_len(len(word)))
    assert TASK_OF.tgt_vocab.decode([token for token in ids if token != END]) == found.answers[0]
    assert found.share == sum(found.right) / len(found.right)


def _with_decoder_heads(config, heads: int, wide: int):
    decoder = replace(config.decoder, num_heads=heads, num_kv_heads=heads, head_dim=wide // heads)
    return replace(config, decoder=decoder)


def test_the_small_model_has_48_heads():
    assert num_heads(own_record()) == 3 * 2 * 8


def test_the_counts_of_published_models():
    more = sum(model.decoder.num_heads > model.encoder.num_heads for model in PUBLISHED_MODELS)
    said = Pairs().seen()
    assert f" {len(PUBLISHED_MODELS) + len(EQUAL_MODELS)} " in said and f" {more} more" in said
    assert Pairs().right() == {code for code, name in Pairs().choices().items() if name in ("TrOCR-base", "MusicGen S")}
