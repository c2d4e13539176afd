"""What `ci/bench mine` measures: mining beside other tools, on the same files and with the same verdicts."""
