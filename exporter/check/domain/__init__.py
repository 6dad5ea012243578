"""What a name may stand for while code is interpreted: values without numbers, and how they join."""
