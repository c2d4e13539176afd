"""Property-based fuzzing, mutation of the rules, and the kill matrix."""

if __name__ != "scatterproof.fuzz":
    raise ImportError("import scatterproof.fuzz: under the folder's name alone every class would be there twice")
