// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perfctr 2.6: handles of states.  Old programs pass a handle of one kind to functions of the
 * other.  So a struct rvperfctr begins with a struct vperfctr.
 */
#include "compat.h"

#include <errno.h>
#include <stdlib.h>

struct vperfctr {
	struct compat_state *state;
};

struct rvperfctr {
	struct vperfctr self;
};

/*
 * Makes a handle, which takes over the caller's reference to state.  Returns NULL if state is NULL,
 * and leaves errno alone.
 */
static struct vperfctr *handle_of(struct compat_state *state)
{
	struct vperfctr *handle = state ? malloc(sizeof(struct rvperfctr)) : NULL;

	if (handle)
		handle->state = state;
	else
		compat_state_release(state);
	return handle;
}

struct vperfctr *vperfctr_open_mode(unsigned int mode)
{
	switch (mode) {
	case VPERFCTR_OPEN_CREAT_EXCL:
		return handle_of(compat_state_make(0));
	case 0:
		return handle_of(compat_state_find());
	default:
		errno = EINVAL;
		return NULL;
	}
}

struct vperfctr *vperfctr_open(void)
{
	return vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL);
}

void vperfctr_close(struct vperfctr *self)
{
	if (!self)
		return;
	compat_state_release(self->state);
	free(self);
}

int vperfctr_control(const struct vperfctr *self, struct vperfctr_control *control)
{
	return compat_state_control(self->state, control);
}

int vperfctr_stop(const struct vperfctr *self)
{
	const struct vperfctr_control nothing = { 0 };

	return compat_state_control(self->state, &nothing);
}

int vperfctr_is_running(const struct vperfctr *self)
{
	return compat_state_runs(self->state);
}

int vperfctr_iresume(const struct vperfctr *self)
{
	return compat_state_resume(self->state);
}

int vperfctr_unlink(const struct vperfctr *self)
{
	return compat_state_unlink(self->state);
}

int vperfctr_read_state(const struct vperfctr *self, struct perfctr_sum_ctrs *sum,
			struct vperfctr_control *control)
{
	if (sum && compat_state_sum(self->state, sum) < 0)
		return -1;
	if (control)
		*control = *compat_state_installed(self->state);
	return 0;
}

int vperfctr_read_ctrs(const struct vperfctr *self, struct perfctr_sum_ctrs *sum)
{
	return compat_state_sum_live(self->state, sum) ? 0 : compat_state_sum(self->state, sum);
}

unsigned long long vperfctr_read_tsc(const struct vperfctr *self)
{
	struct perfctr_sum_ctrs sum;
	unsigned long long tsc;

	if (compat_state_tsc_live(self->state, &tsc))
		return tsc;
	return compat_state_sum(self->state, &sum) < 0 ? 0 : sum.tsc;
}

unsigned long long vperfctr_read_pmc(const struct vperfctr *self, unsigned int i)
{
	return compat_state_pmc(self->state, i);
}

struct rvperfctr *rvperfctr_open(int pid)
{
	return (struct rvperfctr *)handle_of(compat_state_make(pid));
}

int rvperfctr_pid(const struct rvperfctr *remote)
{
	return compat_state_tid(remote->self.state);
}

void rvperfctr_close(struct rvperfctr *remote)
{
	if (remote)
		vperfctr_close(&remote->self);
}

int rvperfctr_control(const struct rvperfctr *remote, struct vperfctr_control *control)
{
	return vperfctr_control(&remote->self, control);
}

int rvperfctr_stop(const struct rvperfctr *remote)
{
	return vperfctr_stop(&remote->self);
}

int rvperfctr_iresume(const struct rvperfctr *remote)
{
	return vperfctr_iresume(&remote->self);
}

int rvperfctr_unlink(const struct rvperfctr *remote)
{
	return vperfctr_unlink(&remote->self);
}

int rvperfctr_read_state(const struct rvperfctr *remote, struct perfctr_sum_ctrs *sum,
			 struct vperfctr_control *control)
{
	return vperfctr_read_state(&remote->self, sum, control);
}

int rvperfctr_read_ctrs(const struct rvperfctr *remote, struct perfctr_sum_ctrs *sum)
{
	return compat_state_sum(remote->self.state, sum);
}
