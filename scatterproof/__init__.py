"""The console command: arguments, wiring and progress. It alone imports every other package."""
