# SPDX-License-Identifier: GPL-2.0-or-later
# The Python package. Make installs its sources: users install them with pip, or name their directory in PYTHONPATH.

PYTHON_INSTALLED := $(DESTDIR)$(PREFIX)/share/perfctr/python

INSTALL_TARGETS += install-python

.PHONY: install-python
install-python:
	install -d $(PYTHON_INSTALLED)/perfctr
	install -m 644 python/pyproject.toml $(PYTHON_INSTALLED)
	install -m 644 $(wildcard python/perfctr/*.py) $(PYTHON_INSTALLED)/perfctr
