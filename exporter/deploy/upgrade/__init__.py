"""What an upgrade of an engine moves in a bundle: between which versions, by how much, in which operator first."""
