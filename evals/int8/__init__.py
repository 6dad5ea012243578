"""Does `search: true` find an int8 file of a detector that keeps all budgets?"""
