"""The own error of each operator of a file: what it adds itself when it is fed the right inputs.

In come a file that failed, the program of a sound one, and the inputs of a case; out go error ratios of operators. The
room draws nothing.
"""
