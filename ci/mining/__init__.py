"""What `ci/bench mine` measures: mining compared with other tools, on the same files and with the same verdicts."""
