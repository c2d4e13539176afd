"""Histories of calls as other judges write them, and the question that those ask: is there an order of all calls, in
agreement with when they began and ended, in which a plain machine would have answered so?"""
