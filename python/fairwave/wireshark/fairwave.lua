-- Wireshark and tshark: TFRC, RAP and DVRC as fairwave's captures have them, and RTP and RTCP on the captures' ports.
-- tshark -X lua_script:fairwave.lua -r call.pcapng; or copy this file into Wireshark's folder of personal Lua plugins.

local RTP, RTCP, TFRC, RAP, DVRC = 5004, 5005, 5010, 5012, 5014

local udp = DissectorTable.get("udp.port")
udp:add(RTP, Dissector.get("rtp"))
udp:add(RTCP, Dissector.get("rtcp"))

-- TFRC (RFC 5348): the fields of its data packets and feedback; the layout is fairwave's own.
local tfrc = Proto("fairwave_tfrc", "TFRC (RFC 5348)")
local t = {
  kind = ProtoField.uint8("fairwave_tfrc.type", "Type", base.DEC, { [1] = "data", [2] = "feedback" }),
  part = ProtoField.uint16("fairwave_tfrc.part", "Part"),
  parts = ProtoField.uint16("fairwave_tfrc.parts", "Parts of the unit"),
  payload = ProtoField.uint16("fairwave_tfrc.payload", "Payload bytes"),
  sequence = ProtoField.uint32("fairwave_tfrc.seq", "Sequence number"),
  unit = ProtoField.uint32("fairwave_tfrc.unit", "Unit"),
  rtt = ProtoField.uint32("fairwave_tfrc.rtt", "Sender's round-trip time (µs)"),
  sent = ProtoField.uint64("fairwave_tfrc.sent", "Sent (ns)"),
  created = ProtoField.uint64("fairwave_tfrc.created", "Unit made (ns)"),
  delay = ProtoField.uint32("fairwave_tfrc.delay", "Delay since the packet echoed (µs)"),
  echo = ProtoField.uint64("fairwave_tfrc.echo", "Sent, echoed (ns)"),
  rate = ProtoField.uint64("fairwave_tfrc.x_recv", "Receive rate (b/s)"),
  loss = ProtoField.double("fairwave_tfrc.p", "Loss event rate"),
}
tfrc.fields = { t.kind, t.part, t.parts, t.payload, t.sequence, t.unit, t.rtt, t.sent, t.created, t.delay, t.echo, t.rate, t.loss }

function tfrc.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "TFRC"
  local of = tree:add(tfrc, buffer())
  of:add(t.kind, buffer(0, 1))
  if buffer(0, 1):uint() == 1 then
    of:add(t.part, buffer(2, 2))
    of:add(t.parts, buffer(4, 2))
    of:add(t.payload, buffer(6, 2))
    of:add(t.sequence, buffer(8, 4))
    of:add(t.unit, buffer(12, 4))
    of:add(t.rtt, buffer(16, 4))
    of:add(t.sent, buffer(20, 8))
    of:add(t.created, buffer(28, 8))
    pinfo.cols.info = "data, sequence " .. buffer(8, 4):uint()
  else
    of:add(t.delay, buffer(4, 4))
    of:add(t.echo, buffer(8, 8))
    of:add(t.rate, buffer(16, 8))
    of:add(t.loss, buffer(24, 8))
    pinfo.cols.info = string.format("feedback, loss event rate %.4g", buffer(24, 8):float())
  end
end
udp:add(TFRC, tfrc)

-- RAP (Rejaie, Handley & Estrin 1999): likewise.
local rap = Proto("fairwave_rap", "Rate Adaptation Protocol")
local r = {
  kind = ProtoField.uint8("fairwave_rap.type", "Type", base.DEC, { [1] = "data", [2] = "acknowledgement" }),
  part = ProtoField.uint16("fairwave_rap.part", "Part"),
  parts = ProtoField.uint16("fairwave_rap.parts", "Parts of the unit"),
  payload = ProtoField.uint16("fairwave_rap.payload", "Payload bytes"),
  sequence = ProtoField.uint32("fairwave_rap.seq", "Sequence number"),
  unit = ProtoField.uint32("fairwave_rap.unit", "Unit"),
  created = ProtoField.uint64("fairwave_rap.created", "Unit made (ns)"),
  current = ProtoField.uint32("fairwave_rap.current", "Acknowledges"),
  gap = ProtoField.bool("fairwave_rap.gap", "Something is missing"),
  missing = ProtoField.uint32("fairwave_rap.missing", "Latest missing"),
  before = ProtoField.uint32("fairwave_rap.before", "Latest before that"),
}
rap.fields = { r.kind, r.part, r.parts, r.payload, r.sequence, r.unit, r.created, r.current, r.gap, r.missing, r.before }

function rap.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "RAP"
  local of = tree:add(rap, buffer())
  of:add(r.kind, buffer(0, 1))
  if buffer(0, 1):uint() == 1 then
    of:add(r.part, buffer(2, 2))
    of:add(r.parts, buffer(4, 2))
    of:add(r.payload, buffer(6, 2))
    of:add(r.sequence, buffer(8, 4))
    of:add(r.unit, buffer(12, 4))
    of:add(r.created, buffer(16, 8))
    pinfo.cols.info = "data, sequence " .. buffer(8, 4):uint()
  else
    of:add(r.gap, buffer(1, 1))
    of:add(r.current, buffer(4, 4))
    of:add(r.missing, buffer(8, 4))
    of:add(r.before, buffer(12, 4))
    pinfo.cols.info = "acknowledges " .. buffer(4, 4):uint()
  end
end
udp:add(RAP, rap)

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
}
dvrc.fields = { d.version, d.kind, d.frame, d.layer, d.length, d.part, d.sequence, d.timestamp, d.unit, d.parts, d.rtt, d.timeout, d.rate, d.lost }

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
  elseif kind == 1 or kind == 2 then
    of:add(d.rate, buffer(16, 4))
    of:add(d.lost, buffer(20, 4))
  end
end
udp:add(DVRC, dvrc)
