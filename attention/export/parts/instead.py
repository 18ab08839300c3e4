for place, mean in INSTEAD.items():
    W[f"{place}.w_o.bias"] = W.get(f"{place}.w_o.bias", 0) + torch.tensor(mean)
