import { createHash } from 'node:crypto'
import { BLOCK_TIME_MAX } from '../../chain/chain-numbers.ts'
import { isCount } from '../../chain/rpc/fields.ts'
import { NodeError, refusesRequest, RPC_CODE, type NodeFault } from '../../node/node-fault.ts'
import type { NodeAddress } from '../../node/node-address.ts'
import { RpcClient } from '../../node/rpc-client.ts'
import { RpcNode } from '../../node/rpc-node.ts'
import type { Clock } from '../../ports.ts'
import { CHAIN_START } from '../rows/row-check.ts'
import type { AbsentTimeReason } from '../facts/slot-time.ts'

/** Maximum calls of a batch: providers that take batches take at least 50 calls. */
const BATCH_CALLS_MAX = 50
/** Bytes of a node's number, which is below 2^48: two of a million nodes are equal with a probability of 0.2 %. */
const NUMBER_BYTES = 6

/** A node's answer about the time of a slot. `failed`: it gave none now. */
export type TimeAnswer =
  | { readonly kind: 'time'; readonly time: number }
  | { readonly kind: 'absent'; readonly reason: AbsentTimeReason }
  | { readonly kind: 'failed'; readonly fault: NodeFault }

/** A node that states the times of slots. */
export interface SlotTimes {
  /** The node as messages name it. */
  readonly name: string
  /** Names the node in facts, without any part of its URL but host and port. */
  readonly number: number
  /** Slots of one request. */
  readonly slotsAtOnce: number
  /** Returns an answer for each slot, in their order. Rejects only with the signal's reason. */
  times(slots: readonly number[], signal: AbortSignal): Promise<TimeAnswer[]>
}

/**
 * Reads times of slots with getBlockTime, in batches. Each call of a batch counts as a request, as providers count it. A node
 * that refuses batches gets single requests.
 */
export class TimeNode implements SlotTimes {
  /** For comparisons of the chain. */
  readonly node: RpcNode
  readonly name: string
  readonly number: number
  readonly #batches: RpcClient
  readonly #singles: RpcClient
  readonly #batchCalls: number
  #takesBatches: boolean

  constructor(address: NodeAddress, clock: Clock, requestsPerSecond: number) {
    const batches = Math.ceil(requestsPerSecond / BATCH_CALLS_MAX)
    this.#batchCalls = Math.floor(requestsPerSecond / batches)
    this.#batches = new RpcClient(address, clock, { requestsPerSecond: batches })
    this.#singles = new RpcClient(address, clock, { requestsPerSecond })
    this.#takesBatches = this.#batchCalls > 1
    this.node = new RpcNode(this.#singles, clock, { commitment: 'finalized', isArchive: true })
    this.name = address.name
    this.number = nodeNumber(address.name)
  }

  get slotsAtOnce(): number {
    return this.#batchCalls
  }

  async times(slots: readonly number[], signal: AbortSignal): Promise<TimeAnswer[]> {
    const answers: TimeAnswer[] = []
    for (const [at, result] of (await this.#results(slots, signal)).entries())
      answers.push(await this.#answerOf(slots[at]!, result, signal))
    return answers
  }

  async close(): Promise<void> {
    await Promise.all([this.#batches.close(), this.#singles.close()])
  }

  /** Returns a result or a NodeError for each slot. */
  async #results(slots: readonly number[], signal: AbortSignal): Promise<unknown[]> {
    if (this.#takesBatches) {
      try {
        const calls = slots.map((slot) => [slot])
        return await this.#batches.batch('getBlockTime', calls, { signal })
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        if (!refusesBatch(error.fault)) return slots.map(() => error)
        this.#takesBatches = false
      }
    }
    return Promise.all(slots.map((slot) => this.#single(slot, signal)))
  }

  async #single(slot: number, signal: AbortSignal): Promise<unknown> {
    try {
      return (await this.#singles.call('getBlockTime', [slot], { signal })).result
    } catch (error) {
      if (error instanceof NodeError) return error
      throw error
    }
  }

  async #answerOf(slot: number, result: unknown, signal: AbortSignal): Promise<TimeAnswer> {
    if (result === null) return { kind: 'absent', reason: 'no-time' }
    if (!(result instanceof NodeError)) {
      if (isCount(result) && result >= CHAIN_START && result <= BLOCK_TIME_MAX)
        return { kind: 'time', time: result }
      return { kind: 'failed', fault: { kind: 'garbage', detail: 'an invalid block time' } }
    }
    const { fault } = result
    if (fault.kind !== 'rpc') return { kind: 'failed', fault }
    if (fault.code === RPC_CODE.blockCleanedUp) return { kind: 'absent', reason: 'not-stored' }
    if (fault.code !== RPC_CODE.slotSkipped && fault.code !== RPC_CODE.longTermSlotSkipped)
      return { kind: 'failed', fault }
    // The node also reports this for slots before the snapshot that it was started from.
    const first = await this.node.firstAvailable(signal).catch((error: unknown) => {
      if (error instanceof NodeError) return null
      throw error
    })
    if (first === null) return { kind: 'failed', fault }
    return { kind: 'absent', reason: slot < first ? 'not-stored' : 'no-block' }
  }
}

/** Returns whether a node refused a batch for being one, so that its calls may succeed alone. */
const refusesBatch = (fault: NodeFault): boolean =>
  refusesRequest(fault) ||
  fault.kind === 'garbage' ||
  (fault.kind === 'rpc' && fault.code !== RPC_CODE.rateLimited)

/** Returns the number that stands for a node of a name. */
export const nodeNumber = (name: string): number =>
  createHash('sha256').update(name).digest().readUIntBE(0, NUMBER_BYTES)
