/* A node of the total-order service: host and switch, for networks that lose nothing (environments A, B and C).

       cc -std=c11 -O2 -o node node.c
       scatterproof conform --profile profile.toml --iut stdio:./node

   The harness starts this program once for every node of a network. It speaks newline-delimited JSON, as
   spec/ADAPTER.md has it: a line comes in on stdin, and every line is answered on stdout. The harness is the network
   and the clock, so there is no socket and no timer here.

   How the protocol works, in four sentences. A sender stamps its messages with its clock. Every packet that carries a
   barrier b promises that nothing with a timestamp below b will come over that link any more. A switch passes on the
   least of the promises that it has heard; a host with nothing to say promises its clock, in packets called beacons.
   A receiver sorts what it has by (timestamp, sender), and delivers what is below the least of its links' barriers. */

#define _POSIX_C_SOURCE 200809L /* getline */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h" /* the least of a JSON reader, and base64 */

enum { CONTRACT = 1 };        /* the version of the adapter contract that this program speaks */
enum { DATA = 1, BEACON = 2 }; /* kinds of packets */
enum { NO_BARRIER = -1 };     /* in a packet that carries none */
enum { NOT_SPOKEN = 0 };      /* the barrier of a link that has said nothing yet: it promises nothing */

/* ------------------------------------------------------------------------------------------------- the node */

struct packet {
    int64_t kind, sender, receiver, number, timestamp;
    struct bytes payload;
};

struct egress {
    int64_t link, seq; /* seq: the number of the next packet */
    int64_t promised;  /* the greatest barrier that the link has carried */
    int64_t spoke_at;  /* the clock when a barrier last went over it, or a beacon had nothing new to say */
    bool *fed_by;      /* for each ingress link, in their order: whether its data can go here */
};

struct ingress {
    int64_t link, expected, barrier; /* expected: the number of the next packet; barrier: the newest one */
};

struct route {
    int64_t receiver, sent; /* sent: how many messages this host has sent to it */
    struct egress *egress;
};

static bool is_host, data_carry, has_beacons;
static int64_t self, interval;
static int64_t last; /* the last timestamp given */
static struct egress *egresses;
static struct ingress *ingresses;
static struct route *routes;
static size_t egress_count, ingress_count, route_count;
static struct packet *buffer; /* what has arrived and is not delivered, in the order of delivery */
static size_t buffered, buffer_room;

static int64_t max(int64_t one, int64_t other) { return one > other ? one : other; }
static int64_t min(int64_t one, int64_t other) { return one < other ? one : other; }

static void configure(const struct json *config) {
    const struct json *parameters = get(config, "parameters"), *environment = get(parameters, "environment");
    self = number(config, "node");
    is_host = says(get(config, "role"), "host");
    interval = number(parameters, "beacon_interval_ns");
    data_carry = says(environment, "A") || says(environment, "C");
    has_beacons = says(environment, "B") || says(environment, "C");

    ingresses = grab(count(get(config, "ingress")), sizeof *ingresses);
    for (struct json *link = get(config, "ingress")->first; link != NULL; link = link->next)
        ingresses[ingress_count++] = (struct ingress){link->number, 0, NOT_SPOKEN};

    egresses = grab(count(get(config, "egress")), sizeof *egresses);
    struct json *reaching = get(config, "reaching")->first;
    for (struct json *link = get(config, "egress")->first; link != NULL; link = link->next, reaching = reaching->next) {
        struct egress *egress = &egresses[egress_count++];
        /* It last spoke so long ago that the first beacon is due at once. */
        *egress = (struct egress){link->number, 0, NOT_SPOKEN, -interval, grab(ingress_count, sizeof(bool))};
        for (struct json *feeder = reaching->first; feeder != NULL; feeder = feeder->next)
            for (size_t i = 0; i < ingress_count; i++)
                if (ingresses[i].link == feeder->number) egress->fed_by[i] = true;
    }

    routes = grab(count(get(config, "next_link")), sizeof *routes);
    for (struct json *pair = get(config, "next_link")->first; pair != NULL; pair = pair->next)
        for (size_t i = 0; i < egress_count; i++)
            if (egresses[i].link == pair->first->next->number)
                routes[route_count++] = (struct route){pair->first->number, 0, &egresses[i]};
}

static struct route *route_to(int64_t receiver) {
    for (size_t i = 0; i < route_count; i++)
        if (routes[i].receiver == receiver) return &routes[i];
    return NULL;
}

/* Put a packet on a link, with the link's next number. Whoever carries a barrier stands in for a beacon. */
static void send_packet(int64_t now, struct egress *egress, int64_t barrier, const struct packet *packet) {
    printf("{\"type\":\"send\",\"link\":%" PRId64 ",\"packet\":{\"kind\":%" PRId64 ",\"sender\":%" PRId64
           ",\"receiver\":%" PRId64 ",\"number\":%" PRId64 ",\"link_seq\":%" PRId64 ",\"timestamp\":%" PRId64
           ",\"barrier\":%" PRId64 ",\"payload\":\"",
           egress->link, packet->kind, packet->sender, packet->receiver, packet->number, egress->seq,
           packet->timestamp, barrier);
    print_base64(packet->payload);
    puts("\"}}");
    egress->seq++;
    if (barrier != NO_BARRIER) {
        egress->promised = barrier;
        egress->spoke_at = now;
    }
}

static void send_beacon(int64_t now, struct egress *egress, int64_t barrier) {
    const struct packet beacon = {.kind = BEACON, .sender = self};
    send_packet(now, egress, barrier, &beacon);
}

/* The least barrier of the ingress links that count: those that feed `egress`, or all of them for a receiver. Links
   whose data cannot go there must not be waited for, or two switches would wait for each other. */
static int64_t least_barrier(const struct egress *egress) {
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < ingress_count; i++)
        if (egress == NULL || egress->fed_by[i]) least = min(least, ingresses[i].barrier);
    return least;
}

/* Check the promises of the link, and take the barrier that came over it. Links are FIFO and lose nothing. What breaks
   a promise changes nothing, and the harness is told why. */
static bool take(int64_t link, const struct json *json) {
    struct ingress *ingress = ingresses;
    while (ingress < ingresses + ingress_count && ingress->link != link) ingress++;
    const char *reason = NULL;
    const bool data = number(json, "kind") == DATA, carries = !data || data_carry;
    if (ingress == ingresses + ingress_count)
        reason = "it came over a link that is none of ours";
    else if (number(json, "link_seq") != ingress->expected)
        reason = "its number is not the link's next";
    else if (carries && number(json, "barrier") < ingress->barrier)
        reason = "its barrier is below one that was promised";
    else if (data && number(json, "timestamp") < ingress->barrier)
        reason = "its timestamp is below the link's barrier";
    else if (data && !is_host && route_to(number(json, "receiver")) == NULL)
        reason = "there is no route to its receiver";
    if (reason != NULL) {
        printf("{\"type\":\"refuse\",\"link\":%" PRId64 ",\"reason\":\"%s\"}\n", link, reason);
        return false;
    }
    ingress->expected++;
    if (carries) ingress->barrier = number(json, "barrier");
    return true;
}

/* ------------------------------------------------------------------------------------------------- a host's part */

/* One timestamp for all messages: the clock, but above the last timestamp, and not below a promise. */
static void scatter(int64_t now, const struct json *messages) {
    int64_t timestamp = max(now, last + 1);
    for (size_t i = 0; i < egress_count; i++) timestamp = max(timestamp, egresses[i].promised);
    last = timestamp;
    for (struct json *message = messages->first; message != NULL; message = message->next) {
        struct route *route = route_to(number(message, "receiver"));
        if (route == NULL) die("there is no route to host %" PRId64, number(message, "receiver"));
        struct packet packet = {DATA, self, route->receiver, ++route->sent, timestamp,
                                decode_base64(get(message, "payload"))};
        send_packet(now, route->egress, data_carry ? timestamp : NO_BARRIER, &packet);
        free(packet.payload.data);
    }
}

static bool comes_before(const struct packet *one, const struct packet *other) {
    if (one->timestamp != other->timestamp) return one->timestamp < other->timestamp;
    return one->sender < other->sender;
}

/* Keep the buffer sorted. Links are FIFO, so that most messages belong near its end. */
static void keep(struct packet packet) {
    if (buffered == buffer_room) {
        buffer_room = 2 * buffer_room + 16;
        buffer = realloc(buffer, buffer_room * sizeof *buffer);
        if (buffer == NULL) die("out of memory");
    }
    size_t place = buffered++;
    for (; place > 0 && comes_before(&packet, &buffer[place - 1]); place--) buffer[place] = buffer[place - 1];
    buffer[place] = packet;
}

/* Strictly below the barrier: a link whose barrier is b may still bring a message of timestamp b. */
static void deliver(void) {
    const int64_t barrier = least_barrier(NULL);
    size_t done = 0;
    for (; done < buffered && buffer[done].timestamp < barrier; done++) {
        const struct packet *message = &buffer[done];
        printf("{\"type\":\"deliver\",\"message\":{\"sender\":%" PRId64 ",\"number\":%" PRId64
               ",\"timestamp\":%" PRId64 ",\"payload\":\"",
               message->sender, message->number, message->timestamp);
        print_base64(message->payload);
        puts("\"}}");
        free(message->payload.data);
    }
    buffered -= done;
    if (done > 0) memmove(buffer, buffer + done, buffered * sizeof *buffer);
}

/* A beacon on every link over which no barrier went for the interval. An idle host promises its clock; never less
   than its last timestamp, which may be ahead of the clock. */
static void send_host_beacons(int64_t now) {
    const int64_t barrier = max(now, last);
    for (size_t i = 0; i < egress_count; i++) {
        if (now - egresses[i].spoke_at < interval) continue;
        egresses[i].spoke_at = now;
        if (barrier > egresses[i].promised) send_beacon(now, &egresses[i], barrier);
    }
}

/* ------------------------------------------------------------------------------------------------- a switch's part */

static bool has_news(const struct egress *egress) {
    return has_beacons && least_barrier(egress) > egress->promised;
}

/* At most one beacon an interval on each link, and only where there is news. */
static void send_switch_beacons(int64_t now) {
    for (size_t i = 0; i < egress_count; i++)
        if (has_news(&egresses[i]) && now - egresses[i].spoke_at >= interval)
            send_beacon(now, &egresses[i], least_barrier(&egresses[i]));
}

/* ------------------------------------------------------------------------------------------------- the contract */

static void arrive(int64_t now, int64_t link, const struct json *json) {
    if (!take(link, json)) return;
    if (number(json, "kind") == DATA) {
        const struct packet packet = {DATA, number(json, "sender"), number(json, "receiver"), number(json, "number"),
                                      number(json, "timestamp"), decode_base64(get(json, "payload"))};
        if (is_host) {
            keep(packet);
        } else {
            /* Data first, beacons behind them: the new barrier speaks of these data, too. */
            struct egress *egress = route_to(packet.receiver)->egress;
            send_packet(now, egress, data_carry ? least_barrier(egress) : NO_BARRIER, &packet);
            free(packet.payload.data);
        }
    }
    if (is_host)
        deliver();
    else
        send_switch_beacons(now);
}

/* `ready` or `done`, with the clock reading at which we want a tick: as soon as a beacon may be due on a link. */
static void finish(const char *type) {
    int64_t deadline = INT64_MAX;
    for (size_t i = 0; i < egress_count; i++)
        if (is_host ? has_beacons : has_news(&egresses[i])) deadline = min(deadline, egresses[i].spoke_at + interval);
    if (deadline == INT64_MAX)
        printf("{\"type\":\"%s\"}\n", type);
    else
        printf("{\"type\":\"%s\",\"deadline\":%" PRId64 "}\n", type, deadline);
    fflush(stdout); /* stdout is a pipe: without this the harness would wait until its patience ends */
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&line, &room, stdin)) > 0;) {
        const struct json *json = parse(line, (size_t)length), *type = get(json, "type");
        if (says(type, "stop")) break;
        if (says(type, "init")) {
            if (number(json, "contract") != CONTRACT) die("this node speaks version %d of the contract", CONTRACT);
            configure(get(json, "config"));
            finish("ready");
            continue;
        }
        const int64_t now = number(json, "now");
        if (says(type, "submit"))
            scatter(now, get(json, "messages"));
        else if (says(type, "packet"))
            arrive(now, number(json, "link"), get(json, "packet"));
        else if (says(type, "tick") && is_host)
            send_host_beacons(now);
        else if (says(type, "tick"))
            send_switch_beacons(now);
        else
            die("no line of the contract: %s", line);
        finish("done");
    }
    free(line);
    return EXIT_SUCCESS;
}
