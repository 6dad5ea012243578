"""Changes of a project with ten specs: is one that matters ever overlooked, and how many others run again?"""
