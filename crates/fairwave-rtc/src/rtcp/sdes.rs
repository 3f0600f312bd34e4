//! Source descriptions: the canonical name (RFC 3550 §6.5.1), with the library `rtcp-types`.

use rtcp_types::prelude::{RtcpPacketParser, RtcpPacketWriterExt};

use super::bytes::foreign;
use super::receiver_report::append;
use fairwave_endpoint::wire::WireError;

/// Description of a source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Description {
    /// SSRC of the source.
    pub ssrc: u32,
    /// Canonical name, at most 255 B; the same for all streams of a peer.
    pub name: String,
}

impl Description {
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let item = rtcp_types::SdesItem::builder(rtcp_types::SdesItem::CNAME, &self.name);
        let chunk = rtcp_types::SdesChunk::builder(self.ssrc).add_item(item);
        let sdes = rtcp_types::Sdes::builder().add_chunk(chunk);
        append(out, |bytes| sdes.write_into(bytes))
    }

    /// Returns the first name in the packet; `None` if it has none.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, WireError> {
        let sdes = rtcp_types::Sdes::parse(bytes).map_err(foreign)?;
        for chunk in sdes.chunks() {
            if let Some(item) = chunk.items().find(|item| item.type_() == rtcp_types::SdesItem::CNAME) {
                let name = item.get_value_string().map_err(foreign)?;
                return Ok(Some(Description { ssrc: chunk.ssrc(), name }));
            }
        }
        Ok(None)
    }
}
