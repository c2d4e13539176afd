// Ethernet, IPv4 without options, UDP to the project's port, and one packet of the wire format. Anything else has no
// message and is not taken. What the controller sends has packet_out in front, and then nothing or such a frame.

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.instance_type, standard.ingress_port) {
            (RECIRCULATED, _): from_egress;
            (_, CPU_PORT): from_controller;
            default: ethernet;
        }
    }
    state from_egress {
        packet.extract(hdr.packet_in);
        transition accept;
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition select(hdr.packet_out.what) {
            SEND: ethernet;
            MADE: ethernet;
            default: accept;
        }
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHER_TYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.fragment & 0x3FFF, hdr.ipv4.protocol) {
            (4, 5, 0, PROTOCOL_UDP): udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.destination_port) {
            UDP_PORT: message;
            default: accept;
        }
    }
    state message {
        packet.extract(hdr.message);
        transition select(hdr.message.kind, hdr.message.payload_length) {
            (ADJUSTED, 8): duration;
            (HANDED, 72): inner;
            (RETURNED, 72): inner;
            default: accept;
        }
    }
    state duration {
        packet.extract(hdr.duration);
        transition accept;
    }
    state inner {
        packet.extract(hdr.inner);
        transition accept;
    }
}
