"""A bundle on its way: one file, the same bytes for the same bundle; and to and from a registry of OCI artifacts."""
