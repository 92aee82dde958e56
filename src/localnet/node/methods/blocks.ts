import type { BlockAnswer, LocalChain } from '../../chain.ts'
import { contextSlot, method, type Method } from '../method.ts'
import {
  atLeastConfirmed,
  commitmentOf,
  configOf,
  countOf,
  isMap,
  optional,
  u64Of,
  type JsonMap
} from '../params.ts'
import { blockCleanedUp, blockNotAvailable, invalidParams, slotSkipped, type RpcError } from '../rpc-error.ts'
import { TRANSACTION_DETAILS, type BlockForm } from '../rendered-blocks.ts'
import { TRANSACTION_ENCODINGS, type TransactionEncoding } from '../transaction-encoding.ts'

/** Maximum number of slots in getBlocks or getBlocksWithLimit (agave, MAX_GET_CONFIRMED_BLOCKS_RANGE). */
const SLOTS_MAX = 500_000
/** Entries of a vote's tower, by which getBlockCommitment counts votes (agave, MAX_LOCKOUT_HISTORY). */
const LOCKOUTS = 32
/** The only validator's stake. Arbitrary; nothing on a localnet depends on it. */
const TOTAL_STAKE = 1_000_000_000

export const blockMethods: Readonly<Record<string, Method>> = {
  getBlock: method(1, 2, ({ chain, blocks }, [slot, options]) => {
    const number = countOf(slot)
    const config = encodingConfigOf(options)
    const form: BlockForm = {
      encoding: transactionEncodingOf(config),
      details: optional(config.transactionDetails, (value) => wordOf(value, TRANSACTION_DETAILS)) ?? 'full',
      rewards: optional(config.rewards, flagOf) ?? true,
      versionMax: versionMaxOf(config)
    }
    const commitment = atLeastConfirmed(commitmentOf(config))
    const isRetained = number >= chain.firstSlot && number <= chain.slot(commitment)
    const known = isRetained ? blocks.find(number, form) : null
    if (known !== null) return known
    const answer = chain.block(number, commitment)
    if (answer.kind !== 'block') throw absenceOf(chain, number, answer)
    return blocks.render(answer.block, form)
  }),

  getBlockTime: method(1, 1, ({ chain }, [slot]) => {
    const number = countOf(slot)
    const answer = chain.block(number, 'processed')
    if (answer.kind !== 'block') throw absenceOf(chain, number, answer)
    return answer.block.blockTime
  }),

  getBlocks: method(1, 3, (node, [start, endOrOptions, options]) => {
    const first = countOf(start)
    // The end may be omitted, and the configuration takes its place.
    const end = isMap(endOrOptions) ? null : optional(endOrOptions, endOf)
    const config = configOf(options ?? (isMap(endOrOptions) ? endOrOptions : null), 'RpcContextConfig')
    const commitment = atLeastConfirmed(commitmentOf(config))
    const last = Math.min(end ?? first + SLOTS_MAX, contextSlot(node, commitment, config))
    if (last < first) return []
    if (last - first > SLOTS_MAX) throw invalidParams(`Slot range too large; max ${SLOTS_MAX}`)
    return node.chain.blockSlots(first, last, Infinity, commitment)
  }),

  getBlocksWithLimit: method(2, 3, (node, [start, limit, options]) => {
    const first = countOf(start)
    const most = countOf(limit, 'usize')
    const config = configOf(options, 'RpcContextConfig')
    const commitment = atLeastConfirmed(commitmentOf(config))
    if (most > SLOTS_MAX) throw invalidParams(`Limit too large; max ${SLOTS_MAX}`)
    return node.chain.blockSlots(first, contextSlot(node, commitment, config), most, commitment)
  }),

  getBlockCommitment: method(1, 1, ({ chain }, [slot]) => {
    const number = Number(u64Of(slot))
    return { commitment: votesFor(chain, number), totalStake: TOTAL_STAKE }
  }),

  getFirstAvailableBlock: method(0, 0, ({ chain }) => chain.firstSlot),
  minimumLedgerSlot: method(0, 0, ({ chain }) => chain.firstSlot)
}

/** Returns the error for an absent block. A node knows that a slot is skipped once a later one is final. */
function absenceOf(
  chain: LocalChain,
  slot: number,
  { kind }: Exclude<BlockAnswer, { kind: 'block' }>
): RpcError {
  if (kind === 'pruned') return blockCleanedUp(slot, chain.firstSlot)
  return kind === 'skipped' && slot <= chain.slot('finalized') ? slotSkipped(slot) : blockNotAvailable(slot)
}

/** Returns by number of confirmations the stake that voted for the block or a later one; null for an unknown block. */
function votesFor(chain: LocalChain, slot: number): number[] | null {
  const depth = chain.slot('processed') - slot
  if (depth < 0 || slot < chain.firstSlot) return null
  const votes = new Array<number>(LOCKOUTS).fill(0)
  votes[Math.min(depth, LOCKOUTS - 1)] = TOTAL_STAKE
  return votes
}

function endOf(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
  if (typeof value === 'bigint') return Number(value)
  throw invalidParams(
    'Invalid params: data did not match any variant of untagged enum RpcBlocksConfigWrapper.'
  )
}

const unreadableConfig = (): RpcError =>
  invalidParams('Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.')

/** Reads a configuration, or the encoding alone, as older clients pass it. */
export function encodingConfigOf(value: unknown): JsonMap {
  if (value === undefined || value === null) return {}
  if (typeof value === 'string') return { encoding: value }
  if (isMap(value)) return value
  throw unreadableConfig()
}

function wordOf<T extends string>(value: unknown, words: readonly T[]): T {
  const word = words.find((each) => each === value)
  if (word === undefined) throw unreadableConfig()
  return word
}

function flagOf(value: unknown): boolean {
  if (typeof value !== 'boolean') throw unreadableConfig()
  return value
}

export function transactionEncodingOf({ encoding }: JsonMap): TransactionEncoding {
  return optional(encoding, (value) => wordOf(value, TRANSACTION_ENCODINGS)) ?? 'json'
}

const VERSIONS_MAX = 255

export function versionMaxOf({ maxSupportedTransactionVersion }: JsonMap): number | null {
  return optional(maxSupportedTransactionVersion, (value) => {
    if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > VERSIONS_MAX) {
      throw unreadableConfig()
    }
    return value as number
  })
}
