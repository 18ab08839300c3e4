for place, gone in AWAY.items():
    heads = ENC_HEADS if place.startswith("encoder") else DEC_HEADS
    W[f"{place}.w_o.weight"].unflatten(1, (heads, -1))[:, gone] = 0
