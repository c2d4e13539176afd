"""Reference implementation: sans-IO cores, and the drivers that put them on sockets and pipes."""

if __name__ != "scatterproof.impl":
    raise ImportError("import scatterproof.impl: under the folder's name alone every class would be there twice")
