"""The layers of the main job: one module a kind of layer, `every.py` the list of them."""
