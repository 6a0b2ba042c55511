/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit: system calls by their numbers */
#include "qemu/osdep.h"
#include "qemu/stats64.h"
#include "qapi/error.h"
#include "tcg/helper-tcg.h"
#include "pmu-internal.h"

#define X32_BIT BIT(30)
#define NEGATIVE BIT(31)

/* Of the machine. The vCPUs may count at the same time. A machine reset does not clear them. */
static Stat64 counts[PMU_SYSCALLS_MAX];
/* The guest reads it. */
static uint64_t list[PMU_SYSCALLS_MAX];

static void count(CPUX86State *env, unsigned abi, uint32_t number)
{
    if (env->pmu.enabled && env_archcpu(env)->pmu_syscalls &&
        BIT(x86_pmu_current_mode(env)) == PMU_USER) {
        number = MIN(number, PMU_SYSCALLS_OTHER);
        stat64_add(&counts[abi * PMU_SYSCALLS_NB_NUMBERS + number], 1);
    }
}

/* SYSCALL or SYSENTER is about to enter the kernel. */
void x86_pmu_syscall(CPUX86State *env, bool is_64bit)
{
    uint32_t number = env->regs[R_EAX];

    if (!is_64bit) {
        count(env, PMU_SYSCALLS_I386, number);
    } else if ((number & (X32_BIT | NEGATIVE)) == X32_BIT) {
        count(env, PMU_SYSCALLS_X32, number & ~X32_BIT);
    } else {
        count(env, PMU_SYSCALLS_X86_64, number);
    }
}

/* INT n is about to enter the kernel. */
void x86_pmu_int(CPUX86State *env, int intno)
{
    if (intno == 0x80) {
        count(env, PMU_SYSCALLS_I386, env->regs[R_EAX]);
    }
}

static uint64_t make_list(void)
{
    uint64_t n = 0;

    memset(list, 0, sizeof(list));
    for (unsigned i = 0; i < PMU_SYSCALLS_MAX; i++) {
        uint64_t value = stat64_get(&counts[i]);

        if (value) {
            list[n++] = PMU_SYSCALLS_ENTRY(i / PMU_SYSCALLS_NB_NUMBERS,
                                           i % PMU_SYSCALLS_NB_NUMBERS,
                                           PMU_SYSCALLS_COUNT(value));
        }
    }
    return (uint64_t)PMU_SYSCALLS_MAGIC << 32 | n;
}

uint64_t x86_pmu_syscalls_read(unsigned index)
{
    return index == 0 ? make_list() : list[index - 1];
}

bool x86_pmu_syscalls_realize(X86CPU *cpu, Error **errp)
{
    if (cpu->pmu_syscalls && !cpu->env.pmu.family) {
        error_setg(errp, "pmu-syscalls=on needs pmu=on and a processor that has an emulated PMU");
        return false;
    }
    return true;
}
