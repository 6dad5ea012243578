"""In the Python of Paddle Lite: `lite_opt.py PROGRAM PARAMETERS PLACE OUT` writes OUT.nb; PARAMETERS may be empty."""

import os
import sys
from pathlib import Path


def main(program: str, parameters: str, place: str, out: str) -> int:
    """Write the model for a place; 4 where the optimizer left none."""
    from paddlelite import lite  # type: ignore[import-not-found]  # of an older Python

    opt = lite.Opt()
    opt.set_model_file(program)
    if parameters:
        opt.set_param_file(parameters)
    opt.set_valid_places(place)
    opt.set_model_type("naive_buffer")
    opt.set_optimize_out(out)
    opt.run()
    return 0 if Path(out + ".nb").is_file() else 4


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # Paddle Lite may crash in its own tidying up, after the work is done
