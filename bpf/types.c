// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up types of the running kernel. */
#include "service.h"

#include <bpf/btf.h>
#include <string.h>

static __u32 offset_of(const struct btf *btf, const struct btf_type *type, const char *member)
{
	const struct btf_member *members = btf_members(type);

	for (__u16 i = 0; i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, members[i].name_off), member) == 0)
			return btf_member_bit_offset(type, i) / 8;
	return 0;
}

__u32 offset_in_kernel(const char *type, const char *member)
{
	struct btf *btf = btf__load_vmlinux_btf();
	__s32 id = btf ? btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT) : -1;
	__u32 offset = id > 0 ? offset_of(btf, btf__type_by_id(btf, (__u32)id), member) : 0;

	btf__free(btf);
	return offset;
}
