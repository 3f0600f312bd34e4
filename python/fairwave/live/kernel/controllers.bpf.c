// AIMD(alpha, beta), Reno+gamma and Reno+gamma+delta as congestion control of the Linux kernel: the laws of tcp/aimd, tcp/gamma and
// tcp/gamma-delta with the preset `linux`.
//
// Source: paper 003 Eq. (1), (2), (15)-(17), with the same interpretation as fairwave's controllers (aimd.rs, gamma.rs). The kernel does
// loss detection, recovery, proportional rate reduction and its undo.
//
// The kernel has no floating-point numbers. Parameters are in millionths, the fraction of the window in thousand-millionths of a segment,
// round trips in microseconds.
//
// Deviations from the simulated controllers: after a loss the window begins at a whole number of segments. The kernel decides whether the
// window is filled. The round trip of a retransmitted segment is known to a millisecond.
//
// Compiled with FAIRWAVE_LAW (0, 1, 2), FAIRWAVE_NAME, FAIRWAVE_ALPHA, FAIRWAVE_BETA, FAIRWAVE_UPPER, FAIRWAVE_LOWER and FAIRWAVE_DELTA.

#include FAIRWAVE_TYPES // the kernel's types, from its BTF
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define HAS_GAMMA (FAIRWAVE_LAW >= 1)
#define HAS_DELTA (FAIRWAVE_LAW >= 2)

#define MILLION 1000000ULL
#define BILLION 1000000000ULL
#define LEAST_THRESHOLD 2
#define NOT_RESTRICTED 1 // the kernel's TCP_CONG_NON_RESTRICTED
#define NEVER (~0ULL)
// Limit on segments per acknowledgement, so that the arithmetic cannot overflow. No acknowledgement covers more.
#define MOST_ACKNOWLEDGED 65535

// Calls to kernel functions need a licence that is compatible with the kernel's; fairwave's MIT licence is.
char _license[] SEC("license") = "Dual MIT/GPL";

// Requested parameters; `fairwave kernel list` reads them from the kernel.
struct fairwave_parameters {
	__u32 law, alpha, beta, upper, lower, delta;
	char name[16];
};
const volatile struct fairwave_parameters fairwave_asked = {
	FAIRWAVE_LAW, FAIRWAVE_ALPHA, FAIRWAVE_BETA, FAIRWAVE_UPPER, FAIRWAVE_LOWER, FAIRWAVE_DELTA, FAIRWAVE_NAME
};

extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

// State of a connection, in the kernel's private memory for controllers.
struct fairwave_flow {
	__u64 due;      // microseconds: time at which a pending decrease takes effect
	__u32 fraction; // fraction of the window beyond its whole segments, in thousand-millionths
	__u32 rtt;      // microseconds: latest, smallest (`least`) and largest (`most`) round trip
	__u32 least;
	__u32 most;
	__u32 rest; // no decrease is detected until data beyond this sequence number is acknowledged
	__u32 una;  // `snd_una` at the acknowledgement before
	__u32 smoothed; // the kernel's smoothed round trip times 8, at the acknowledgement before
};

static __always_inline struct fairwave_flow *state_of(struct sock *sk)
{
	return (struct fairwave_flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

// Cancels a pending decrease, because a larger one was made or the window was reset.
static __always_inline void overtaken(struct sock *sk)
{
	struct fairwave_flow *state = state_of(sk);

	state->due = NEVER;
	state->rest = ((struct tcp_sock *)sk)->snd_nxt;
	state->fraction = 0;
}

// The kernel's tcp_is_cwnd_limited.
static __always_inline bool is_filled(const struct tcp_sock *tp)
{
	if (tp->is_cwnd_limited)
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

// Additive increase: `rate` millionths of a segment per acknowledged window.
static __always_inline void grow(struct sock *sk, __u64 rate, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct fairwave_flow *state = state_of(sk);
	__u64 window = tp->snd_cwnd * 1000ULL + state->fraction / MILLION; // thousandths

	if (acked > MOST_ACKNOWLEDGED)
		acked = MOST_ACKNOWLEDGED;
	if (window == 0)
		return;
	__u64 grown = state->fraction + rate * acked * MILLION / window;
	__u64 whole = tp->snd_cwnd + grown / BILLION;

	state->fraction = grown % BILLION;
	tp->snd_cwnd = whole < tp->snd_cwnd_clamp ? whole : tp->snd_cwnd_clamp;
}

SEC("struct_ops/fw_init")
void BPF_PROG(fw_init, struct sock *sk)
{
	struct fairwave_flow *state = state_of(sk);

	state->due = NEVER;
	state->fraction = 0;
	state->rtt = 0;
	state->least = ~0U;
	state->most = 0;
	state->rest = ((struct tcp_sock *)sk)->snd_una;
	state->una = state->rest;
	state->smoothed = ((struct tcp_sock *)sk)->srtt_us;
}

// Multiplicative decrease to beta times the data in flight, also after a retransmission timeout.
SEC("struct_ops/fw_ssthresh")
__u32 BPF_PROG(fw_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 in_use = tp->packets_out < tp->snd_cwnd ? tp->packets_out : tp->snd_cwnd;
	__u64 left = in_use * fairwave_asked.beta / MILLION;

	overtaken(sk);
	return left > LEAST_THRESHOLD ? left : LEAST_THRESHOLD;
}

SEC("struct_ops/fw_undo")
__u32 BPF_PROG(fw_undo, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

#if HAS_GAMMA
// Round trip of the first acknowledged segment, including the receiver's acknowledgement delay. The kernel passes only the last segment's
// round trip (`sample`). But it has just added the first one's to the smoothed round trip with weight 1/8 (RFC 6298 section 2,
// tcp_rtt_estimator: smoothed += rtt - smoothed / 8, eightfold), in whole microseconds. So this function computes it from the change.
SEC("struct_ops/fw_acked")
void BPF_PROG(fw_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct fairwave_flow *state = state_of(sk);
	__u32 before = state->smoothed, una = state->una;

	state->smoothed = tp->srtt_us;
	state->una = tp->snd_una;
	if (tp->snd_una == una)
		return;
	state->rtt = before ? tp->srtt_us - before + (before >> 3) : tp->srtt_us >> 3;
	if (state->rtt < state->least)
		state->least = state->rtt;
	if (state->rtt > state->most)
		state->most = state->rtt;
}

SEC("struct_ops/fw_event")
void BPF_PROG(fw_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_CWND_RESTART)
		overtaken(sk);
}

// Whether the queueing delay is at least (`at_most`: at most) this share of the largest queueing delay, in millionths (Eq. 15, 17).
static __always_inline bool at_least(const struct fairwave_flow *state, __u64 share)
{
	return state->most > state->least && (state->rtt - state->least) * MILLION >= share * (state->most - state->least);
}

#if HAS_DELTA
static __always_inline bool at_most(const struct fairwave_flow *state, __u64 share)
{
	return state->most <= state->least || (state->rtt - state->least) * MILLION <= share * (state->most - state->least);
}
#endif

// Multiplies the window by gamma of Eq. (16), to the largest window that leaves the queue empty.
static __always_inline void to_the_knee(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct fairwave_flow *state = state_of(sk);
	__u64 upper = fairwave_asked.upper;
	__u64 nanoseconds = (upper * state->most + (MILLION - upper) * state->least) / 1000;
	__u64 window = tp->snd_cwnd * 1000ULL + state->fraction / MILLION;

	if (nanoseconds == 0)
		return;
	window = window * (state->least * BILLION / nanoseconds) / MILLION;
	if (window < LEAST_THRESHOLD * 1000)
		window = LEAST_THRESHOLD * 1000;
	tp->snd_cwnd = window / 1000;
	state->fraction = window % 1000 * MILLION;
	if (tp->snd_ssthresh > tp->snd_cwnd)
		tp->snd_ssthresh = tp->snd_cwnd;
}
#endif

SEC("struct_ops/fw_avoid")
void BPF_PROG(fw_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	bool filled = is_filled(tp);

	if (tp->snd_cwnd < tp->snd_ssthresh) {
		if (filled)
			tcp_slow_start(tp, acked);
		return;
	}
	__u64 rate = fairwave_asked.alpha;
#if HAS_GAMMA
	struct fairwave_flow *state = state_of(sk);
#if HAS_DELTA
	if (at_most(state, fairwave_asked.lower))
		rate = fairwave_asked.delta;
#endif
#endif
	if (filled)
		grow(sk, rate, acked);
#if HAS_GAMMA
	// A decrease is detected now and takes effect a round trip later.
	if (state->due == NEVER && (__s32)(tp->snd_una - state->rest) > 0 && at_least(state, fairwave_asked.upper))
		state->due = tp->tcp_mstamp + state->rtt;
	if (tp->tcp_mstamp >= state->due) {
		to_the_knee(sk);
		state->due = NEVER;
		state->rest = tp->snd_nxt;
	}
#endif
}

SEC(".struct_ops")
struct tcp_congestion_ops fairwave = {
	.init = (void *)fw_init,
	.ssthresh = (void *)fw_ssthresh,
	.undo_cwnd = (void *)fw_undo,
	.cong_avoid = (void *)fw_avoid,
#if HAS_GAMMA
	.pkts_acked = (void *)fw_acked,
	.cwnd_event = (void *)fw_event,
#endif
	// Unprivileged programs may select it, because programs in `fairwave shell` have no privileges.
	.flags = NOT_RESTRICTED,
	.name = FAIRWAVE_NAME,
};
