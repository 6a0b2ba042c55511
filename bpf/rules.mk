# SPDX-License-Identifier: GPL-2.0-or-later
# perfctr-bpfd and the BPF programs that it loads. The skeleton is a C header that contains the BPF programs.

BPFD := $(BUILD)/sbin/perfctr-bpfd
BPFD_OBJECTS := $(patsubst bpf/%.c,$(BUILD)/bpf/%.o,$(filter-out bpf/%.bpf.c,$(wildcard bpf/*.c)))
# perfctr-bpfd links with libperfctr.a even if LINK is shared: it uses functions that libperfctr.so does not export. It
# links with the shared libelf, because Debian 13 has no libeu.a, which its libelf.a needs.
BPFD_LIBS := $(if $(filter shared,$(LINK)),-Wl$(comma)--as-needed -lpfm -ljson-c -lbpf,$(LIB_STATIC_LIBS) \
	-l:libbpf.a -lelf -lz)
BPF_SOURCES := bpf/perfctr.bpf.c bpf/layout.h bpf/kernel.h bpf/slot.h bpf/page.h bpf/holder.h bpf/context.h \
	bpf/count.h bpf/member.h bpf/request.h bpf/call.h bpf/walk.h bpf/keep.h include/linux/perfctr.h
BPF_SKELETON := $(BUILD)/bpf/perfctr.skel.h

PROGRAMS += $(BPFD)
INSTALL_TARGETS += install-bpfd

$(BUILD)/bpf/%.o: bpf/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -I$(BUILD)/bpf -MMD -MP -c -o $@ $<
$(BUILD)/bpf/load.o: $(BPF_SKELETON)

$(BPF_SKELETON): $(BPF_SOURCES) bpf/make-skeleton
	@mkdir -p $(@D)
	$(SAY_CC)bpf/make-skeleton $@ $(BPF_SOURCES)

$(BPFD): $(BPFD_OBJECTS) $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(BPFD_LIBS)

.PHONY: install-bpfd
install-bpfd: $(BPFD)
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/lib/systemd/system
	install -m 755 $(BPFD) $(DESTDIR)$(PREFIX)/sbin
	sed -e 's|@PREFIX@|$(PREFIX)|' bpf/perfctr-bpfd.service.in \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/perfctr-bpfd.service

-include $(BPFD_OBJECTS:.o=.d)
