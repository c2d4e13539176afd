"""Reports of a conformance run: on the terminal, as JUnit XML for a CI, as one HTML page, and as a folder."""
