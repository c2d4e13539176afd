/* A small program for the four levels, right unless it is told to be wrong:

       peer LEVEL FAULT --id ID --hosts FILE --output FILE CONFIG

   It keeps everything it ever had in tables, and sends again whatever was not acknowledged. It takes datagrams only from
   addresses of its hosts file. Faults: none, lossy (never sends again), invent (delivers what nobody began with), stall
   (its flow control never opens again), hurry (delivers whatever a majority has, in any order), forget (process 2 never
   delivers message 3 of process 1), cut (ends without its last byte of output). */

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, MESSAGES = 5000, WINDOW = 40, TICK_MS = 20, BUDGET = 200, SILENT_TICKS = 15 };
enum { PL, URB, FIFO, LCB };

struct packet { int ack, creator, number, clock[MOST + 1]; };

static volatile sig_atomic_t asked;
static int ticks, heard_at[MOST + 1]; /* of each process, the tick of its last datagram */
static int level, count, me, total, receiver, begun, descriptor;
static const char *fault;
static struct sockaddr_in home[MOST + 1];
static int depends[MOST + 1], delivered[MOST + 1][MESSAGES + 1], following[MOST + 1];
static unsigned heard[MOST + 1][MESSAGES + 1], acked[MOST + 1][MESSAGES + 1], all;
static struct packet known[MOST + 1][MESSAGES + 1];
static FILE *output;

static void stop(int number) { (void)number; asked = 1; }
static int is(const char *name) { return strcmp(fault, name) == 0; }
static unsigned bit(int process) { return 1u << process; }

static void send_to(int process, const struct packet *packet) {
    sendto(descriptor, packet, sizeof *packet, 0, (struct sockaddr *)&home[process], sizeof home[process]);
}

static void send_all(int creator, int number) {
    for (int process = 1; process <= count; process++)
        if (process != me && (level != PL || process == receiver) && !(acked[creator][number] & bit(process)) &&
            (ticks - heard_at[process] < SILENT_TICKS || ticks % SILENT_TICKS == 0))
            send_to(process, &known[creator][number]);
}

static void deliver(int creator, int number) {
    delivered[creator][number] = 1;
    if (is("forget") && me == 2 && creator == 1 && number == 3) return;
    fprintf(output, "d %d %d\n", creator, number);
    if (is("invent") && me == 2 && creator == 1 && number == 3) fprintf(output, "d %d %d\n", 1, total + 7);
}

static int may_deliver(int creator, int number) {
    if (delivered[creator][number] || 2 * __builtin_popcount(heard[creator][number]) <= count) return 0;
    if (level == URB || is("hurry")) return 1;
    if (number != following[creator]) return 0;
    for (int other = 1; level == LCB && other <= count; other++)
        if (other != creator && following[other] <= known[creator][number].clock[other]) return 0;
    return 1;
}

static void deliver_all(void) {
    for (int creator = 1, again = 0; creator <= count || again; creator++) {
        if (creator > count) { creator = 1; again = 0; }
        int last = level == URB || is("hurry") ? total : following[creator];
        for (int number = following[creator]; number <= last && number <= total; number++)
            if (may_deliver(creator, number)) {
                deliver(creator, number);
                again = 1;
                if (!is("hurry") && level != URB) last = number + 1;
            }
        while (following[creator] <= total && delivered[creator][following[creator]]) following[creator]++;
    }
}

static void begin(void) {
    while (begun < total && me != receiver && (level == PL || begun - (following[me] - 1) < WINDOW)) {
        if (is("stall") && begun >= WINDOW) return;
        struct packet *packet = &known[me][++begun];
        *packet = (struct packet){.creator = me, .number = begun};
        for (int other = 1; other <= count; other++)
            if (depends[other]) packet->clock[other] = following[other] - 1;
        heard[me][begun] = bit(me);
        fprintf(output, "b %d\n", begun);
        send_all(me, begun);
    }
}

static void receive(void) {
    struct packet packet;
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    while (recvfrom(descriptor, &packet, sizeof packet, MSG_DONTWAIT, (struct sockaddr *)&from, &length) ==
           (ssize_t)sizeof packet) {
        int process = 0;
        for (int each = 1; each <= count; each++)
            if (home[each].sin_port == from.sin_port) process = each;
        if (!process || packet.creator < 1 || packet.creator > count || packet.number < 1 || packet.number > total)
            continue;
        heard_at[process] = ticks;
        if (packet.ack) {
            acked[packet.creator][packet.number] |= bit(process);
            continue;
        }
        unsigned *had = &heard[packet.creator][packet.number], before = *had;
        *had |= bit(process) | bit(me) | bit(packet.creator);
        if (!before) {
            known[packet.creator][packet.number] = packet;
            if (level == PL) deliver(packet.creator, packet.number);
            else send_all(packet.creator, packet.number);
        }
        packet.ack = 1;
        send_to(process, &packet);
    }
}

static void send_again(void) {
    static int creator = 1, number = 0;
    int budget = is("lossy") ? 0 : BUDGET;
    for (int tried = 0; tried < count * total && budget > 0; tried++) {
        if (++number > total) { number = 1; creator = creator % count + 1; }
        if (heard[creator][number] && (acked[creator][number] & all) != all && (level != PL || creator == me)) {
            if (level == PL && acked[creator][number] & bit(receiver)) continue;
            send_all(creator, number);
            budget -= count;
        }
    }
}

static void read_files(const char *hosts, const char *config) {
    FILE *file = fopen(hosts, "r");
    char name[64], line[256];
    int id, port;
    while (file && fscanf(file, "%d %63s %d", &id, name, &port) == 3 && id >= 1 && id <= MOST) {
        home[id] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        inet_pton(AF_INET, name, &home[id].sin_addr);
        count = id > count ? id : count;
    }
    if (file) fclose(file);
    file = fopen(config, "r");
    if (!file || fscanf(file, "%d", &total) != 1 || total > MESSAGES) exit(2);
    if (level == PL && fscanf(file, "%d", &receiver) != 1) exit(2);
    while (fgets(line, sizeof line, file)) {
        char *word = strtok(line, " \n");
        int own = word && atoi(word) == me;
        while (own && (word = strtok(NULL, " \n"))) depends[atoi(word)] = 1;
    }
    fclose(file);
}

int main(int words, char **word) {
    if (words != 10) return 2;
    for (level = LCB; level > PL; level--)
        if (!strcmp(word[1], (const char *[]){"pl", "urb", "fifo", "lcb"}[level])) break;
    fault = word[2];
    me = atoi(word[4]);
    read_files(word[6], word[9]);
    output = fopen(word[8], "w");
    descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    int room = 1 << 22;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (!output || bind(descriptor, (struct sockaddr *)&home[me], sizeof home[me])) return 3;
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    for (int process = 1; process <= count; process++) {
        following[process] = 1;
        if (process != me) all |= bit(process);
    }
    struct timespec last = {0}, now;
    while (!asked) {
        begin();
        struct pollfd wait = {.fd = descriptor, .events = POLLIN};
        poll(&wait, 1, TICK_MS);
        receive();
        if (level != PL) deliver_all();
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000 >= TICK_MS) {
            ticks++;
            send_again();
            last = now;
            fflush(output);
        }
    }
    fflush(output);
    if (is("cut") && ftruncate(fileno(output), ftell(output) - 1)) return 4;
    return 0;
}
