import { backoffMs, jittered } from '../../../machines/backoff.ts'
import { describeFault, RPC_CODE, type NodeFault } from '../../node/node-fault.ts'
import { sleep, type Ports } from '../../ports.ts'
import type { FactWriter } from '../facts/fact-writer.ts'
import type { AbsentTimeReason } from '../facts/slot-time.ts'
import type { UntimedSlot } from '../facts/untimed-slots.ts'
import type { SlotTimes, TimeAnswer } from './time-node.ts'

/** Slots that are read from the facts together. Arbitrary; an interruption loses only the request under way. */
const SLOTS_AT_ONCE = 500
/** Time for which a node that does not answer is asked again, in milliseconds. A node that restarts is back by then. */
const GIVE_UP_MS = 120_000
/** Attempts for a slot for which a node returns an error. A node that is busy answers the second or third time. */
const SLOT_ATTEMPTS_MAX = 4
const BACKOFF = { floorMs: 500, ceilingMs: 15_000 }
/** Maximum wait after HTTP 429, in milliseconds: longer demands are asked again. */
const THROTTLE_MAX_MS = 60_000

/**
 * Reasons for which slots stay without a time. Beside those of `ABSENT_TIME_REASONS`: `no-node`: no node is configured.
 * `no-method`: the node lacks getBlockTime. `no-answer`: the node failed, so a later run asks it again. `other-chain`: the node
 * is of another chain.
 */
export type MissingTimeReason = AbsentTimeReason | 'no-node' | 'no-method' | 'no-answer' | 'other-chain'

/** Slots whose time was asked for, by the outcome. */
export class TimeTally {
  /** Slots that a node gave a time. */
  given = 0
  readonly missing = new Map<MissingTimeReason, number>()

  miss(reason: MissingTimeReason, slots = 1): void {
    if (slots > 0) this.missing.set(reason, (this.missing.get(reason) ?? 0) + slots)
  }

  get missingTotal(): number {
    return [...this.missing.values()].reduce((sum, count) => sum + count, 0)
  }
}

export interface SlotTimingTools extends Ports {
  /** Nodes in the order in which they are asked. */
  readonly nodes: readonly SlotTimes[]
  readonly writer: Pick<FactWriter, 'addTimes' | 'noteAbsentTimes'>
  readonly tally: TimeTally
  readonly signal: AbortSignal
  /** Called once for each node that is not asked any longer, with the reason. */
  readonly onRefused: (line: string) => void
  /** Called after each request. */
  readonly onProgress: () => void
}

/**
 * Asks nodes for the times of slots, and stores what they answer.
 *
 * T1. The first node is asked; each further one only for slots of which the ones before it have no time.
 * T2. Each answer is durable before the next request, and no later run asks it again: neither a time, nor that a node has
 *     none.
 * T3. A time is never derived from other slots.
 */
export async function timeSlots(slots: AsyncIterable<UntimedSlot>, tools: SlotTimingTools): Promise<void> {
  const timing = new SlotTiming(tools)
  let some: UntimedSlot[] = []
  for await (const slot of slots) {
    if (tools.signal.aborted) return
    some.push(slot)
    if (some.length < SLOTS_AT_ONCE) continue
    await timing.ask(some)
    some = []
  }
  await timing.ask(some)
}

class SlotTiming {
  readonly #tools: SlotTimingTools
  /** Why nodes are not asked any longer in this run. */
  readonly #refused = new Map<SlotTimes, MissingTimeReason>()
  /** Milliseconds that were waited for a node since its last good answer. */
  readonly #silentMs = new Map<SlotTimes, number>()

  constructor(tools: SlotTimingTools) {
    this.#tools = tools
  }

  async ask(slots: readonly UntimedSlot[]): Promise<void> {
    const { nodes, signal, tally } = this.#tools
    const reasons = new Map<number, MissingTimeReason>(slots.map(({ slot }) => [slot, 'no-node']))
    for (const node of nodes) {
      const due: number[] = []
      for (const { slot, absent } of slots) {
        if (!reasons.has(slot)) continue
        const known = absent.get(node.number)
        if (known === undefined) due.push(slot)
        else note(reasons, slot, known)
      }
      for (let at = 0; at < due.length; at += node.slotsAtOnce) {
        const outcome = await this.#asked(node, due.slice(at, at + node.slotsAtOnce))
        // An interrupted run reports nothing.
        if (signal.aborted) return
        for (const [slot, reason] of outcome)
          if (reason === null) reasons.delete(slot)
          else note(reasons, slot, reason)
      }
    }
    tally.given += slots.length - reasons.size
    for (const reason of reasons.values()) tally.miss(reason)
  }

  /** Asks a node until each slot has an outcome: null if it got a time, otherwise the reason. */
  async #asked(node: SlotTimes, slots: readonly number[]): Promise<Map<number, MissingTimeReason | null>> {
    const { signal, onProgress } = this.#tools
    const outcome = new Map<number, MissingTimeReason | null>()
    let due = slots
    for (let attempt = 1; due.length > 0 && !signal.aborted; attempt++) {
      const refused = this.#refused.get(node)
      if (refused !== undefined) {
        for (const slot of due) outcome.set(slot, refused)
        break
      }
      const answers = await this.#answers(node, due)
      await this.#store(node, due, answers, outcome)
      onProgress()
      let fault: NodeFault | null = null
      for (const [at, answer] of answers.entries()) {
        if (answer.kind !== 'failed') continue
        // A node that fails for one slot can answer for all others.
        const isOfSlot = isOfAnswer(answer.fault)
        if (isOfSlot && (attempt >= SLOT_ATTEMPTS_MAX || isUnknownSlot(answer.fault)))
          outcome.set(due[at]!, 'no-answer')
        else fault = answer.fault
      }
      due = due.filter((slot) => !outcome.has(slot))
      if (fault !== null) await this.#wait(node, fault, attempt)
    }
    return outcome
  }

  /** Stores the times of answers, and that the node has no time of slots. */
  async #store(
    node: SlotTimes,
    slots: readonly number[],
    answers: readonly TimeAnswer[],
    outcome: Map<number, MissingTimeReason | null>
  ): Promise<void> {
    const times = new Map<number, number>()
    const absent = new Map<number, AbsentTimeReason>()
    for (const [at, answer] of answers.entries()) {
      if (answer.kind === 'time') times.set(slots[at]!, answer.time)
      if (answer.kind === 'absent') absent.set(slots[at]!, answer.reason)
    }
    if (times.size + absent.size > 0) this.#silentMs.set(node, 0)
    await this.#tools.writer.addTimes(times)
    await this.#tools.writer.noteAbsentTimes(node.number, absent)
    for (const slot of times.keys()) outcome.set(slot, null)
    for (const [slot, reason] of absent) outcome.set(slot, reason)
  }

  /** Waits after a fault, or refuses the node for the rest of the run. */
  async #wait(node: SlotTimes, fault: NodeFault, attempt: number): Promise<void> {
    const { clock, random, signal } = this.#tools
    const silentMs = this.#silentMs.get(node) ?? 0
    const lasting = lastingReason(fault) ?? (silentMs >= GIVE_UP_MS ? 'no-answer' : null)
    if (lasting !== null) return this.#refuse(node, lasting, fault)
    const restMs = fault.kind === 'throttled' ? Math.min(fault.restMs, THROTTLE_MAX_MS) : 0
    const pauseMs = Math.max(restMs, jittered(backoffMs(BACKOFF, attempt), random()))
    this.#silentMs.set(node, silentMs + pauseMs)
    await sleep(clock, pauseMs, signal)
  }

  /** Asks a node once. An interruption leaves all slots without an answer. */
  async #answers(node: SlotTimes, slots: readonly number[]): Promise<TimeAnswer[]> {
    try {
      return await node.times(slots, this.#tools.signal)
    } catch (error) {
      if (this.#tools.signal.aborted) return []
      throw error
    }
  }

  #refuse(node: SlotTimes, reason: MissingTimeReason, fault: NodeFault): void {
    this.#refused.set(node, reason)
    this.#tools.onRefused(`${node.name} is not asked for further times: ${describeFault(fault)}`)
  }
}

/** Returns whether a node answered and the answer gives no time, so that other slots may have better ones. */
const isOfAnswer = (fault: NodeFault): boolean =>
  fault.kind === 'garbage' || (fault.kind === 'rpc' && !OF_NODE.includes(fault.code))

/** Errors that a node returns for any slot. */
const OF_NODE: readonly number[] = [RPC_CODE.rateLimited, RPC_CODE.nodeUnhealthy, RPC_CODE.methodNotFound]

/** Returns whether a node does not know a slot yet, or may never. */
const isUnknownSlot = (fault: NodeFault): boolean =>
  fault.kind === 'rpc' &&
  (fault.code === RPC_CODE.blockNotAvailable || fault.code === RPC_CODE.blockStatusNotAvailableYet)

/** Returns why a fault stays for the rest of a run; null if the request may succeed later. */
function lastingReason(fault: NodeFault): MissingTimeReason | null {
  if (fault.kind === 'unauthorized') return 'no-answer'
  const lacksMethod = fault.kind === 'rpc' && fault.code === RPC_CODE.methodNotFound
  return lacksMethod ? 'no-method' : null
}

/** Notes the reason of a slot. That of the last node counts, but for failures, after which a later run can help. */
function note(reasons: Map<number, MissingTimeReason>, slot: number, reason: MissingTimeReason): void {
  if (reasons.get(slot) !== 'no-answer') reasons.set(slot, reason)
}
