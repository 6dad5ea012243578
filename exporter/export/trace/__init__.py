"""From an eager layer to a traced program: `load_layer`, then `trace`. Runs in children only."""
