"""Linearisability of small histories of the queue, by search: a judge that shares nothing with checks and oracles.

`history` reads a trace as boxes, `machine` carries calls out one at a time, and `search` looks for an order of calls
that explains all that they returned. It says whether there is such an order, not which clause is broken. Its time grows
quickly with the calls that overlap: it is for histories of a dozen calls.

Of 10,000 drawn histories (fuzz/workqueue/histories.py) 7,671 have an order and break no clause by checks and
oracles, and 2,056 have none and break some. 270 have none, but checks and oracles are silent: in 249 because of what
cleanings and starts of receivers count while other calls move groups, in 21 for reasons that the test of these figures
lists. In 3, checks and oracles raise a false alarm: rows at one moment are taken in their order.
"""
