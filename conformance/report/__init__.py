"""What is shown of a conformance run: on the terminal, to a CI as JUnit XML, as one HTML page, and as a folder."""
