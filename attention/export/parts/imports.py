import json
import math
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
