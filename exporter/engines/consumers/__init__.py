"""What consumers elsewhere take: runtimes and converters that are not run here, each a file of limits with sources.

In come the files of a variant, or a spec; out go findings. The room knows no bundle and runs nothing.
"""
