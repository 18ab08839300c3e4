def print_map(rows, columns):
    part = {"encoder": "encoder.layers.{}.attention", "decoder": "decoder.layers.{}.attention"}
    weights = MAPS[part.get(KIND, "decoder.layers.{}.cross").format(LAYER - 1)][HEAD - 1]
    columns = [*columns, *(f"own {n + 1}" for n in range(weights.shape[1] - len(columns)))]
    print(" " * 10 + "".join(f"{token:>10}" for token in columns))
    for token, row in zip(rows, weights.tolist()):
        print(f"{token:>10}" + "".join(f"{weight:10.6f}" for weight in row))
