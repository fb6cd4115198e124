"""Servers that `aop dev` and the tests start on this machine, from PyPI packages, as the user who starts them."""
