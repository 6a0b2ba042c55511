/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of perfctr 2.6's library, as programs written for it expect it.  perfctr-2.6(3)
 * says what is different.  New programs include <perfctr.h>.
 *
 * Functions that return int return 0 (gperfctr_control() and gperfctr_start(): a number), or -1
 * with errno set.  Functions that return a pointer return NULL with errno set on failure.
 */
#ifndef LIBPERFCTR_2_6_H
#define LIBPERFCTR_2_6_H

#if defined(PERFCTR_H) && !defined(LIBPERFCTR_2_6_INSIDE)
#error "<perfctr.h> and perfctr 2.6's <libperfctr.h> have the same names for different things"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The versions of the interface, of the list of processors, and both in one number. */
#define PERFCTR_API_VERSION	0x0502
#define PERFCTR_CPU_VERSION	0x0501
#define PERFCTR_ABI_VERSION	((PERFCTR_API_VERSION << 16) | PERFCTR_CPU_VERSION)

/* perfctr_info.cpu_type */
#define PERFCTR_X86_GENERIC	0 /* the time stamp alone */
#define PERFCTR_X86_INTEL_P5	1
#define PERFCTR_X86_INTEL_P5MMX 2
#define PERFCTR_X86_INTEL_P6	3
#define PERFCTR_X86_INTEL_PII	4
#define PERFCTR_X86_INTEL_PIII	5
#define PERFCTR_X86_CYRIX_MII	6
#define PERFCTR_X86_WINCHIP_C6	7
#define PERFCTR_X86_WINCHIP_2	8
#define PERFCTR_X86_AMD_K7	9
#define PERFCTR_X86_VIA_C3	10
#define PERFCTR_X86_INTEL_P4	11 /* models 0 and 1 */
#define PERFCTR_X86_INTEL_P4M2	12
#define PERFCTR_X86_AMD_K8	13
#define PERFCTR_X86_INTEL_PENTM 14
#define PERFCTR_X86_AMD_K8C	15
#define PERFCTR_X86_INTEL_P4M3	16 /* model 3 and later */
#define PERFCTR_X86_INTEL_CORE	17
#define PERFCTR_X86_INTEL_CORE2 18
#define PERFCTR_X86_AMD_FAM10H	19 /* also all later AMD processors */
#define PERFCTR_X86_AMD_FAM10	PERFCTR_X86_AMD_FAM10H
#define PERFCTR_X86_INTEL_ATOM	20
#define PERFCTR_X86_INTEL_NHLM	21
#define PERFCTR_X86_INTEL_COREI7 PERFCTR_X86_INTEL_NHLM
#define PERFCTR_X86_INTEL_WSTMR 22 /* also all later Intel processors */

/* perfctr_info.cpu_features */
#define PERFCTR_FEATURE_RDPMC	0x01
#define PERFCTR_FEATURE_RDTSC	0x02
#define PERFCTR_FEATURE_PCINT	0x04

struct perfctr_info {
	unsigned int abi_version;
	char driver_version[32];
	unsigned int cpu_type;
	unsigned int cpu_features;
	unsigned int cpu_khz;
	unsigned int tsc_to_cpu_mult;
	unsigned int _reserved2, _reserved3, _reserved4;
};

/* mask has nrwords elements; bit n % 32 of mask[n / 32] is CPU n. */
struct perfctr_cpu_mask {
	unsigned int nrwords;
	unsigned int mask[1];
};

/* One allocation of malloc(3): free() frees all of it. */
struct perfctr_cpus_info {
	struct perfctr_cpu_mask *cpus;
	struct perfctr_cpu_mask *cpus_forbidden;
};

struct perfctr_sum_ctrs {
	unsigned long long tsc;
	unsigned long long pmc[18];
};

struct perfctr_cpu_control {
	unsigned int tsc_on;
	unsigned int nractrs;	  /* counters that do not interrupt */
	unsigned int nrictrs;	  /* after them: counters that interrupt */
	unsigned int pmc_map[18]; /* arguments of RDPMC */
	unsigned int evntsel[18];
	__extension__ union {
		struct {
			unsigned int escr[18];
			unsigned int pebs_enable;
			unsigned int pebs_matrix_vert;
		} p4;
		unsigned int evntsel_high[18]; /* AMD, family 10H and later */
		struct {
			unsigned int _pad[18];
			unsigned int offcore_rsp[2];
		} nhlm;
	};
	int ireset[18];
	unsigned int _reserved1, _reserved2, _reserved3, _reserved4;
};

struct vperfctr_control {
	int si_signo;
	struct perfctr_cpu_control cpu_control;
	unsigned int preserve; /* bit i: pmc[i] goes on from its old value */
	unsigned int flags;
	unsigned int _reserved1, _reserved2, _reserved3;
};

#define VPERFCTR_CONTROL_CLOEXEC 0x01

struct gperfctr_cpu_control {
	unsigned int cpu;
	struct perfctr_cpu_control cpu_control;
	unsigned int _reserved1, _reserved2, _reserved3, _reserved4;
};

struct gperfctr_cpu_state {
	unsigned int cpu;
	struct perfctr_cpu_control cpu_control;
	struct perfctr_sum_ctrs sum;
	unsigned int _reserved1, _reserved2, _reserved3, _reserved4;
};

/* The signal of counters that interrupt: its si_code, and a mask of the virtual counters. */
#define SI_PMC_OVF	'P'
#define si_pmc_ovf_mask _sifields._pad[0]

/* The thread's own counters, by a descriptor. */
int _vperfctr_open(int creat);
int _vperfctr_control(int fd, const struct vperfctr_control *control);
int _vperfctr_read_control(int fd, struct vperfctr_control *control);
int _vperfctr_read_sum(int fd, struct perfctr_sum_ctrs *sum);

/* The thread's own counters, by a handle. */
struct vperfctr;

#define VPERFCTR_OPEN_CREAT_EXCL 3

struct vperfctr *vperfctr_open(void);
struct vperfctr *vperfctr_open_mode(unsigned int mode);
int vperfctr_info(const struct vperfctr *self, struct perfctr_info *info);
struct perfctr_cpus_info *vperfctr_cpus_info(const struct vperfctr *self);
unsigned long long vperfctr_read_tsc(const struct vperfctr *self);
unsigned long long vperfctr_read_pmc(const struct vperfctr *self, unsigned int i);
int vperfctr_read_ctrs(const struct vperfctr *self, struct perfctr_sum_ctrs *sum);
int vperfctr_read_state(const struct vperfctr *self, struct perfctr_sum_ctrs *sum,
			struct vperfctr_control *control);
int vperfctr_control(const struct vperfctr *self, struct vperfctr_control *control);
int vperfctr_stop(const struct vperfctr *self);
int vperfctr_is_running(const struct vperfctr *self);
int vperfctr_iresume(const struct vperfctr *self);
int vperfctr_unlink(const struct vperfctr *self);
void vperfctr_close(struct vperfctr *self);

/* Another thread's counters, by the thread's number in the kernel. */
struct rvperfctr;

struct rvperfctr *rvperfctr_open(int pid);
int rvperfctr_pid(const struct rvperfctr *remote);
int rvperfctr_info(const struct rvperfctr *remote, struct perfctr_info *info);
int rvperfctr_read_ctrs(const struct rvperfctr *remote, struct perfctr_sum_ctrs *sum);
int rvperfctr_read_state(const struct rvperfctr *remote, struct perfctr_sum_ctrs *sum,
			 struct vperfctr_control *control);
int rvperfctr_control(const struct rvperfctr *remote, struct vperfctr_control *control);
int rvperfctr_stop(const struct rvperfctr *remote);
int rvperfctr_iresume(const struct rvperfctr *remote);
int rvperfctr_unlink(const struct rvperfctr *remote);
void rvperfctr_close(struct rvperfctr *remote);

/* Counters of CPUs, for all threads that run there. */
struct gperfctr;

struct gperfctr *gperfctr_open(void);
void gperfctr_close(struct gperfctr *global);
int gperfctr_control(const struct gperfctr *global, struct gperfctr_cpu_control *control);
int gperfctr_read(const struct gperfctr *global, struct gperfctr_cpu_state *state);
int gperfctr_stop(const struct gperfctr *global);
int gperfctr_start(const struct gperfctr *global, unsigned int interval_usec);
int gperfctr_info(const struct gperfctr *global, struct perfctr_info *info);
struct perfctr_cpus_info *gperfctr_cpus_info(const struct gperfctr *global);

/* Tables of events. */
enum perfctr_unit_mask_type {
	perfctr_um_type_fixed,
	perfctr_um_type_exclusive,
	perfctr_um_type_bitmask
};

struct perfctr_unit_mask_value {
	unsigned int value;
	const char *description;
};

struct perfctr_unit_mask {
	unsigned short default_value;
	enum perfctr_unit_mask_type type : 8;
	unsigned char nvalues;
	struct perfctr_unit_mask_value values[1];
};

struct perfctr_event {
	unsigned short evntsel;
	unsigned short counters_set;
	const struct perfctr_unit_mask *unit_mask;
	const char *name;
	const char *description;
};

struct perfctr_event_set {
	unsigned int cpu_type;
	const char *event_prefix;
	const struct perfctr_event_set *include;
	unsigned int nevents;
	const struct perfctr_event *events;
};

/* NULL: there is no table for this type. */
const struct perfctr_event_set *perfctr_cpu_event_set(unsigned int cpu_type);

/* The machine. */
int perfctr_info(int fd, struct perfctr_info *info);
int perfctr_get_info(struct perfctr_info *info);
struct perfctr_cpus_info *perfctr_cpus_info(int fd);
unsigned int perfctr_info_nrctrs(const struct perfctr_info *info);
const char *perfctr_info_cpu_name(const struct perfctr_info *info);

/* Print to standard output. */
void perfctr_info_print(const struct perfctr_info *info);
void perfctr_cpus_info_print(const struct perfctr_cpus_info *info);
void perfctr_cpu_control_print(const struct perfctr_cpu_control *control);

/* Does the program speak this library's version? */
int _perfctr_abi_check_fd(int fd, unsigned int user_abi_version);
static __inline__ int perfctr_abi_check_fd(int fd)
{
	return _perfctr_abi_check_fd(fd, PERFCTR_ABI_VERSION);
}

#ifdef __cplusplus
}
#endif
#endif
