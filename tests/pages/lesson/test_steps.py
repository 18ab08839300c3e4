"""The numbers of the steps, worked out a second time and in another way."""

from dataclasses import replace

import pytest
import torch

from attention.ablation import removal
from attention.ablation.removal import by_loss, cumulative, leave_one_out
from attention.config import ATTENTION_KINDS, END, START
from attention.decoding import greedy_decode
from attention.experiments.comparison import read_rows
from attention.experiments.comparison.stored_runs import DIRECTORY, FILES
from attention.experiments.disturbed_memory import Disturbance, run_experiment
from attention.experiments.published import EQUAL_MODELS, PUBLISHED_MODELS
from attention.inspection.heads import Head, attention_of
from attention.jobs.removal_service import Study
from attention.model import EncoderDecoder
from attention.tasks import get_task
from pages.lesson.ahead import without_look_ahead
from pages.lesson.fixes import contrasts
from pages.lesson.hide import best_hidden
from pages.lesson.look import best_looked
from pages.lesson.more import SITUATIONS, sizes_of
from pages.lesson.pairs import Pairs
from pages.lesson.removal import Removal, missed_kind, num_heads
from pages.lesson.reuse import failing_step
from pages.lesson.silent import HEADS, WITH_SILENT_LETTERS, Loaded, loaded
from pages.lesson.step import TASK, own_record
from pages.shared.heads_away import could_go
from pages.shared.models import decoding_of, held_out, model_of

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
    names = ", ".join(model.name for model in (*PUBLISHED_MODELS, *EQUAL_MODELS)).split(", ")  # as the chart has them
    said = Pairs().seen()
    assert f" {len(names)} " in said and f" {more} more" in said and "Nougat" in names
    assert Pairs().right() == {code for code, name in Pairs().choices().items() if name in ("TrOCR-base", "MusicGen S")}


@pytest.mark.slow
def test_the_heads_that_could_go_are_those_of_models_whose_heads_are_cut_one_by_one(monkeypatch):
    """Step 8 worked out by whole passes of models whose slices of W_O are zero, without the ones that start halfway."""
    record = own_record()
    batch = held_out(TASK).batch
    real = batch.tgt_out != 0
    heads = [Head(kind, layer, number) for kind in ATTENTION_KINDS for layer in range(2) for number in range(8)]

    def score(gone) -> tuple[float, float]:
        cut = EncoderDecoder.with_weights(record.config, copied(model_of(record)))
        with torch.no_grad():
            for head in gone:
                attention_of(cut, head.kind, head.layer).w_o.weight[:, 8 * head.number : 8 * head.number + 8] = 0
            logits = cut(batch.src_ids, batch.tgt_in).logits
        loss = torch.nn.functional.cross_entropy(logits[real], batch.tgt_out[real])
        sounds = real & (batch.tgt_out != END)
        return float(loss), float((logits.argmax(-1) == batch.tgt_out)[sounds].double().mean())

    whole = score(())
    alone = {head: score([head])[0] for head in heads}
    order = sorted(heads, key=lambda head: alone[head])
    count = 0
    while count < len(order) and score(order[: count + 1])[1] >= whole[1] - 0.01:
        count += 1
    means = {kind: sum(alone[head] for head in heads if head.kind == kind) for kind in ATTENTION_KINDS}

    model, sets = model_of(record), tuple((head,) for head in heads)
    found = tuple(leave_one_out(model, batch, sets))
    curve = tuple(cumulative(model, batch, by_loss(found)))
    study = Study(len(heads), "done", removal.score(model, batch), found, curve)
    assert study.whole.token_accuracy == pytest.approx(whole[1])
    assert (could_go(study), missed_kind(study)) == (count, max(means, key=means.get))
    monkeypatch.setattr("pages.lesson.removal.studies", lambda: {"one": study})
    place = ["quarter", "half", "most", "nearly"].index(*Removal().right())
    assert place / 4 <= count / 48 <= (place + 1) / 4
    assert f"one: {count} could go ({round(100 * count / 48)}" in Removal().seen()


def copied(model) -> dict[str, torch.Tensor]:
    return {name: weight.clone() for name, weight in model.state_dict().items()}


def test_of_the_words_that_were_right_some_stay_right_and_others_are_not_counted():
    before = Loaded(8, (True, True, True, False), ())
    assert Loaded(16, (True, False, False, True), ()).kept(before) == pytest.approx(1 / 3)
    assert before.kept(before) == 1
