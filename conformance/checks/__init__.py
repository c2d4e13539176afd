"""The machinery of checks: how one scalar definition serves as online monitor and as compiled kernel."""
