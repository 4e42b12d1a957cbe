"""What so many people need, worked out from what was measured."""
