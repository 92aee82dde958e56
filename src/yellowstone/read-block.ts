import { BLOCK_TIME_MAX, SLOT_MAX } from '../chain/chain-numbers.ts'
import type { Block, Reward, Transaction } from '../chain/transaction.ts'
import { bytesField, MessageFault, ProtobufReader, varintField } from './protobuf.ts'
import { readRewards } from './rewards.ts'
import { placeTransaction, readTransaction, type TransactionPlace } from './transaction.ts'

// geyser.SubscribeUpdate
const BLOCK = bytesField(5)
const PING = bytesField(6)
const PONG = bytesField(9)
// geyser.SubscribeUpdateBlock
const SLOT = varintField(1)
const BLOCKHASH = bytesField(2)
const REWARDS = bytesField(3)
const BLOCK_TIME = bytesField(4)
const BLOCK_HEIGHT = bytesField(5)
const TRANSACTION = bytesField(6)
const PARENT_SLOT = varintField(7)
const PARENT_BLOCKHASH = bytesField(8)
const EXECUTED_COUNT = varintField(9)
// solana.storage.ConfirmedBlock.UnixTimestamp
const TIMESTAMP = varintField(1)
// solana.storage.ConfirmedBlock.BlockHeight
const HEIGHT = varintField(1)

/** A block from a stream, with its links to the chain. */
export interface StreamedBlock extends Block {
  readonly parentSlot: number
  /** Base58. */
  readonly blockhash: string
  readonly parentBlockhash: string
  /** Transactions left out because they cannot be read. */
  readonly unreadable: readonly { readonly index: number; readonly reason: string }[]
}

export type Update =
  | { readonly kind: 'block'; readonly block: StreamedBlock }
  /** The server checks that the client is connected. */
  | { readonly kind: 'ping' }
  /** An update that was not requested, or the answer to a ping. */
  | { readonly kind: 'other' }
  | {
      readonly kind: 'unreadable'
      /** Null if even the slot cannot be read. */
      readonly slot: number | null
      /** The unreadable field; for a number out of range, with the number. */
      readonly reason: string
    }

/**
 * Reads the bytes of one SubscribeUpdate for a subscription to blocks with transactions. A block must be whole, each
 * transaction once under its index. Votes are counted and left out unread. An unreadable transaction is left out too.
 * If no transaction is readable, the block is unreadable; so is a block whose slot or time is out of range
 * (INVARIANTS 9). Never throws: all bytes have an outcome, and no accessor of a returned block throws later.
 */
export function readUpdate(bytes: Uint8Array): Update {
  const from = new ProtobufReader(bytes)
  const end = bytes.length
  let slot: number | null = null
  try {
    let update: Update = { kind: 'other' }
    while (from.at < end) {
      const tag = from.tag(end)
      if (tag === BLOCK) {
        const stop = from.span(end, 'block')
        const parts = findParts(from, stop, (found) => (slot = found))
        update = { kind: 'block', block: readBlock(from, parts) }
        from.at = stop
      } else {
        if (tag === PING) update = { kind: 'ping' }
        else if (tag === PONG) update = { kind: 'other' }
        from.skip(tag, end)
      }
    }
    return update
  } catch (error) {
    if (error instanceof MessageFault) return { kind: 'unreadable', slot, reason: error.field }
    throw error
  }
}

interface BlockParts {
  slot: number
  blockhash: string
  blockTime: number | null
  height: number | null
  parentSlot: number
  parentBlockhash: string
  executed: number
  /** Start and end offset of each. */
  readonly transactions: number[]
  /** Undefined if the message does not state them. */
  rewards: readonly Reward[] | undefined
}

function findParts(from: ProtobufReader, end: number, onSlot: (slot: number) => void): BlockParts {
  const parts: BlockParts = {
    slot: 0,
    blockhash: '',
    blockTime: null,
    height: null,
    parentSlot: 0,
    parentBlockhash: '',
    executed: 0,
    transactions: [],
    rewards: undefined
  }
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === TRANSACTION) {
      const stop = from.span(end, 'transactions')
      parts.transactions.push(from.at, stop)
      from.at = stop
    } else if (tag === SLOT) onSlot((parts.slot = from.bounded(end, SLOT_MAX, 'slot')))
    else if (tag === PARENT_SLOT) parts.parentSlot = from.bounded(end, SLOT_MAX, 'parentSlot')
    else if (tag === EXECUTED_COUNT) parts.executed = from.count(end, 'executedTransactionCount')
    else if (tag === BLOCK_TIME) parts.blockTime = readTimestamp(from, from.span(end, 'blockTime'))
    else if (tag === REWARDS) parts.rewards = readRewards(from, from.span(end, 'rewards'))
    else if (tag === BLOCK_HEIGHT) parts.height = readHeight(from, from.span(end, 'blockHeight'))
    else if (tag === BLOCKHASH || tag === PARENT_BLOCKHASH) {
      const stop = from.span(end, 'blockhash')
      const text = from.text(from.at, stop)
      from.at = stop
      if (tag === BLOCKHASH) parts.blockhash = text
      else parts.parentBlockhash = text
    } else from.skip(tag, end)
  }
  return parts
}

/** Reads Unix seconds. Protobuf writes a time before 1970 as a number far above the limit. */
function readTimestamp(from: ProtobufReader, end: number): number {
  let seconds = 0
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === TIMESTAMP) seconds = from.bounded(end, BLOCK_TIME_MAX, 'blockTime')
    else from.skip(tag, end)
  }
  return seconds
}

/**
 * Reads a block height; null for one that is not an exact number. An invalid height does not make the block
 * unreadable.
 */
function readHeight(from: ProtobufReader, end: number): number | null {
  let height = 0
  while (from.at < end) {
    const tag = from.tag(end)
    if (tag === HEIGHT) height = from.rounded(end, 'blockHeight')
    else from.skip(tag, end)
  }
  return Number.isSafeInteger(height) ? height : null
}

function readBlock(from: ProtobufReader, parts: BlockParts): StreamedBlock {
  const { slot, blockTime, parentSlot, executed, transactions: spans } = parts
  if (blockTime === null) throw new MessageFault('blockTime')
  if (parentSlot >= slot && slot > 0) throw new MessageFault('parentSlot')
  if (parts.blockhash === '') throw new MessageFault('blockhash')
  const count = spans.length / 2
  if (count !== executed) throw new MessageFault(`transactions: ${count} of ${executed}`)
  const transactions: Transaction[] = []
  const unreadable: { index: number; reason: string }[] = []
  let votes = 0
  for (const place of inOrder(from, spans)) {
    try {
      const transaction = readTransaction(from, place)
      if (transaction === null) votes++
      else transactions.push(transaction)
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error
      unreadable.push({ index: place.index, reason: error.field })
    }
  }
  if (count > 0 && unreadable.length === count) {
    throw new MessageFault(`transactions: ${unreadable[0]!.reason}`)
  }
  const { blockhash, parentBlockhash, height, rewards } = parts
  const links = { parentSlot, blockhash, parentBlockhash, ...(height !== null && { height }) }
  const leftOut = unreadable.length > 0 && { leftOut: unreadable.length }
  return {
    slot,
    blockTime,
    ...links,
    transactions,
    votes,
    unreadable,
    ...leftOut,
    ...(rewards !== undefined && { rewards })
  }
}

/** Returns the places of all transactions by their index; the indexes must be 0, 1, 2 and so on, each once. */
function inOrder(from: ProtobufReader, spans: readonly number[]): readonly TransactionPlace[] {
  const places: TransactionPlace[] = []
  let ordered = true
  for (let i = 0; i < spans.length; i += 2) {
    from.at = spans[i]!
    const place = placeTransaction(from, spans[i + 1]!)
    if (place.index !== i / 2) ordered = false
    places.push(place)
  }
  if (ordered) return places
  places.sort((a, b) => a.index - b.index)
  for (const [at, { index }] of places.entries()) {
    if (index !== at) throw new MessageFault(`transactions: index ${index} in place of ${at}`)
  }
  return places
}
