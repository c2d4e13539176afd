// What the source document and its corrections argue about, each as one expression, under the name that it has in
// impl/totalorder/rules.py, loss_rules.py and failure_rules.py. The corrected rules hold unless a literal one is
// asked for by -DLITERAL_<FINDING>: spec/totalorder/FINDINGS.md tells what comes of each. -DMUTANT_<WHAT> makes a
// mistake instead.

// Newest barrier of an ingress link (TO-BAR-MIN): what arrived, which is at or above what was held.
#if defined(LITERAL_RUNNING_MINIMUM)
#define REGISTER(held, arrived) ((held) == 0 || (arrived) < (held) ? (arrived) : (held))
#elif defined(MUTANT_FIRST_BARRIER_KEPT)
#define REGISTER(held, arrived) ((held) == 0 ? (arrived) : (held))
#else
#define REGISTER(held, arrived) (arrived)
#endif

// The same under loss (TO-RETX-BAR): never below what was held.
#if defined(LITERAL_RESENT_WITH_ITS_OLD_BARRIER)
#define REGISTER_UNDER_LOSS(held, arrived) (arrived)
#else
#define REGISTER_UNDER_LOSS(held, arrived) ((arrived) > (held) ? (arrived) : (held))
#endif

// Newest ack barrier of an ingress link (TO-ACK-MIN).
#define REGISTER_ACK(held, arrived) ((arrived) > (held) ? (arrived) : (held))

// Barrier and ack barrier of an egress link (TO-BAR-MIN, TO-ACK-MIN), the least of those counted: whether one takes the
// place of what the others come to, which is MOST_VALUE where there is none.
#if defined(MUTANT_MAX_FOR_MIN)
#define AGGREGATE(all, one) ((all) == MOST_VALUE || (one) > (all))
#elif defined(LITERAL_SILENT_LINK_LEFT_OUT)
#define AGGREGATE(all, one) ((one) != 0 && (one) < (all))
#else
#define AGGREGATE(all, one) ((one) < (all))
#endif
#if defined(MUTANT_MAX_FOR_MIN_OF_ACKS)
#define AGGREGATE_ACK(all, one) ((all) == MOST_VALUE || (one) > (all))
#else
#define AGGREGATE_ACK(all, one) ((one) < (all))
#endif

// Loss record of an egress link (TO-SWLOSS), the greatest of those counted: the same.
#define AGGREGATE_RECORD(all, one) ((one) > (all))

// The ingress links that an egress link's barrier covers (TO-BAR-PART): those that reach it.
#if defined(LITERAL_ONE_MINIMUM_A_SWITCH)
#define COUNTED(reaching, ingress) (ingress)
#elif defined(MUTANT_REACHABILITY_IGNORED)
#define COUNTED(reaching, ingress) (~(links_t) 0)
#elif defined(MUTANT_FORGOTTEN_PORT)
#define COUNTED(reaching, ingress) ((reaching) & ~(links_t) 2)
#else
#define COUNTED(reaching, ingress) (reaching)
#endif

// Loss record of a gap (TO-SWLOSS, TO-FLAG-SW). least: the least barrier of the switch's links. largest: the greatest
// barrier seen on the losing link. greatest: what is greatest of the packet behind the gap.
#if defined(LITERAL_RECORD_OF_THE_MINIMUM)
#define NOTICED_RECORD(least, largest, greatest) (least)
#elif defined(LITERAL_RECORD_OF_THE_LOSING_LINK)
#define NOTICED_RECORD(least, largest, greatest) (largest)
#elif defined(MUTANT_RECORD_ONE_BELOW)
#define NOTICED_RECORD(least, largest, greatest) ((greatest) - 1)
#else
#define NOTICED_RECORD(least, largest, greatest) (greatest)
#endif

// Loss record of a link over which a packet has carried one (TO-SWLOSS).
#if defined(LITERAL_RECORD_OF_THE_MINIMUM) || defined(LITERAL_FLAG_WITHOUT_RECORD)
#define PASSED_RECORD(carried, least) (least)
#elif defined(MUTANT_RECORD_NOT_PASSED)
#define PASSED_RECORD(carried, least) 64w0
#else
#define PASSED_RECORD(carried, least) (carried)
#endif

// Whether a packet of this kind carries the loss record (TO-FLAG-BEACON).
#if defined(LITERAL_BEACONS_WITHOUT_FLAG)
#define FLAG_ON(kind) ((kind) == DATA)
#else
#define FLAG_ON(kind) true
#endif

// Whether a link's loss counter spans packets of this kind (TO-LOSSCTR).
#if defined(LITERAL_COUNTER_OF_DATA_ALONE)
#define COUNTS(kind) ((kind) == DATA)
#else
#define COUNTS(kind) true
#endif

// Whether a beacon may leave a link (TO-ENV-C): nothing made it needless for the interval. waited: since then.
#if defined(MUTANT_INTERVAL_HALVED)
#define BEACON_DUE(waited, interval) ((waited) >= (interval) >> 1)
#else
#define BEACON_DUE(waited, interval) ((waited) >= (interval))
#endif

// Whether a beacon says what was not said yet (TO-BEACON-MIN).
#if defined(MUTANT_NOTHING_NEW)
#define RISEN(value, told) ((value) >= (told))
#else
#define RISEN(value, told) ((value) > (told))
#endif

// Whether a switch may put a minimum on a link (TO-RESTART): where it has begun anew, once every counted link has
// spoken.
#if defined(MUTANT_SPEAKS_AT_ONCE)
#define MAY_TELL(incarnation, value) true
#else
#define MAY_TELL(incarnation, value) ((incarnation) == 0 || (value) > 0)
#endif

// Whether a beacon that came back was made since this switch last began anew (TO-RESTART).
#if defined(MUTANT_EARLIER_LIFE_RETURNS)
#define OF_THIS_LIFE(life, own) true
#else
#define OF_THIS_LIFE(life, own) ((life) == (own))
#endif

// What a link is told when the least of those counted is below what could be told before (TO-BAR-RISE): a link that was
// let back in does not lower it.
#if defined(MUTANT_NO_MONOTONE_GUARD) || defined(LITERAL_RESENT_WITH_ITS_OLD_BARRIER)
#define NEVER_BELOW(floor, value) (value)
#else
#define NEVER_BELOW(floor, value) ((value) < (floor) ? (floor) : (value))
#endif

// Whether a minimum stays as it is when a link that was strictly above it rises: not with every literal rule.
#if !defined(LITERAL_RUNNING_MINIMUM) && !defined(LITERAL_SILENT_LINK_LEFT_OUT) \
    && !defined(LITERAL_ONE_MINIMUM_A_SWITCH) && !defined(MUTANT_MAX_FOR_MIN) && !defined(MUTANT_MAX_FOR_MIN_OF_ACKS) \
    && !defined(MUTANT_FORGOTTEN_PORT) && !defined(MUTANT_REACHABILITY_IGNORED)
#define ONLY_THE_LEAST_COUNTS
#endif
