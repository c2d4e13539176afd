"""Runs the formal models: TLC over the modules in `spec`, and the Z3 claims."""

if __name__ != "scatterproof.models":
    raise ImportError("import scatterproof.models: under the folder's name alone every class would be there twice")
