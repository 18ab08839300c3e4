# ---- the file: the length of a header in 8 bytes, the header in JSON, the numbers ----
def read_safetensors(path):
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    card, weights = json.loads(header.pop("__metadata__")["card"]), {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        dtype = {"F16": torch.float16, "F32": torch.float32}[entry["dtype"]]
        numbers = torch.frombuffer(bytearray(content[begin + first : begin + last]), dtype=dtype)
        weights[name] = numbers.view(entry["shape"]).float()
    return weights, card["source_vocabulary"], card["target_vocabulary"]


file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name(FILE)
W, SRC_TOKENS, TGT_TOKENS = read_safetensors(file)
