"""What an abstract run changes: heap, frames, circumstances, effects on what persists."""
