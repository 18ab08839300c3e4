with torch.no_grad():
    memory, ids = encode([*map(SRC_TOKENS.index, SOURCE), END]), [START]
    while ids[-1] != END and len(ids) <= LIMIT:
        logits = decode(ids, memory)[-1]
        logits[[PAD, START]] = -torch.inf  # these are no answers
        ids.append(int(logits.argmax()))
source, target = [*SOURCE, "</s>"], [TGT_TOKENS[token] for token in ids[1:]]
print("".join(SOURCE), "→", JOINT.join(TGT_TOKENS[token] for token in ids[1:] if token != END))
rows, columns = source if KIND == "encoder" else target, ["<s>", *target[:-1]] if KIND == "decoder" else source
print_map(rows, columns)
