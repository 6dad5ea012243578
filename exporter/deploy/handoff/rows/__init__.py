"""Whether rows of several requests may be computed in one run: shown by the graph and by runs, never taken for granted.

In: the variant that is handed over, and its recorded cases. Out: a decision, with its evidence and its reason in words.
It knows no server.
"""
