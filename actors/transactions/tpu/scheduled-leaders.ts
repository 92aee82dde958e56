import { NodeError } from '../../../src/node/node-fault.ts'
import type { Clock } from '../../../src/ports.ts'
import type { SendTurn } from '../../../src/transactions/fair-queue.ts'
import type { LeaderSender } from '../../../src/transactions/ports.ts'
import type { LeaderAddress, LeaderNode } from '../../../src/transactions/tpu/leader-node.ts'
import {
  covers,
  leadersOf,
  SLOTS_PER_LEADER,
  type LeaderSchedule
} from '../../../src/transactions/tpu/leader-schedule.ts'
import { SlotEstimate } from '../../../src/transactions/tpu/slot-estimate.ts'
import type { LeaderLinks } from './leader-links.ts'

/** Leaders of a send: the current one, and the next one, which has the bytes when its slots begin. */
const NOW = { slots: 2 * SLOTS_PER_LEADER, max: 2 } as const
/** Slots ahead for whose leaders connections are opened: a handshake takes up to 1 s of their 6 s. */
const AHEAD = 4 * SLOTS_PER_LEADER
/** Connections to the leaders of the slots ahead, and to the last one, which may still be the current one. */
const CONNECTED = { slots: AHEAD + SLOTS_PER_LEADER, max: 6 } as const
/** Slots in a request for leaders: seven minutes of mainnet, 50 kB. */
const SCHEDULE_SLOTS = 1_024
/** Milliseconds without a send until connections close: a transaction is sent again every 2 s for about 60 s. */
const IDLE_AFTER_MS = 60_000
/** Interval of requests for the slot, in milliseconds. The estimate between them is off by a slot or two after 10 s. */
const SLOT_EVERY_MS = 2_000
const IDLE_SLOT_EVERY_MS = 10_000
/** Interval of requests for the nodes (2 MB on mainnet), in milliseconds. Few of them change their address. */
const NODES_EVERY_MS = 300_000
/** Pause after a failed request, in milliseconds. */
const RETRY_MS = 2_000

/**
 * Sends to the leaders of the current slot. It requests the slot from a node now and then, and the schedule and the
 * addresses in advance, so that a send waits for no request. While nothing is sent, there are no connections.
 */
export class ScheduledLeaders implements LeaderSender {
  readonly #node: LeaderNode
  readonly #clock: Clock
  readonly #onWake: () => void
  readonly #slots = new SlotEstimate()
  #schedule: LeaderSchedule = { fromSlot: 0, leaders: [] }
  #addresses: ReadonlyMap<string, LeaderAddress> = new Map()
  #links: LeaderLinks | null = null
  #slotDueMs = -Infinity
  #scheduleDueMs = -Infinity
  #nodesDueMs = -Infinity
  #usedAtMs = -Infinity

  constructor(node: LeaderNode, clock: Clock, onWake: () => void) {
    this.#node = node
    this.#clock = clock
    this.#onWake = onWake
  }

  /** Number of nodes that take transactions over QUIC. */
  get nodes(): number {
    return this.#addresses.size
  }

  /** Whether something was sent lately. */
  get isActive(): boolean {
    return this.#clock.now() - this.#usedAtMs < IDLE_AFTER_MS
  }

  /** Milliseconds until the next `refresh` is due. */
  get nextMs(): number {
    const now = this.#clock.now()
    if (this.#addresses.size === 0) return Math.max(0, this.#nodesDueMs - now)
    if (this.isActive) return Math.min(this.#slots.slotMs, SLOT_EVERY_MS)
    return Math.max(0, Math.min(this.#slotDueMs, this.#nodesDueMs) - now)
  }

  async send(wire: Uint8Array, turn?: SendTurn): Promise<number> {
    const wasActive = this.isActive
    this.#usedAtMs = this.#clock.now()
    const slot = this.#slots.at(this.#usedAtMs)
    if (this.#links === null || slot === null || this.#addresses.size === 0) return 0
    if (!wasActive) {
      this.#keep()
      this.#slotDueMs = Math.min(this.#slotDueMs, this.#usedAtMs)
      this.#onWake()
    }
    return this.#links.send(wire, leadersOf(this.#schedule, slot, NOW), turn)
  }

  /** Sets the connections to send by, or null. */
  serve(links: LeaderLinks | null): void {
    this.#links = links
    this.#keep()
  }

  /**
   * Sends the requests that are due to the node, and opens and closes connections. State without an answer stays as it was.
   * Returns whether anything was due.
   *
   * @throws NodeError of the first request that failed; the signal's reason when it aborts
   */
  async refresh(signal: AbortSignal): Promise<boolean> {
    try {
      const nodes = await this.#readNodes(signal)
      if (this.#addresses.size === 0) return nodes
      const slot = await this.#readSlot(signal)
      const schedule = await this.#readSchedule(signal)
      return nodes || slot || schedule
    } finally {
      this.#keep()
    }
  }

  async #readNodes(signal: AbortSignal): Promise<boolean> {
    if (this.#clock.now() < this.#nodesDueMs) return false
    this.#nodesDueMs = this.#clock.now() + RETRY_MS
    try {
      this.#addresses = await this.#node.addresses(signal)
    } catch (error) {
      // The node will not answer until its operator or ours changes something.
      if (error instanceof NodeError && error.fault.kind === 'unauthorized')
        this.#nodesDueMs = this.#clock.now() + NODES_EVERY_MS
      throw error
    }
    this.#nodesDueMs = this.#clock.now() + NODES_EVERY_MS
    // With the addresses, the schedule is read again: the node may have changed, or its chain.
    this.#scheduleDueMs = -Infinity
    return true
  }

  async #readSlot(signal: AbortSignal): Promise<boolean> {
    if (this.#clock.now() < this.#slotDueMs) return false
    this.#slotDueMs = this.#clock.now() + RETRY_MS
    const slot = await this.#node.slot(signal)
    const now = this.#clock.now()
    this.#slots.observe(slot, now)
    this.#slotDueMs = now + (this.isActive ? SLOT_EVERY_MS : IDLE_SLOT_EVERY_MS)
    return true
  }

  async #readSchedule(signal: AbortSignal): Promise<boolean> {
    const now = this.#clock.now()
    const slot = this.#slots.at(now)
    if (slot === null) return false
    const from = Math.max(0, slot - SLOTS_PER_LEADER)
    const isDue = this.#scheduleDueMs === -Infinity || !covers(this.#schedule, from, slot + 2 * AHEAD)
    if (!isDue || now < this.#scheduleDueMs) return false
    this.#scheduleDueMs = now + RETRY_MS
    const leaders = await this.#node.slotLeaders(from, SCHEDULE_SLOTS, signal)
    this.#schedule = { fromSlot: from, leaders }
    return true
  }

  #keep(): void {
    if (this.#links === null) return
    const slot = this.isActive ? this.#slots.at(this.#clock.now()) : null
    const leaders = slot === null ? [] : leadersOf(this.#schedule, slot - SLOTS_PER_LEADER, CONNECTED)
    const kept = new Map<string, LeaderAddress>()
    for (const leader of leaders) {
      const address = this.#addresses.get(leader)
      if (address !== undefined) kept.set(leader, address)
    }
    this.#links.keep(kept)
  }
}
