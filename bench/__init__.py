"""Programs that measure; none of them is a test, and none changes what it measures. README.md tells what they found."""
