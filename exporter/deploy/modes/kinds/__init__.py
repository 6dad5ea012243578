"""The modes, one file each."""
