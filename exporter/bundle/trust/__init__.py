"""Who made a bundle: signatures by OpenSSF Model Signing, and the keys that may sign what (docs/trust.md)."""
