//! Trace file of one flow. Events are in time order; an event is written when no earlier one can follow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fairwave_core::packet::{Body, Packet};
use fairwave_core::transport::{Properties, ReceiverView, SenderView};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;
use serde_json::{Map, Value, json};

/// A transmission of a segment without acknowledgement.
#[derive(Clone, Copy)]
struct InFlight {
    number: u64,
    payload: u64,
    /// Declared lost, so not counted in flight.
    lost: bool,
}

/// Congestion control state, with qlog's names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    SlowStart,
    Avoidance,
    Recovery,
    Timeout,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::SlowStart => "slow_start",
            State::Avoidance => "congestion_avoidance",
            State::Recovery => "recovery",
            State::Timeout => "timeout",
        }
    }
}

/// A threshold above this many segments counts as unset.
const MOST_SEGMENTS: f64 = 1e6;

/// Events of one flow.
pub(super) struct Trace {
    path: PathBuf,
    writer: BufWriter<File>,
    /// Payload of a full segment; `None` for transports other than TCP.
    segment: Option<u16>,
    /// Number of packets sent so far.
    numbers: u64,
    /// TCP: transmissions in flight, by segment.
    in_flight: BTreeMap<u32, InFlight>,
    bytes: u64,
    smallest: Option<f64>,
    latest: Option<f64>,
    /// Last reported value of each state variable.
    reported: Map<String, Value>,
    decided: Map<String, Value>,
    state: Option<State>,
    timeouts: u64,
    reductions: u64,
    /// End of the recovery: one past the highest segment sent at its start.
    recovers_to: u32,
    highest: u32,
    acknowledged: u32,
    pending: BinaryHeap<Reverse<(Instant, u64, String)>>,
    events: u64,
    written: u64,
}

impl Trace {
    /// Creates the file and writes everything before the events.
    pub fn new(plan: &Plan, flow: usize, path: &Path) -> io::Result<Self> {
        let mut writer = BufWriter::new(crate::capture::create_file(path)?);
        let own = &plan.flows[flow];
        let title = format!("{}, seed {}: {} by {}", plan.name, plan.seed.0, own.name, own.transport.label());
        let point = json!({ "name": format!("sender {}", plan.nodes[own.from]), "type": "server" });
        let common = json!({
            "ODCID": format!("{flow:08x}"),
            "group_id": own.name,
            "time_format": "relative",
            "reference_time": 0,
            "protocol_type": [own.transport.label()],
        });
        write!(
            writer,
            "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON\",\"title\":{},\"traces\":[{{\"title\":{},\"vantage_point\":{point},\"common_fields\":{common},\"events\":[",
            json!(title),
            json!(own.name),
        )?;
        Ok(Trace {
            path: path.to_owned(),
            writer,
            segment: own.transport.tcp().map(|tcp| tcp.segment),
            numbers: 0,
            in_flight: BTreeMap::new(),
            bytes: 0,
            smallest: None,
            latest: None,
            reported: Map::new(),
            decided: Map::new(),
            state: None,
            timeouts: 0,
            reductions: 0,
            recovers_to: 0,
            highest: 0,
            acknowledged: 0,
            pending: BinaryHeap::new(),
            events: 0,
            written: 0,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn event(&mut self, at: Instant, name: &str, data: &Value) {
        let text = json!({ "time": at.nanos() as f64 / 1e6, "name": name, "data": data }).to_string();
        self.pending.push(Reverse((at, self.events, text)));
        self.events += 1;
    }

    /// Records a data packet that leaves the sender.
    pub fn sent(&mut self, packet: &Packet, at: Instant) -> io::Result<()> {
        // Reports among the data have no sequence number.
        let own = packet.sequence().map(u64::from).filter(|_| self.segment.is_none());
        let number = own.unwrap_or(self.numbers);
        self.numbers = number + u64::from(self.segment.is_some() || own.is_some());
        let mut frames = Vec::new();
        if let Body::Segment { payload, sequence, retransmission, .. } = packet.body {
            let payload = u64::from(payload);
            if let Some(before) = self.in_flight.get(&sequence).copied().filter(|_| retransmission) {
                let trigger = if self.state == Some(State::Timeout) { "pto_expired" } else { "reordering_threshold" };
                self.lost(sequence, before, at, trigger);
            }
            self.in_flight.insert(sequence, InFlight { number, payload, lost: false });
            self.bytes += payload;
            self.highest = self.highest.max(sequence + 1);
            let offset = u64::from(sequence.saturating_sub(1)) * u64::from(self.segment.unwrap_or(0));
            frames.push(if sequence == 0 {
                json!({ "frame_type": "crypto", "offset": offset, "length": payload })
            } else {
                json!({ "frame_type": "stream", "stream_id": 0, "offset": offset, "length": payload })
            });
        }
        let data = json!({
            "header": { "packet_type": "1RTT", "packet_number": number },
            "raw": { "length": packet.wire },
            "frames": frames,
        });
        self.event(at, "transport:packet_sent", &data);
        Ok(())
    }

    /// Records that the sender declares a transmission lost.
    fn lost(&mut self, segment: u32, before: InFlight, at: Instant, trigger: &str) {
        if before.lost {
            return;
        }
        self.bytes = self.bytes.saturating_sub(before.payload);
        if let Some(known) = self.in_flight.get_mut(&segment) {
            known.lost = true;
        }
        let data = json!({ "header": { "packet_type": "1RTT", "packet_number": before.number }, "trigger": trigger });
        self.event(at, "recovery:packet_lost", &data);
    }

    /// Records a packet lost by the network. TCP detects losses itself.
    pub fn gone(&mut self, packet: &Packet, at: Instant, why: &str) -> io::Result<()> {
        if let Some(sequence) = packet.sequence().filter(|_| self.segment.is_none()) {
            let data = json!({
                "header": { "packet_type": "1RTT", "packet_number": sequence },
                "fairwave_cause": why,
            });
            self.event(at, "recovery:packet_lost", &data);
        }
        Ok(())
    }

    /// Records feedback that reaches the sender.
    pub fn received(&mut self, packet: &Packet, at: Instant) -> io::Result<()> {
        let mut frames = Vec::new();
        if let Body::Ack { next, echo, sack, .. } = packet.body {
            if next > self.acknowledged {
                self.acknowledged = next;
                let latest = at.span_since(echo).millis();
                self.latest = Some(latest);
                self.smallest = Some(self.smallest.map_or(latest, |smallest| smallest.min(latest)));
            }
            let mut numbers = Vec::new();
            let kept = self.in_flight.split_off(&next);
            numbers.extend(self.take(kept));
            for block in sack.iter().filter(|block| block.first < block.end) {
                let held: Vec<u32> =
                    self.in_flight.range(block.first..block.end).map(|(segment, _)| *segment).collect();
                for segment in held {
                    if let Some(one) = self.in_flight.remove(&segment) {
                        self.bytes = self.bytes.saturating_sub(if one.lost { 0 } else { one.payload });
                        numbers.push(one.number);
                    }
                }
            }
            numbers.sort_unstable();
            if !numbers.is_empty() {
                frames.push(json!({ "frame_type": "ack", "acked_ranges": ranges(&numbers) }));
            }
        }
        let data = json!({
            "header": { "packet_type": "1RTT" },
            "raw": { "length": packet.wire },
            "frames": frames,
        });
        self.event(at, "transport:packet_received", &data);
        Ok(())
    }

    /// Replaces the transmissions in flight by `kept`, and returns the packet numbers of the acknowledged rest.
    fn take(&mut self, kept: BTreeMap<u32, InFlight>) -> Vec<u64> {
        let acknowledged = std::mem::replace(&mut self.in_flight, kept);
        let bytes: u64 = acknowledged.values().filter(|one| !one.lost).map(|one| one.payload).sum();
        self.bytes = self.bytes.saturating_sub(bytes);
        acknowledged.into_values().map(|one| one.number).collect()
    }

    /// Records the sender's state after it has handled an event.
    pub fn acted(&mut self, view: &SenderView, receiver: &ReceiverView, at: Instant) -> io::Result<()> {
        let smoothed_rtt = view.smoothed_rtt.map(|seconds| seconds * 1e3);
        if let Some(segment) = self.segment {
            self.change_state(view, at);
            let bytes = |segments: Option<f64>| match segments {
                Some(segments) if segments < MOST_SEGMENTS => json!((segments * f64::from(segment)).round() as u64),
                _ => Value::Null,
            };
            let metrics = [
                ("congestion_window", bytes(view.window)),
                ("ssthresh", bytes(view.slow_start_threshold)),
                ("bytes_in_flight", json!(self.bytes)),
                ("packets_in_flight", json!(self.in_flight.len())),
                ("smoothed_rtt", number(smoothed_rtt)),
                ("latest_rtt", number(self.latest)),
                ("min_rtt", number(self.smallest)),
            ];
            let changed = changed(&mut self.reported, metrics);
            if !changed.is_empty() {
                self.event(at, "recovery:metrics_updated", &Value::Object(changed));
            }
        } else if smoothed_rtt.is_some() {
            let changed = changed(&mut self.reported, [("smoothed_rtt", number(smoothed_rtt))]);
            if !changed.is_empty() {
                self.event(at, "recovery:metrics_updated", &Value::Object(changed));
            }
        }
        // A TCP's rate is its window divided by its round trip, both already reported.
        let rate = view.rate.filter(|_| self.segment.is_none());
        let estimate = view.estimate.map_or(Value::Null, |estimate| {
            json!({ "quantity": estimate.quantity(), "unit": estimate.unit(), "value": number(Some(estimate.value())) })
        });
        let decisions = [
            ("rate_bps", number(rate)),
            ("estimate", estimate),
            ("layers", number(view.layers.map(f64::from))),
            ("receive_rate_bps", number(receiver.receive_rate)),
            ("bound_bps", number(receiver.bound)),
            ("asked_rate_bps", number(receiver.rate)),
            ("asked_layers", number(receiver.layers.map(f64::from))),
            ("losses_as_congestion", count(receiver.congestion_events)),
            ("losses_as_random", count(receiver.random_events)),
        ];
        let changed = changed(&mut self.decided, decisions);
        if !changed.is_empty() {
            self.event(at, "fairwave:controller", &Value::Object(changed));
        }
        Ok(())
    }

    fn change_state(&mut self, view: &SenderView, at: Instant) {
        let state = if view.timeouts > self.timeouts {
            self.recovers_to = self.highest;
            State::Timeout
        } else if view.fast_retransmits > self.reductions {
            self.recovers_to = self.highest;
            State::Recovery
        } else if let Some(state @ (State::Timeout | State::Recovery)) = self.state
            && self.acknowledged < self.recovers_to
        {
            state
        } else if view.window.zip(view.slow_start_threshold).is_some_and(|(window, threshold)| window < threshold) {
            State::SlowStart
        } else {
            State::Avoidance
        };
        (self.timeouts, self.reductions) = (view.timeouts, view.fast_retransmits);
        if self.state != Some(state) {
            let mut data = Map::new();
            if let Some(old) = self.state {
                data.insert("old".to_owned(), json!(old.name()));
            }
            data.insert("new".to_owned(), json!(state.name()));
            self.state = Some(state);
            self.event(at, "recovery:congestion_state_updated", &Value::Object(data));
        }
    }

    /// Writes the events before `now`.
    pub fn write_until(&mut self, now: Instant) -> io::Result<()> {
        while self.pending.peek().is_some_and(|Reverse((at, ..))| *at < now) {
            let Some(Reverse((_, _, text))) = self.pending.pop() else { break };
            let comma = if self.written > 0 { "," } else { "" };
            write!(self.writer, "{comma}\n{text}")?;
            self.written += 1;
        }
        Ok(())
    }

    /// Writes the remaining events. Returns the number of events.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write_until(Instant::NEVER)?;
        writeln!(self.writer, "\n]}}]}}")?;
        self.writer.flush()?;
        Ok(self.written)
    }
}

/// Splits ascending numbers into runs, each with its first and last number.
fn ranges(numbers: &[u64]) -> Vec<[u64; 2]> {
    let run = |run: &[u64]| Some([*run.first()?, *run.last()?]);
    numbers.chunk_by(|one, next| one + 1 == *next).filter_map(run).collect()
}

fn number(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Null, Value::from)
}

/// Returns a count as JSON, or null while it is 0.
fn count(value: u64) -> Value {
    if value > 0 { json!(value) } else { Value::Null }
}

/// Returns the defined variables that have changed since their last report.
fn changed<const N: usize>(reported: &mut Map<String, Value>, now: [(&str, Value); N]) -> Map<String, Value> {
    let mut changed = Map::new();
    for (name, value) in now {
        if !value.is_null() && reported.get(name) != Some(&value) {
            reported.insert(name.to_owned(), value.clone());
            changed.insert(name.to_owned(), value);
        }
    }
    changed
}
