"""Tests of the own error of each operator."""
