"""`python -m exporter`: the command line, where no script is installed or another `exporter` is on the path.

Python itself puts the working folder first on the path then, and has imported some of its library from there before
this file is read. In the folder of a stranger's bundle use the script, or `python -I -m exporter`.
"""

from exporter.cli import main

if __name__ == "__main__":
    main()
