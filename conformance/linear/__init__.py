"""Histories of calls as other judges write them, and the question that these judges ask: is there an order of all calls
that agrees with when they began and ended, and in which a sequential machine gives the same answers?"""
