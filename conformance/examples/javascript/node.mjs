#!/usr/bin/env node
/**
 * A node of the total-order service: host and switch, for networks that lose nothing (environments A, B and C).
 *
 *     scatterproof conform --profile profile.toml --iut stdio:'node node.mjs'
 *
 * The harness starts this program once for every node of a network. It speaks newline-delimited JSON, as
 * spec/ADAPTER.md has it: a line comes in on stdin, and every line is answered on stdout. The harness is the network
 * and the clock, so there is no socket and no timer here.
 *
 * How the protocol works, in four sentences. A sender stamps its messages with its clock. Every packet that carries a
 * barrier b promises that nothing with a timestamp below b will come over that link any more. A switch passes on the
 * least of the promises that it has heard; a host with nothing to say promises its clock, in packets called beacons.
 * A receiver sorts what it has by (timestamp, sender), and delivers what is below the least of its links' barriers.
 *
 * Times are BigInt: they have 63 bits, and a Number holds 53. Everything else that is a number is a Number.
 */

import { createInterface } from 'node:readline';

const CONTRACT = 1; // the version of the adapter contract that this program speaks
const DATA = 1; // kinds of packets
const BEACON = 2;
const NO_BARRIER = -1n; // in a packet that carries none
const NOT_SPOKEN = 0n; // the barrier of a link that has said nothing yet: it promises nothing

/** A packet that breaks a promise. It changes nothing; the harness is told why. */
class Refused extends Error {}

const greatest = (...times) => times.reduce((one, other) => (other > one ? other : one));
const least = (times) => times.reduce((one, other) => (other < one ? other : one));

// ------------------------------------------------------------------------------------------------- lines of JSON

/**
 * JSON.parse would round times to 53 bits. All numbers of the contract are whole, so each is put between quotation
 * marks first, and comes out as a string of digits. What is in quotation marks already is left as it is.
 */
function parse(text) {
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d+/g, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}

/** The other way round: a BigInt is marked with a sign that is in no base64, and the marks are taken off again. */
function format(line) {
  const marked = JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? `#${value}` : value));
  return marked.replace(/"#(-?\d+)"/g, '$1');
}

function packetFrom(json) {
  return {
    kind: Number(json.kind),
    sender: Number(json.sender),
    receiver: Number(json.receiver),
    number: Number(json.number),
    link_seq: Number(json.link_seq),
    timestamp: BigInt(json.timestamp),
    barrier: BigInt(json.barrier),
    payload: json.payload,
  };
}

// ------------------------------------------------------------------------------------------------- hosts and switches

/** What hosts and switches have in common: links, their numbers and barriers, and beacons. */
class Node {
  constructor(config) {
    this.id = Number(config.node);
    this.interval = BigInt(config.parameters.beacon_interval_ns);
    this.dataCarry = ['A', 'C'].includes(config.parameters.environment);
    this.hasBeacons = ['B', 'C'].includes(config.parameters.environment);
    // Receiver -> the egress link towards it.
    this.nextLink = new Map(config.next_link.map(([receiver, link]) => [Number(receiver), Number(link)]));
    // Links that we send on. seq: the number of the next packet. promised: the greatest barrier that the link has
    // carried. spokeAt: the clock when a barrier last went over it, or a beacon would have had nothing new to say;
    // it begins so that the first beacon is due at once. feeders: the ingress links whose data can go there.
    this.egress = new Map(
      config.egress.map((link, index) => [
        Number(link),
        { seq: 0, promised: NOT_SPOKEN, spokeAt: -this.interval, feeders: config.reaching[index].map(Number) },
      ]),
    );
    // Links that we hear. barrier: the newest one. expected: the number of the next packet.
    this.ingress = new Map(config.ingress.map((link) => [Number(link), { barrier: NOT_SPOKEN, expected: 0 }]));
    this.effects = []; // the answer to the line that is being handled
  }

  /** Puts a packet on a link, with the link's next number. Whoever carries a barrier stands in for a beacon. */
  send(now, link, barrier, fields) {
    const egress = this.egress.get(link);
    this.effects.push({ type: 'send', link, packet: { ...fields, link_seq: egress.seq, barrier } });
    egress.seq += 1;
    if (barrier !== NO_BARRIER) {
      egress.promised = barrier;
      egress.spokeAt = now;
    }
  }

  sendBeacon(now, link, barrier) {
    const nothing = { receiver: 0, number: 0, timestamp: 0, payload: '' };
    this.send(now, link, barrier, { kind: BEACON, sender: this.id, ...nothing });
  }

  /** Checks the promises of the link, and takes the barrier that came over it. Links are FIFO and lose nothing. */
  take(link, packet) {
    const ingress = this.ingress.get(link);
    if (packet.link_seq !== ingress.expected) {
      throw new Refused(`packet ${packet.link_seq} came where ${ingress.expected} is next`);
    }
    const carries = packet.kind === BEACON || this.dataCarry;
    if (carries && packet.barrier < ingress.barrier) {
      throw new Refused(`barrier ${packet.barrier} is below ${ingress.barrier}, which was promised`);
    }
    if (packet.kind === DATA && packet.timestamp < ingress.barrier) {
      throw new Refused(`timestamp ${packet.timestamp} is below the link's barrier ${ingress.barrier}`);
    }
    ingress.expected += 1;
    if (carries) {
      ingress.barrier = packet.barrier;
    }
  }
}

/** Scatters what its application submits, and delivers what arrives, in the one order. */
class Host extends Node {
  last = 0n; // the last timestamp given
  numbers = new Map(); // receiver -> how many messages it was sent
  buffer = []; // what has arrived and is not delivered, in the order of delivery

  /** One timestamp for all messages: the clock, but above the last timestamp, and not below a promise. */
  submit({ now, messages }) {
    const promised = [...this.egress.values()].map((egress) => egress.promised);
    const timestamp = greatest(now, this.last + 1n, ...promised);
    this.last = timestamp;
    for (const { receiver: digits, payload } of messages) {
      const receiver = Number(digits);
      const number = (this.numbers.get(receiver) ?? 0) + 1;
      this.numbers.set(receiver, number);
      const fields = { kind: DATA, sender: this.id, receiver, number, timestamp, payload };
      this.send(now, this.nextLink.get(receiver), this.dataCarry ? timestamp : NO_BARRIER, fields);
    }
  }

  packet({ link, packet }) {
    this.take(link, packet);
    if (packet.kind === DATA) {
      const { sender, number, timestamp } = packet;
      // A real application wants bytes; on the line they are base64.
      this.insert({ sender, number, timestamp, payload: Buffer.from(packet.payload, 'base64') });
    }
    this.deliver();
  }

  /** Keeps the buffer sorted by (timestamp, sender). A link is FIFO, so that most messages belong near the end. */
  insert(message) {
    const before = (one, other) =>
      one.timestamp < other.timestamp || (one.timestamp === other.timestamp && one.sender < other.sender);
    let place = this.buffer.length;
    while (place > 0 && before(message, this.buffer[place - 1])) {
      place -= 1;
    }
    this.buffer.splice(place, 0, message);
  }

  /** Strictly below the barrier: a link whose barrier is b may still bring a message of timestamp b. */
  deliver() {
    const barrier = least([...this.ingress.values()].map((ingress) => ingress.barrier));
    while (this.buffer.length > 0 && this.buffer[0].timestamp < barrier) {
      const message = this.buffer.shift();
      this.effects.push({ type: 'deliver', message: { ...message, payload: message.payload.toString('base64') } });
    }
  }

  /** A beacon on every link over which no barrier went for the interval. An idle host promises its clock. */
  tick({ now }) {
    const barrier = greatest(now, this.last); // never below the last timestamp, which may be ahead of the clock
    for (const [link, egress] of this.egress) {
      if (now - egress.spokeAt >= this.interval) {
        egress.spokeAt = now;
        if (barrier > egress.promised) {
          this.sendBeacon(now, link, barrier);
        }
      }
    }
  }

  /** When we want a tick: as soon as a beacon may be due on one of the links. */
  deadline() {
    if (!this.hasBeacons || this.egress.size === 0) {
      return null;
    }
    return least([...this.egress.values()].map((egress) => egress.spokeAt + this.interval));
  }
}

/** Forwards data at once, and passes on the least of the barriers that it has heard. */
class Switch extends Node {
  /** Only ingress links whose data can take this link are waited for: with others, two switches wait for each other. */
  leastFor(link) {
    return least(this.egress.get(link).feeders.map((feeder) => this.ingress.get(feeder).barrier));
  }

  packet({ now, link: from, packet }) {
    const link = this.nextLink.get(packet.receiver);
    if (packet.kind === DATA && link === undefined) {
      throw new Refused(`there is no route to ${packet.receiver}`);
    }
    this.take(from, packet);
    if (packet.kind === DATA) {
      // Data first, beacons behind them: the new barrier speaks of these data, too.
      this.send(now, link, this.dataCarry ? this.leastFor(link) : NO_BARRIER, packet);
    }
    this.sendDueBeacons(now);
  }

  tick({ now }) {
    this.sendDueBeacons(now);
  }

  /** At most one an interval on each link, and only where there is news. */
  sendDueBeacons(now) {
    for (const [link, egress] of this.egress) {
      if (this.hasNews(link) && now - egress.spokeAt >= this.interval) {
        this.sendBeacon(now, link, this.leastFor(link));
      }
    }
  }

  hasNews(link) {
    return this.hasBeacons && this.leastFor(link) > this.egress.get(link).promised;
  }

  /** A beacon that may not leave yet leaves when its link has been silent for the interval. */
  deadline() {
    const waiting = [...this.egress.keys()].filter((link) => this.hasNews(link));
    return waiting.length === 0 ? null : least(waiting.map((link) => this.egress.get(link).spokeAt + this.interval));
  }
}

// ------------------------------------------------------------------------------------------------- the contract

/** The lines that answer one line: its effects in their order, then `done` with the deadline. */
function answer(node, line) {
  node.effects = [];
  const now = BigInt(line.now);
  const link = Number(line.link);
  try {
    switch (line.type) {
      case 'submit':
        node.submit({ now, messages: line.messages });
        break;
      case 'packet':
        node.packet({ now, link, packet: packetFrom(line.packet) });
        break;
      case 'tick':
        node.tick({ now });
        break;
      default:
        throw new Error(`${line.type} is no line of the contract`);
    }
  } catch (error) {
    if (!(error instanceof Refused)) {
      throw error;
    }
    node.effects = [{ type: 'refuse', link, reason: error.message }];
  }
  return [...node.effects, { type: 'done', deadline: node.deadline() }];
}

let node;
for await (const text of createInterface({ input: process.stdin })) {
  const line = parse(text);
  if (line.type === 'stop') {
    break;
  }
  let lines;
  if (line.type === 'init') {
    if (Number(line.contract) !== CONTRACT) {
      console.error(`this node speaks version ${CONTRACT} of the contract, not ${line.contract}`);
      process.exit(2);
    }
    node = line.config.role === 'host' ? new Host(line.config) : new Switch(line.config);
    lines = [{ type: 'ready', deadline: node.deadline() }];
  } else {
    lines = answer(node, line);
  }
  process.stdout.write(lines.map((one) => `${format(one)}\n`).join(''));
}
