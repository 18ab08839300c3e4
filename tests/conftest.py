"""What all tests share."""

import torch

# The tensors here are tiny. On more threads they are slower, many times so on a busy machine, and sums may come out in
# another order.
torch.set_num_threads(1)
