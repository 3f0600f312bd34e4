//! Addresses of hosts: only documentation ranges (RFC 5737 §3), which no network routes.

use std::net::Ipv4Addr;

/// Largest number of hosts: the hosts of one documentation range.
pub const MOST_HOSTS: usize = 254;

/// Length of the common prefix, bits.
pub const PREFIX: u8 = 24;

/// Returns the address of host number `host` in 192.0.2.0/24 (TEST-NET-1, RFC 5737 §3); `None` above [`MOST_HOSTS`].
pub fn address(host: usize) -> Option<Ipv4Addr> {
    let last = u8::try_from(host + 1).ok().filter(|last| usize::from(*last) <= MOST_HOSTS)?;
    Some(Ipv4Addr::new(192, 0, 2, last))
}

/// Returns the number of the host with this address.
pub fn host(address: Ipv4Addr) -> Option<usize> {
    let [a, b, c, last] = address.octets();
    ([a, b, c] == [192, 0, 2] && (1..=MOST_HOSTS).contains(&usize::from(last))).then(|| usize::from(last) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_distinct_addresses_in_a_documentation_range() {
        for number in 0..MOST_HOSTS {
            let address = address(number).expect("an address");
            assert!(address.is_documentation(), "{address}");
            assert_eq!(host(address), Some(number));
        }
        assert_eq!(address(MOST_HOSTS), None);
        for foreign in [[192, 0, 2, 0], [192, 0, 2, 255], [192, 0, 3, 1], [127, 0, 0, 1]] {
            assert_eq!(host(Ipv4Addr::from(foreign)), None);
        }
    }
}
