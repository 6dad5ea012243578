"""The rules, one file each; a rule's docstring is its page, its `explain` text and its test."""
