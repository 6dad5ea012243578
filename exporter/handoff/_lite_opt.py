"""In the Python of Paddle Lite: `opt.py PROGRAM PARAMETERS PLACE OUT` writes OUT.nb; PARAMETERS may be empty."""

import os
import sys
from pathlib import Path

from paddlelite import lite  # type: ignore[import-not-found]  # of an older Python

program, parameters, place, out = sys.argv[1:]
opt = lite.Opt()
opt.set_model_file(program)
if parameters:
    opt.set_param_file(parameters)
opt.set_valid_places(place)
opt.set_model_type("naive_buffer")
opt.set_optimize_out(out)
opt.run()
sys.stdout.flush()
os._exit(0 if Path(out + ".nb").is_file() else 4)
