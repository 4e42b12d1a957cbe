"""Programs at a door: ours, a rival's, and none at all."""
