"""Corpora of simulated runs, and mining them for violations, on Spark."""

if __name__ != "scatterproof.spark":
    raise ImportError("import scatterproof.spark: under the folder's name alone every class would be there twice")
