"""What the parts of the total-order cores are there for: the areas by which core mutants are counted."""

from __future__ import annotations

_CORE = "impl.totalorder"
FAILURES = "failures and restarts"
BARRIERS = "barriers and switches"
SENDING = "sending"
DELIVERY = "delivery"
LOSS = "loss and resending"
ACKS = "acknowledgements"
ADJUSTMENT = "adjustment"
CARRIER = "carriers and embodiments"
TWO = "two processors"

_AREAS = {
    "sending": SENDING,
    "sending:Sender._resend": LOSS,
    "sending:Sender.resend_due": LOSS,
    "sending:Sender.fail": FAILURES,
    "sending:Sender.recall_answered": FAILURES,
    "sending:Sender._recall": FAILURES,
    "sending:Sender.acknowledged": ACKS,
    "sending:Sender.check_acknowledgement": ACKS,
    "host": SENDING,
    "host:Host._receive": DELIVERY,
    "host:Host._deliver": DELIVERY,
    "reliable_host": SENDING,
    "reliable_host:ReliableHost._receive": DELIVERY,
    "reliable_host:ReliableHost._accept": DELIVERY,
    "reliable_host:ReliableHost._check": DELIVERY,
    "egress": SENDING,
    "receiving": DELIVERY,
    "receiving:Receiver.cut_off": FAILURES,
    "receiving:Receiver.void": FAILURES,
    "ingress": BARRIERS,
    "switch": BARRIERS,
    "reliable_switch": BARRIERS,
    "link_state": BARRIERS,
    "link_state:LinkStates.take": LOSS,
    "link_state:LinkStates._take_loss": LOSS,
    "link_state:Combined.leave": FAILURES,
    "link_state:Combined.pass_time": FAILURES,
    "rules": BARRIERS,
    "rules:deliverable": DELIVERY,
    "rules:precedence": DELIVERY,
    "rules:stamp": SENDING,
    "loss_rules": LOSS,
    "loss_rules:register_ack": ACKS,
    "loss_rules:aggregate_ack": ACKS,
    "loss_rules:ack_barrier": ACKS,
    "outstanding": ACKS,
    "adjustment": ADJUSTMENT,
    "adjustment_rules": ADJUSTMENT,
    "authority": FAILURES,
    "failures": FAILURES,
    "failure_rules": FAILURES,
    "notices": FAILURES,
    "recalls": FAILURES,
    "carrier": CARRIER,
    "embodiments": CARRIER,
    "proxy": CARRIER,
    "sending_port": TWO,
    "two_processors": TWO,
    "settings": SENDING,
    "settings:Settings.reliable": FAILURES,
}
AREAS = {f"{_CORE}.{place}": area for place, area in _AREAS.items()}
