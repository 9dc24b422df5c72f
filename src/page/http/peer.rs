//! Whose process is at the other end of a connection over loopback: every user of a machine can
//! connect to its loopback address, and the page has the roles of one. The table is Linux' own.

use std::fs;
use std::net::SocketAddr;

/// User at the other end; `None` where the kernel's table does not say.
pub(super) fn user(peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    let table = if peer.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    find(&fs::read_to_string(table).ok()?, peer, own)
}

/// The user of the socket at `peer` that is connected to `own`.
fn find(table: &str, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    let (peer, own) = (written(peer), written(own));
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let is_it = columns.next() == Some(&peer) && columns.next() == Some(&own);
        // State, queues, timer and retransmissions lie between.
        if is_it { columns.nth(4)?.parse().ok() } else { None }
    })
}

/// `0100007F:1E3D`: words of the address as they lie in memory, then the port.
fn written(address: SocketAddr) -> String {
    let bytes = match address {
        SocketAddr::V4(it) => it.ip().octets().to_vec(),
        SocketAddr::V6(it) => it.ip().octets().to_vec(),
    };
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
    let words: Vec<String> = words.map(|word| format!("{word:08X}")).collect();
    format!("{}:{:04X}", words.concat(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1E3D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:1E3D 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1E3D 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0 20 4 30 10 -1
";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_socket_of_the_other_end_is_found() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (page, browser) = (address("127.0.0.1:7741"), address("127.0.0.1:50000"));
        assert_eq!(find(TABLE, browser, page), Some(1001));
        assert_eq!(find(TABLE, page, browser), Some(1000));
        assert_eq!(find(TABLE, address("127.0.0.1:50001"), page), None);
        assert_eq!(written(address("[::1]:80")), "00000000000000000000000001000000:0050");
        assert_eq!(find("", browser, page), None);
    }
}
