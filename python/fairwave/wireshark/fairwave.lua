-- Dissectors for Wireshark and tshark: fairwave's TFRC, RAP, DVRC and TCP segments over UDP, and RTP and RTCP on the captures' ports.
-- Run tshark -X lua_script:fairwave.lua -r call.pcapng, or copy this file into Wireshark's folder of personal Lua plugins.

local RTP, RTCP, TFRC, RAP, DVRC, SEGMENTS = 5004, 5005, 5010, 5012, 5014, 5001

local udp = DissectorTable.get("udp.port")
udp:add(RTP, Dissector.get("rtp"))
udp:add(RTCP, Dissector.get("rtcp"))

-- Header of an application unit in data packets: docs/protocols/datagrams.md.
local unit = Proto("fairwave_unit", "Unit of the application")
local u = {
  version = ProtoField.uint8("fairwave_unit.version", "Version", base.DEC, nil, 0xf0),
  cut = ProtoField.bool("fairwave_unit.cut", "Cut into parts", 8, nil, 0x01),
  layer = ProtoField.uint8("fairwave_unit.layer", "Layer"),
  payload = ProtoField.uint16("fairwave_unit.payload", "Payload bytes"),
  number = ProtoField.uint32("fairwave_unit.number", "Unit"),
  created = ProtoField.uint64("fairwave_unit.created", "Unit made (ns)"),
  part = ProtoField.uint16("fairwave_unit.part", "Part"),
  parts = ProtoField.uint16("fairwave_unit.parts", "Parts of the unit"),
}
unit.fields = { u.version, u.cut, u.layer, u.payload, u.number, u.created, u.part, u.parts }

function unit.dissector(buffer, pinfo, tree)
  if buffer:len() < 16 then return end
  local of = tree:add(unit, buffer())
  of:add(u.version, buffer(0, 1))
  of:add(u.cut, buffer(0, 1))
  of:add(u.layer, buffer(1, 1))
  of:add(u.payload, buffer(2, 2))
  of:add(u.number, buffer(4, 4))
  of:add(u.created, buffer(8, 8))
  if buffer(0, 1):bitfield(7, 1) == 1 and buffer:len() >= 20 then
    of:add(u.part, buffer(16, 2))
    of:add(u.parts, buffer(18, 2))
  end
end

-- TFRC (RFC 5348 §3.2): docs/protocols/tfrc.md, byte by byte.
local tfrc = Proto("fairwave_tfrc", "TFRC (RFC 5348)")
local t = {
  version = ProtoField.uint8("fairwave_tfrc.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("fairwave_tfrc.type", "Type", base.DEC, { [0] = "data", [1] = "feedback" }, 0x0f),
  sequence = ProtoField.uint32("fairwave_tfrc.seq", "Sequence number"),
  rtt = ProtoField.uint64("fairwave_tfrc.rtt", "Sender's round-trip time (ns)"),
  sent = ProtoField.uint64("fairwave_tfrc.sent", "Sent (ns)"),
  delay = ProtoField.uint64("fairwave_tfrc.delay", "Delay since the packet echoed (ns)"),
  echo = ProtoField.uint64("fairwave_tfrc.echo", "Sent, echoed (ns)"),
  rate = ProtoField.uint64("fairwave_tfrc.x_recv", "Receive rate (b/s)"),
  loss = ProtoField.double("fairwave_tfrc.p", "Loss event rate"),
}
tfrc.fields = { t.version, t.kind, t.sequence, t.rtt, t.sent, t.delay, t.echo, t.rate, t.loss }

function tfrc.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "TFRC"
  local of = tree:add(tfrc, buffer())
  of:add(t.version, buffer(0, 1))
  of:add(t.kind, buffer(0, 1))
  if buffer(0, 1):bitfield(4, 4) == 0 then
    of:add(t.rtt, buffer(2, 6))
    of:add(t.sent, buffer(8, 8))
    of:add(t.sequence, buffer(16, 4))
    unit.dissector(buffer(20):tvb(), pinfo, tree)
    pinfo.cols.info = "data, sequence " .. buffer(16, 4):uint()
  else
    of:add(t.delay, buffer(2, 6))
    of:add(t.echo, buffer(8, 8))
    of:add(t.rate, buffer(16, 8))
    of:add(t.loss, buffer(24, 8))
    pinfo.cols.info = string.format("feedback, loss event rate %.4g", buffer(24, 8):float())
  end
end
udp:add(TFRC, tfrc)

-- RAP (Rejaie, Handley & Estrin 1999): docs/protocols/datagrams.md, byte by byte.
local rap = Proto("fairwave_rap", "Rate Adaptation Protocol")
local r = {
  version = ProtoField.uint8("fairwave_rap.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("fairwave_rap.type", "Type", base.DEC, { [0] = "data", [1] = "acknowledgement" }, 0x0f),
  sequence = ProtoField.uint32("fairwave_rap.seq", "Sequence number"),
  current = ProtoField.uint32("fairwave_rap.current", "Acknowledges"),
  gap = ProtoField.bool("fairwave_rap.gap", "Something is missing"),
  missing = ProtoField.uint32("fairwave_rap.missing", "Latest missing"),
  before = ProtoField.uint32("fairwave_rap.before", "Latest before that"),
}
rap.fields = { r.version, r.kind, r.sequence, r.current, r.gap, r.missing, r.before }

function rap.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "RAP"
  local of = tree:add(rap, buffer())
  of:add(r.version, buffer(0, 1))
  of:add(r.kind, buffer(0, 1))
  if buffer(0, 1):bitfield(4, 4) == 0 then
    of:add(r.sequence, buffer(4, 4))
    unit.dissector(buffer(8):tvb(), pinfo, tree)
    pinfo.cols.info = "data, sequence " .. buffer(4, 4):uint()
  else
    of:add(r.gap, buffer(1, 1))
    of:add(r.current, buffer(4, 4))
    of:add(r.missing, buffer(8, 4))
    of:add(r.before, buffer(12, 4))
    pinfo.cols.info = "acknowledges " .. buffer(4, 4):uint()
  end
end
udp:add(RAP, rap)

-- TCP segments in datagrams: docs/protocols/segments.md, byte by byte.
local segments = Proto("fairwave_segments", "TCP's segments over UDP")
local types = { [0] = "segment", [1] = "forward", [2] = "acknowledgement" }
local s = {
  version = ProtoField.uint8("fairwave_segments.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("fairwave_segments.type", "Type", base.DEC, types, 0x0f),
  flags = ProtoField.uint8("fairwave_segments.flags", "Flags", base.HEX),
  wave = ProtoField.uint16("fairwave_segments.wave", "Wave"),
  size = ProtoField.uint16("fairwave_segments.wave_size", "Segments of the wave"),
  time = ProtoField.uint64("fairwave_segments.time", "Sent, or echoed (ns)"),
  sequence = ProtoField.uint32("fairwave_segments.seq", "Segment"),
  next = ProtoField.uint32("fairwave_segments.next", "Next segment"),
  marked = ProtoField.uint32("fairwave_segments.marked", "Segments marked"),
  rate = ProtoField.float("fairwave_segments.rate", "Rate of the wave (b/s)"),
  first = ProtoField.uint32("fairwave_segments.sack_first", "Block from"),
  ending = ProtoField.uint32("fairwave_segments.sack_end", "Block to, exclusive"),
}
segments.fields = { s.version, s.kind, s.flags, s.wave, s.size, s.time, s.sequence, s.next, s.marked, s.rate, s.first, s.ending }

function segments.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "SEGMENTS"
  local of = tree:add(segments, buffer())
  of:add(s.version, buffer(0, 1))
  of:add(s.kind, buffer(0, 1))
  of:add(s.flags, buffer(1, 1))
  of:add(s.time, buffer(8, 8))
  local kind = buffer(0, 1):bitfield(4, 4)
  if kind == 0 then
    of:add(s.wave, buffer(2, 2))
    of:add(s.size, buffer(4, 2))
    of:add(s.sequence, buffer(16, 4))
    unit.dissector(buffer(20):tvb(), pinfo, tree)
    pinfo.cols.info = "segment " .. buffer(16, 4):uint()
    return
  end
  of:add(s.next, buffer(4, 4))
  pinfo.cols.info = (types[kind] or "unknown") .. ", next " .. buffer(4, 4):uint()
  if kind == 2 then
    local at = 16
    if buffer(1, 1):bitfield(4, 1) == 1 then
      of:add(s.marked, buffer(at, 4))
      at = at + 4
    end
    if buffer(1, 1):bitfield(3, 1) == 1 then
      of:add(s.rate, buffer(at, 4))
      of:add(s.wave, buffer(at + 4, 2))
      at = at + 8
    end
    for _ = 1, buffer(1, 1):bitfield(6, 2) do
      of:add(s.first, buffer(at, 4))
      of:add(s.ending, buffer(at + 4, 4))
      at = at + 8
    end
  end
end
udp:add(SEGMENTS, segments)

-- DVRC: docs/protocols/dvrc.md, byte by byte.
local dvrc = Proto("fairwave_dvrc", "DVRC")
local kinds = { [0] = "data", [1] = "report", [2] = "timeout", [3] = "advertisement" }
local d = {
  version = ProtoField.uint8("fairwave_dvrc.version", "Version", base.DEC, nil, 0xf0),
  kind = ProtoField.uint8("fairwave_dvrc.type", "Type", base.DEC, kinds, 0x0f),
  frame = ProtoField.uint8("fairwave_dvrc.frame", "Frame type", base.DEC, { [0] = "none", [1] = "I", [2] = "P", [3] = "B" }),
  layer = ProtoField.uint8("fairwave_dvrc.layer", "Layer, or number of layers"),
  length = ProtoField.uint16("fairwave_dvrc.length", "Payload bytes"),
  part = ProtoField.uint16("fairwave_dvrc.part", "Part"),
  sequence = ProtoField.uint32("fairwave_dvrc.seq", "Sequence number"),
  timestamp = ProtoField.uint32("fairwave_dvrc.timestamp", "Timestamp (µs)"),
  unit = ProtoField.uint32("fairwave_dvrc.unit", "Unit"),
  parts = ProtoField.uint16("fairwave_dvrc.parts", "Parts of the unit"),
  rtt = ProtoField.uint32("fairwave_dvrc.rtt", "Round-trip time (µs)"),
  timeout = ProtoField.uint32("fairwave_dvrc.timeout", "Timeout (µs)"),
  rate = ProtoField.uint32("fairwave_dvrc.rate", "Rate asked for (b/s)"),
  lost = ProtoField.uint32("fairwave_dvrc.lost", "Packets lost"),
  created = ProtoField.uint64("fairwave_dvrc.created", "Unit made (ns)"),
}
dvrc.fields = { d.version, d.kind, d.frame, d.layer, d.length, d.part, d.sequence, d.timestamp, d.unit, d.parts, d.rtt, d.timeout, d.rate, d.lost, d.created }

function dvrc.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "DVRC"
  local of = tree:add(dvrc, buffer())
  of:add(d.version, buffer(0, 1))
  of:add(d.kind, buffer(0, 1))
  of:add(d.frame, buffer(1, 1))
  of:add(d.layer, buffer(2, 1))
  of:add(d.length, buffer(4, 2))
  of:add(d.part, buffer(6, 2))
  of:add(d.sequence, buffer(8, 4))
  of:add(d.timestamp, buffer(12, 4))
  local kind = buffer(0, 1):bitfield(4, 4)
  pinfo.cols.info = (kinds[kind] or "unknown") .. ", sequence " .. buffer(8, 4):uint()
  if kind == 0 then
    of:add(d.unit, buffer(16, 4))
    of:add(d.parts, buffer(20, 2))
    of:add(d.rtt, buffer(24, 4))
    of:add(d.timeout, buffer(28, 4))
    of:add(d.created, buffer(32, 8))
  elseif kind == 1 or kind == 2 then
    of:add(d.rate, buffer(16, 4))
    of:add(d.lost, buffer(20, 4))
  end
end
udp:add(DVRC, dvrc)
