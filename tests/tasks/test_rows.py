"""Rows of ids against the pairs they were made of."""

import torch

from attention.tasks import END, START, Vocabulary
from attention.tasks.rows import Rows

LETTERS = Vocabulary(tuple("abc"))
MANY = Vocabulary(tuple(chr(0x4E00 + number) for number in range(400)))  # more than fit into a byte
PAIRS = [(tuple("abc"), MANY.symbols[399:]), (tuple("b"), MANY.symbols[3:6]), (tuple("cab"), MANY.symbols[300:302])]


def test_rows_are_the_pairs_by_length_in_their_order():
    rows = Rows.of(PAIRS, LETTERS, MANY)
    assert rows.same_length == {1: (0, 1), 3: (1, 3)}
    assert (rows.sources.dtype, rows.targets.dtype) == (torch.uint8, torch.int16)
    for row, (source, target) in enumerate([PAIRS[1], PAIRS[0], PAIRS[2]]):
        assert LETTERS.decode_answer(rows.sources[row].tolist()) == source
        assert rows.targets[row, : len(target) + 2].tolist() == [START, *MANY.encode(target), END]
        assert (rows.src_lengths[row], rows.tgt_lengths[row]) == (len(source), len(target))


def test_batches_have_one_source_length_and_all_rows_are_equally_likely():
    rows = Rows.of(PAIRS, LETTERS, MANY)
    generator = torch.Generator().manual_seed(2)
    count = {source: 0 for source, _ in PAIRS}
    for _ in range(900):
        batch = rows.sample(generator, 1)
        count[LETTERS.decode_answer(batch.src_ids[0].tolist())] += 1
    assert all(abs(times - 300) < 4 * (900 * 1 / 3 * 2 / 3) ** 0.5 for times in count.values())
    src_ids, tgt_in, tgt_out = rows.sample(torch.Generator().manual_seed(1), 5)
    assert (src_ids != 0).all()
    assert tgt_in.shape == tgt_out.shape
    assert torch.equal(tgt_in[:, 0], torch.full((5,), START))
    assert END not in tgt_in
    assert ((tgt_out == END).sum(1) == 1).all()
