"""Where the shards of a gate run: one executor a file."""
