source, target = [*SOURCE, "</s>"], [*GIVEN, "</s>"]
with torch.no_grad():
    memory = encode([*map(SRC_TOKENS.index, SOURCE), END])
    if KIND == "encoder":
        print_map(source, source)
    try:
        decode([START, *map(TGT_TOKENS.index, GIVEN)], memory)  # stops in cross-attention of the first layer
    finally:
        if KIND == "decoder" and LAYER == 1:
            print_map(target, ["<s>", *GIVEN])
