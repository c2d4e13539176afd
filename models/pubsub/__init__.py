"""Publish and subscribe in Z3: matching of filters up to a length, covering for all topics, marks and conflation."""
