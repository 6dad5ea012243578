"""What is exported: the frozen `Spec`, read from YAML or from the command line."""
