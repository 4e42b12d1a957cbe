"""The mirrors of the wires: what a program asks is read, and events are written in its protocol's words. Pure: no network, no Django."""
