"""One family of configuration files a file."""
