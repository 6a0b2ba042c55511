# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages. Make installs a page that names several functions under each name.

MAN_PAGES := $(wildcard docs/man/*.[13458])

INSTALL_TARGETS += install-docs
CHECKS += check-docs

.PHONY: install-docs
install-docs:
	for page in $(MAN_PAGES); do \
		section=$${page##*.}; directory=$(DESTDIR)$(PREFIX)/share/man/man$$section; \
		install -d $$directory && install -m 644 $$page $$directory || exit; \
		docs/page-names $$page | while read -r name; do \
			test -e $$directory/$$name.$$section || \
				ln -s $${page##*/} $$directory/$$name.$$section; \
		done; \
	done
	install -d $(DESTDIR)$(PREFIX)/share/perfctr
	install -m 644 docs/*.schema.json $(DESTDIR)$(PREFIX)/share/perfctr
	install -d $(DESTDIR)$(PREFIX)/share/perfctr/processors
	install -m 644 $(wildcard docs/processors/*.json) $(DESTDIR)$(PREFIX)/share/perfctr/processors

.PHONY: check-docs
check-docs: $(PERFEX)
	docs/check $(PERFEX)
