"""How the process is, for supervisors, balancers and Prometheus, and for staff."""
