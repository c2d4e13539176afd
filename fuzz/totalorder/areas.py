"""What the parts of the total-order cores are there for: the areas by which core mutants are counted."""

from __future__ import annotations

_CORE = "scatterproof.impl.totalorder"
LEFT_OUT = ""  # what refuses packets and calls that cannot be, as of `scatterproof.fuzz.edits.MISUSE`
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
    "sending:Sender.check_acknowledgement": LEFT_OUT,
    "sending:Sender._check": LEFT_OUT,
    "host": SENDING,
    "host:Host._check": LEFT_OUT,
    "host:Host._receive": DELIVERY,
    "host:Host._deliver": DELIVERY,
    "reliable_host": SENDING,
    "reliable_host:ReliableHost._receive": DELIVERY,
    "reliable_host:ReliableHost._accept": DELIVERY,
    "reliable_host:ReliableHost._check": LEFT_OUT,
    "egress": SENDING,
    "receiving": DELIVERY,
    "receiving:Receiver.check": LEFT_OUT,
    "receiving:Receiver.cut_off": FAILURES,
    "receiving:Receiver.void": FAILURES,
    "ingress": BARRIERS,
    "switch": BARRIERS,
    "reliable_switch": BARRIERS,
    "link_state": BARRIERS,
    "link_state:LinkStates.check": LEFT_OUT,
    "link_state:LinkStates._check_structure": LEFT_OUT,
    "link_state:LinkStates._only_less": LEFT_OUT,
    "link_state:LinkStates._check_sender": LEFT_OUT,
    "link_state:LinkStates._check_promises": LEFT_OUT,
    "link_state:structure": LEFT_OUT,
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
    "adjustment:Adjuster.check": LEFT_OUT,
    "adjustment:Adjuster._check_answer": LEFT_OUT,
    "adjustment_rules": ADJUSTMENT,
    "authority": FAILURES,
    "failures": FAILURES,
    "failures:FailingHost._check": LEFT_OUT,
    "failure_rules": FAILURES,
    "notices": FAILURES,
    "recalls": FAILURES,
    "carrier": CARRIER,
    "embodiments": CARRIER,
    "embodiments:_check_own": LEFT_OUT,
    "proxy": CARRIER,
    "sending_port": TWO,
    "two_processors": TWO,
    "settings": SENDING,
    "settings:Settings.reliable": FAILURES,
}
AREAS = {f"{_CORE}.{place}": area for place, area in _AREAS.items()}
