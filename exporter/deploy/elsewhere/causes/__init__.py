"""Name the likely cause of a wrong answer by trying it: undo it in the answer, or do it to the inputs and run again."""
