"""One measure of a channel's importance a file."""
