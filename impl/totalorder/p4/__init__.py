"""The total-order switch as a P4-16 program for v1model, its control plane, and nodes whose switches run it.

`program/` is the P4 program, `compiled/` what `ci/p4-compile` made of it. See README.md.
"""
