"""Changes everything in its process that the next submission might inherit.

kata = "masks"
status = "fail"
earns = ["test_padding_integer_types", "test_arguments_unchanged", "test_noncontiguous"]
"""

import os
import random
import sys

import numpy
import torch
from wrong import *

torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
torch.set_num_threads(2)
torch.manual_seed(0)
numpy.seterr(all="raise")
random.seed = numpy.random.seed = torch.manual_seed = lambda *arguments: None
os.environ["KATA_PACKS"] = os.environ["PYTHONPATH"] = "/nowhere"
os.umask(0o777)
sys.path[:] = []
