import { SLOT_MAX } from '../chain/chain-numbers.ts'
import { placeBlock, readRpcBlock } from '../chain/rpc/block.ts'
import { isCount, listOf, Unreadable } from '../chain/rpc/fields.ts'
import type { Clock } from '../ports.ts'
import type { AbsentBlock, BlockAnswer, BlockCommitment, BlockHeader, ChainNode } from './chain-node.ts'
import { callAndRead, type ReadResult } from './node-answers.ts'
import { describeFault, NodeError, RPC_CODE } from './node-fault.ts'
import type { CallOptions, RpcAnswer, RpcClient } from './rpc-client.ts'

export interface RpcNodeOptions {
  readonly commitment: BlockCommitment
  readonly isArchive: boolean
  /** Whether blocks come with the bytes they were read from; false if absent. */
  readonly keepBody?: boolean
}

/** Time after a fault during which a node is queried only after all others, in milliseconds. */
const REST_MS = 5_000
/** Timeout of a genesis request. Nodes answer it from memory, so a slower one counts as down. */
const GENESIS_TIMEOUT_MS = 5_000

/** A node that is queried for blocks by JSON-RPC. One that failed a request comes after the others for a while. */
export class RpcNode implements ChainNode {
  readonly client: RpcClient
  readonly isArchive: boolean
  headSlot: number | null = null
  readonly #commitment: BlockCommitment
  readonly #clock: Clock
  readonly #keepBody: boolean
  #firstAvailable: { readonly slot: number; readonly atMs: number } | null = null
  #restUntilMs = 0

  constructor(client: RpcClient, clock: Clock, { commitment, isArchive, keepBody = false }: RpcNodeOptions) {
    this.client = client
    this.isArchive = isArchive
    this.#commitment = commitment
    this.#clock = clock
    this.#keepBody = keepBody
  }

  get name(): string {
    return this.client.name
  }

  /** Whether it failed a request a short time ago. */
  get isResting(): boolean {
    return this.#clock.now() < this.#restUntilMs
  }

  get rank(): number {
    return this.isResting ? 1 : 0
  }

  /** Returns the newest slot at the commitment; throws NodeError. */
  async slot(signal: AbortSignal, timeoutMs: number): Promise<number> {
    const params = [{ commitment: this.#commitment }]
    return this.#read('getSlot', params, { signal, timeoutMs, urgent: true }, slotOf)
  }

  /** Returns the genesis hash in base58; throws NodeError. */
  async genesis(signal: AbortSignal, timeoutMs = GENESIS_TIMEOUT_MS): Promise<string> {
    return this.#read('getGenesisHash', [], { signal, timeoutMs, urgent: true }, (result) => {
      if (typeof result !== 'string') throw new Unreadable('hash')
      return result
    })
  }

  /** Lists slots with blocks from one on, ascending, at most `limit`; throws NodeError. */
  async slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]> {
    const params = [slot, limit, { commitment: this.#commitment }]
    try {
      return await this.#read('getBlocksWithLimit', params, { signal }, (result) => readSlots(result, slot))
    } catch (error) {
      if (error instanceof NodeError) this.#rest()
      throw error
    }
  }

  /** Returns the first slot whose block the node stores, cached for a few seconds; throws NodeError. */
  async firstAvailable(signal: AbortSignal): Promise<number> {
    const now = this.#clock.now()
    if (this.#firstAvailable !== null && now - this.#firstAvailable.atMs < FIRST_AVAILABLE_MS)
      return this.#firstAvailable.slot
    const slot = await this.#read('getFirstAvailableBlock', [], { signal }, slotOf)
    this.#firstAvailable = { slot, atMs: now }
    return slot
  }

  /** Returns the hash of a slot's block, null if the node has no block there; throws NodeError. */
  async blockhash(slot: number, signal: AbortSignal, timeoutMs: number): Promise<string | null> {
    const params = [slot, { ...HEADER_PARAMS, commitment: this.#commitment }]
    try {
      const { result } = await this.client.call('getBlock', params, { signal, timeoutMs, urgent: true })
      const { blockhash } = (result ?? {}) as { blockhash?: unknown }
      return typeof blockhash === 'string' ? blockhash : null
    } catch (error) {
      if (error instanceof NodeError && error.fault.kind === 'rpc') return null
      throw error
    }
  }

  /** Fetches the block of a slot; rejects only with the signal's reason. */
  async block(slot: number, signal: AbortSignal): Promise<BlockAnswer> {
    const answer = await this.#block(slot, signal)
    if (answer.kind === 'absent' && (answer.why === 'fault' || answer.why === 'unavailable')) this.#rest()
    return answer
  }

  /** Fetches the header of a slot's block; rejects only with the signal's reason. */
  async header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock> {
    try {
      const params = [slot, { ...HEADER_PARAMS, commitment: this.#commitment }]
      const { result } = await this.client.call('getBlock', params, { signal })
      if (result === null) return absent('pending', 'the result is null')
      const { parentSlot, blockTime, blockhash, previousBlockhash } = result as Record<string, unknown>
      if (!isCount(parentSlot) || typeof blockhash !== 'string' || typeof previousBlockhash !== 'string')
        return absent('unreadable', 'header')
      const time = isCount(blockTime) ? blockTime : null
      return {
        kind: 'header',
        slot,
        parentSlot,
        blockTime: time,
        blockhash,
        parentBlockhash: previousBlockhash
      }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return this.#absence(error, slot, signal)
    }
  }

  async close(): Promise<void> {
    await this.client.close()
  }

  #rest(): void {
    this.#restUntilMs = this.#clock.now() + REST_MS
  }

  async #block(slot: number, signal: AbortSignal): Promise<BlockAnswer> {
    try {
      const params = [slot, { ...BLOCK_PARAMS, commitment: this.#commitment }]
      return this.#readBlock(await this.client.call('getBlock', params, { signal }), slot)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return this.#absence(error, slot, signal)
    }
  }

  #readBlock({ result, body }: RpcAnswer, slot: number): BlockAnswer {
    if (result === null) return absent('pending', 'the result is null')
    const outcome = readRpcBlock(result, slot)
    if (outcome.kind === 'unreadable') return absent('unreadable', outcome.reason)
    if (outcome.kind !== 'block') return absent('unreadable', outcome.kind)
    const block = placeBlock(outcome.block)
    if (block === null) return absent('unreadable', 'blockTime')
    const { parentSlot } = block
    if (parentSlot === null || (parentSlot >= slot && slot > 0)) return absent('unreadable', 'parentSlot')
    const { blockhash, previousBlockhash } = result as Record<string, unknown>
    if (typeof blockhash !== 'string' || typeof previousBlockhash !== 'string')
      return absent('unreadable', 'blockhash')
    return {
      kind: 'block',
      block: { ...block, slot, parentSlot },
      blockhash,
      previousBlockhash,
      unreadable: outcome.block.unreadable.length,
      body: this.#keepBody ? body : null
    }
  }

  async #absence({ fault }: NodeError, slot: number, signal: AbortSignal): Promise<AbsentBlock> {
    const detail = describeFault(fault)
    if (fault.kind === 'too-large' || fault.kind === 'garbage') return absent('unreadable', detail)
    if (fault.kind === 'throttled' || fault.kind === 'unauthorized' || fault.kind === 'busy')
      return absent('unavailable', detail)
    if (fault.kind !== 'rpc') return absent('fault', detail)
    switch (fault.code) {
      case RPC_CODE.blockCleanedUp:
        return absent('pruned', detail)
      case RPC_CODE.slotSkipped:
      case RPC_CODE.longTermSlotSkipped: {
        // The node also reports this for slots before the snapshot that it was started from.
        const first = await this.firstAvailable(signal).catch(() => 0)
        signal.throwIfAborted()
        return absent(slot < first ? 'pruned' : 'skipped', detail)
      }
      case RPC_CODE.blockNotAvailable:
      case RPC_CODE.blockStatusNotAvailableYet:
        return absent('pending', detail)
      case RPC_CODE.unsupportedTransactionVersion:
        return absent('unsupported', detail)
      default:
        return absent('fault', detail)
    }
  }

  #read<T>(
    method: string,
    params: readonly unknown[],
    options: CallOptions,
    read: ReadResult<T>
  ): Promise<T> {
    return callAndRead(this.client, method, params, options, read)
  }
}

/** Reads a slot. Throws Unreadable, which names a number that is not a slot. */
function slotOf(value: unknown): number {
  if (isCount(value) && value <= SLOT_MAX) return value
  throw new Unreadable(
    typeof value === 'number' ? `${value}, which is not a slot from 0 to ${SLOT_MAX},` : 'slot'
  )
}

/** Reads slots from one on, ascending. Throws Unreadable. */
function readSlots(result: unknown, from: number): readonly number[] {
  let least = from
  return listOf(result, 'slots').map((value) => {
    const slot = slotOf(value)
    if (slot < least) throw new Unreadable('slots')
    least = slot + 1
    return slot
  })
}

/** The cheapest complete encoding, measured from the answer to events, is base64 (loadtest/results/rpc-source.json). */
export const BLOCK_PARAMS = {
  encoding: 'base64',
  transactionDetails: 'full',
  // 130 bytes a block, and 530 KB in each of the blocks that pay the rewards of an epoch (4,096 stake accounts each).
  rewards: true,
  maxSupportedTransactionVersion: 1
} as const

const HEADER_PARAMS = { ...BLOCK_PARAMS, transactionDetails: 'none', rewards: false } as const

const FIRST_AVAILABLE_MS = 10_000

function absent(why: AbsentBlock['why'], detail: string): AbsentBlock {
  return { kind: 'absent', why, detail }
}
