"""Other versions of the engines: isolated environments, and what a bundle computes in each of them."""
