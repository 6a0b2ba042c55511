// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of a tree: what a thread was doing when a period of one of its events ended.
 *
 * A sample has an address in the kernel only if its event counts kernel mode. If the event counts
 * only user mode, the sample has the address at which the thread goes on in user mode, even if the
 * interrupt came later, in the kernel.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <asm/irq_regs.h>
#include <asm/processor.h>
#include "../machine/percpu.h"
#include "../kernel/owner.h"
#include "internal.h"

/* Exists from SAMPLES until the descriptor that made the tree is closed. */
struct perfctr_sampling {
	struct perfctr_rings rings;
	struct mutex lock;		/* serializes clears, consumers and reads of the rings */
	u32 flags;			/* PERFCTR_SAMPLES_* */
	u32 depth;
	bool kernel;			/* made by a caller who may count the kernel */
	u32 watermark;			/* as requested */
	u64 max_samples;		/* as requested; 0: unlimited */
	struct irq_work wake;
	struct wait_queue_head *wait;
	/* Since the last control: */
	u32 n_counters;
	u32 wake_at;			/* records in a ring that wake the reader */
	bool ended;			/* all max_samples are visible */
	atomic64_t left;		/* of max_samples, still to be written */
	atomic64_t unshown;		/* of max_samples, not yet visible in a ring */
	atomic64_t lost_weight[PERFCTR_MAX_COUNTERS];
};

/* Deferred, because the scheduler's locks may be held where a sample is written. */
static void wake_reader(struct irq_work *work)
{
	wake_up_interruptible(container_of(work, struct perfctr_sampling, wake)->wait);
}

static bool is_samples_request_valid(const struct perfctr_samples_args *args)
{
	bool chain = args->flags & PERFCTR_SAMPLES_CHAIN;

	return !(args->flags & ~(PERFCTR_SAMPLES_REGISTERS | PERFCTR_SAMPLES_CHAIN)) &&
	       args->room_bytes >= PAGE_SIZE && args->room_bytes <= PERFCTR_MAX_RING_BYTES &&
	       args->depth <= PERFCTR_MAX_DEPTH && chain == (args->depth != 0) &&
	       args->jitter <= 100 && !args->n_cpus && !args->ring_bytes;
}

static void free_sampling(struct perfctr_sampling *s)
{
	perfctr_rings_free(&s->rings);
	kfree(s);
}

static struct perfctr_sampling *alloc_sampling(struct perfctr_tree *tree,
					       const struct perfctr_samples_args *args)
{
	struct perfctr_sampling *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	mutex_init(&s->lock);
	init_irq_work(&s->wake, wake_reader);
	s->wait = &tree->wait;
	s->flags = args->flags;
	s->depth = args->depth;
	s->watermark = args->watermark;
	s->max_samples = args->max_samples;
	s->kernel = !perfctr_may_count_kernel();
	if (perfctr_rings_alloc(&s->rings, cpu_possible_mask, args->room_bytes)) {
		free_sampling(s);
		return NULL;
	}
	return s;
}

int perfctr_begin_sampling(struct perfctr_tree *tree, struct perfctr_samples_args *args)
{
	size_t bytes = sizeof(struct perfctr_sampling) +
		       perfctr_rings_bytes(cpu_possible_mask, args->room_bytes);
	struct perfctr_sampling *s;
	int err;

	lockdep_assert_held(&tree->lock);
	if (tree->sampling)
		return -EBUSY;
	err = perfctr_charge(tree->payer, bytes);
	if (err)
		return err;
	s = alloc_sampling(tree, args);
	if (!s) {
		perfctr_uncharge(tree->payer, bytes);
		return -ENOMEM;
	}
	tree->variation.jitter = args->jitter;
	tree->variation.chosen = args->seed;
	args->n_cpus = nr_cpu_ids;
	args->ring_bytes = s->rings.ring_bytes;
	smp_store_release(&tree->sampling, s);	/* publishes *s */
	return 0;
}

int perfctr_check_samples(const struct perfctr_samples_args *args)
{
	if (!is_samples_request_valid(args))
		return -EINVAL;
	if (!(perfctr_features() & PERFCTR_FEATURE_INTERRUPT))
		return -EOPNOTSUPP;
	return args->room_bytes > PERFCTR_MAX_USER_ROOM_BYTES && !perfmon_capable() ? -EACCES : 0;
}

void perfctr_end_sampling(struct perfctr_tree *tree)
{
	struct perfctr_sampling *s = tree->sampling;

	if (!s)
		return;
	WRITE_ONCE(tree->sampling, NULL);
	/* A CPU that still uses s has interrupts off, so RCU waits for it. */
	synchronize_rcu();
	irq_work_sync(&s->wake);
	free_sampling(s);
}

static u32 record_bytes(const struct perfctr_sampling *s)
{
	u32 words = s->n_counters;

	if (s->flags & PERFCTR_SAMPLES_REGISTERS)
		words += sizeof(struct perfctr_sample_registers) / sizeof(u64);
	if (s->flags & PERFCTR_SAMPLES_CHAIN)
		words += 1 + s->depth;
	return struct_size((struct perfctr_sample *)NULL, counter, words);
}

void perfctr_clear_samples(struct perfctr_tree *tree, u32 n_counters)
{
	struct perfctr_sampling *s = tree->sampling;
	u32 bytes, room;

	lockdep_assert_held(&tree->lock);
	if (!s)
		return;
	mutex_lock(&s->lock);
	s->n_counters = n_counters;
	bytes = record_bytes(s);
	perfctr_rings_clear(&s->rings, bytes);
	room = rounddown_pow_of_two(s->rings.room_bytes / bytes);
	WRITE_ONCE(s->wake_at, clamp(s->watermark ?: room / 2, 1U, room));
	memset(s->lost_weight, 0, sizeof(s->lost_weight));
	atomic64_set(&s->left, min_t(u64, s->max_samples, S64_MAX));
	atomic64_set(&s->unshown, atomic64_read(&s->left));
	WRITE_ONCE(s->ended, false);
	mutex_unlock(&s->lock);
}

int perfctr_may_sample(const struct perfctr_tree *tree, const struct perfctr_hw_control *hw)
{
	return tree->sampling && hw->counts_kernel && !tree->sampling->kernel ? -EACCES : 0;
}

/* Returns 0 if the caller may see what the rings hold, or will hold. */
static int may_see_samples(const struct perfctr_sampling *s)
{
	return s->kernel ? perfctr_may_count_kernel() : 0;
}

/*
 * The callers of this and of the following functions, to perfctr_read_sampled(), have the
 * descriptor that made the tree. The descriptor keeps the sampling alive.
 */
static struct perfctr_sampling *tree_sampling(struct perfctr_tree *tree)
{
	return smp_load_acquire(&tree->sampling);	/* pairs with the release */
}

int perfctr_mmap_samples(struct perfctr_tree *tree, struct vm_area_struct *vma,
			 unsigned long offset)
{
	struct perfctr_sampling *s = tree_sampling(tree);

	if (!s)
		return -EINVAL;
	return may_see_samples(s) ?: perfctr_rings_mmap(&s->rings, vma, offset);
}

int perfctr_consume_samples(struct perfctr_tree *tree, const struct perfctr_consume *consume)
{
	struct perfctr_sampling *s = tree_sampling(tree);
	int err;

	if (!s)
		return -EINVAL;
	mutex_lock(&s->lock);
	err = perfctr_rings_consume(&s->rings, consume);
	mutex_unlock(&s->lock);
	return err;
}

__poll_t perfctr_poll_samples(struct perfctr_tree *tree)
{
	struct perfctr_sampling *s = tree_sampling(tree);
	unsigned int cpu;
	__poll_t events;

	if (!s)
		return 0;
	events = READ_ONCE(s->ended) ? EPOLLHUP : 0;
	for_each_possible_cpu(cpu)
		if (perfctr_ring_fill(&s->rings.cpu[cpu]) >= max(READ_ONCE(s->wake_at), 1U))
			return events | EPOLLIN | EPOLLRDNORM;
	return events;
}

static void read_sampled(struct perfctr_sampling *s, struct perfctr_sampled *sampled)
{
	const struct perfctr_ring *ring;
	unsigned int cpu, i;

	sampled->n_counters = s->n_counters;
	if (smp_load_acquire(&s->ended))	/* before the rings */
		sampled->flags |= PERFCTR_SAMPLED_ENDED;
	for_each_possible_cpu(cpu) {
		ring = s->rings.cpu[cpu].buffer.address;
		sampled->samples += READ_ONCE(ring->head);
		sampled->lost += READ_ONCE(ring->lost);
	}
	for (i = 0; i < s->n_counters; i++)
		sampled->lost_weight[i] = atomic64_read(&s->lost_weight[i]);
}

int perfctr_read_sampled(struct perfctr_tree *tree, struct perfctr_sampled *sampled)
{
	struct perfctr_sampling *s = tree_sampling(tree);
	int err = s ? may_see_samples(s) : -ENOENT;

	if (err)
		return err;
	mutex_lock(&s->lock);
	read_sampled(s, sampled);
	mutex_unlock(&s->lock);
	return 0;
}

static void store_registers(struct perfctr_sample_registers *to, const struct pt_regs *from)
{
	*to = (struct perfctr_sample_registers){
		.ax = from->ax, .bx = from->bx, .cx = from->cx, .dx = from->dx,
		.si = from->si, .di = from->di, .bp = from->bp, .sp = from->sp,
		.ip = from->ip, .flags = from->flags,
#ifdef CONFIG_X86_64
		.r8 = from->r8, .r9 = from->r9, .r10 = from->r10, .r11 = from->r11,
		.r12 = from->r12, .r13 = from->r13, .r14 = from->r14, .r15 = from->r15,
#endif
	};
}

/* A frame pointer points to this: the caller's frame pointer, then the return address. */
struct frame {
	u64 caller;
	u64 address;
};

/* wide: the frame is of a 64-bit program. */
static bool read_frame(unsigned long at, bool wide, struct frame *frame)
{
	u32 narrow[2];

	if (wide)
		return !copy_from_user_nofault(frame, (const void __user *)at, sizeof(*frame));
	if (copy_from_user_nofault(narrow, (const void __user *)at, sizeof(narrow)))
		return false;
	frame->caller = narrow[0];
	frame->address = narrow[1];
	return true;
}

/*
 * Stores the return addresses of current's callers in chain, and returns their number. The contents
 * of current's stack cannot be trusted.
 */
static u32 walk_chain(struct pt_regs *regs, u64 *chain, u32 depth)
{
	bool wide = user_64bit_mode(regs);
	u64 at = regs->bp;
	struct frame frame;
	u32 n;

	for (n = 0; n < depth; n++) {
		if (at & (wide ? 7 : 3) || !read_frame(at, wide, &frame) || !frame.address ||
		    frame.address >= TASK_SIZE_MAX)
			break;
		chain[n] = frame.address;
		if (frame.caller <= at)
			return n + 1;
		at = frame.caller;
	}
	return n;
}

/*
 * Stores registers and chain after the counts. told: the sample is taken in an interrupt. Otherwise
 * another address space than the stack's may be loaded, so the chain is empty.
 */
static void store_user_state(const struct perfctr_sampling *s, u64 *to, struct pt_regs *regs,
			     bool told)
{
	if (s->flags & PERFCTR_SAMPLES_REGISTERS) {
		store_registers((struct perfctr_sample_registers *)to, regs);
		to += sizeof(struct perfctr_sample_registers) / sizeof(u64);
	}
	if (s->flags & PERFCTR_SAMPLES_CHAIN)
		*to = told && current->mm ? walk_chain(regs, to + 1, s->depth) : 0;
}

static void store_place(struct perfctr_sample *sample, const struct pt_regs *user,
			const struct perfctr_passed *passed)
{
	struct pt_regs *here = passed->told ? get_irq_regs() : NULL;

	sample->ip = user->ip;
	sample->flags = 0;
	if (!here) {
		sample->flags = PERFCTR_SAMPLE_FOUND;
		if (__this_cpu_read(perfctr_cpu.put_off))
			sample->flags |= PERFCTR_SAMPLE_THROTTLED;
	} else if (!user_mode(here) && passed->kernel) {
		sample->flags = PERFCTR_SAMPLE_KERNEL;
		sample->ip = here->ip;
	} else if (!user_mode(here)) {
		sample->flags = PERFCTR_SAMPLE_SKIDDED;
	}
}

static void store_counts(struct perfctr_sample *sample, const struct perfctr_page *page, u32 n)
{
	u32 i;

	sample->time = page->tsc.sum - page->tsc.bias;
	sample->tsc = page->tsc.sum;
	for (i = 0; i < n; i++)
		sample->counter[i] = page->counter[i].sum;
}

/* Takes one of the max_samples. Returns whether there was one left. */
static bool take_sample_place(struct perfctr_sampling *s)
{
	return atomic64_dec_return(&s->left) >= 0;
}

/*
 * Called after a sample that took one of the max_samples has become visible. The CPU that shows the
 * last one reports the end.
 */
static void fill_sample_place(struct perfctr_sampling *s)
{
	if (!atomic64_dec_and_test(&s->unshown))
		return;
	smp_store_release(&s->ended, true);	/* after the rings */
	irq_work_queue(&s->wake);
}

static void write_sample(struct perfctr_sampling *s, const struct perfctr_context *ctx,
			 const struct perfctr_passed *passed)
{
	struct perfctr_cpu_ring *ring = &s->rings.cpu[smp_processor_id()];
	struct pt_regs *user = task_pt_regs(ctx->task);
	struct perfctr_sample *sample = perfctr_ring_claim(ring);

	if (!sample) {
		atomic64_add(passed->weight, &s->lost_weight[passed->event]);
		return;
	}
	if (s->max_samples && !take_sample_place(s))
		return;
	store_counts(sample, ctx->page, s->n_counters);
	sample->type = PERFCTR_SAMPLE_PERIOD;
	sample->tgid = task_tgid_nr_ns(ctx->task, ctx->tree->ns);
	sample->tid = task_pid_nr_ns(ctx->task, ctx->tree->ns);
	sample->event = passed->event;
	sample->lost = ring->lost;
	sample->periods = passed->periods;
	sample->late = passed->late;
	sample->weight = passed->weight;
	store_place(sample, user, passed);
	if (s->flags)
		store_user_state(s, &sample->counter[s->n_counters], user, passed->told);
	perfctr_ring_show(ring);
	if (s->max_samples)
		fill_sample_place(s);
	if (perfctr_ring_fill(ring) == s->wake_at)
		irq_work_queue(&s->wake);
}

/*
 * The thread of ctx runs here, or has run here until now. Members that still count under an older
 * control are not sampled: the rings are not laid out for that control.
 */
void perfctr_sample(const struct perfctr_context *ctx, const struct perfctr_passed *passed)
{
	struct perfctr_sampling *s = smp_load_acquire(&ctx->tree->sampling); /* before *s */

	if (s && ctx->generation == READ_ONCE(ctx->tree->generation) && !READ_ONCE(s->ended))
		write_sample(s, ctx, passed);
}
