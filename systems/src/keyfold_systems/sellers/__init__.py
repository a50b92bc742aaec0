"""Sellers: profiles, shares, seasons and orders, before and after a restructuring.

`current.py` is the design that runs today (five tables), `design.py` the proposed one (seven),
made sound. `service.py` has all operations on either, `migration.py` the way from one to the
other while it runs.
"""
