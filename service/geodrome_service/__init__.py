"""The service: HTTP in front of a database of studies and a pool of processes that compute suggestions."""
