"""How the process is, for supervisors and Prometheus."""
