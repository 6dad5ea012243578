"""A small library of models for the tests: sound ones, and one for each way in which a model can be wrong.

The tests copy this folder into a working folder of their own as the package `models`.
"""
