import { decodeTransactions } from '../../chain/decode-block.ts'
import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { Block } from '../../chain/transaction.ts'
import type { TransferFeeLookup } from '../../chain/transfer-fee.ts'
import { cursorAt } from '../../market/cursor.ts'
import type { FoldOptions } from '../../market/fold.ts'
import { foldAlone } from '../../market/market-state.ts'
import type { RowOrigin, SlotRow, TradeRow } from '../../market/rows.ts'
import { sameValue } from '../../market/same-value.ts'
import type { PageRequest, RowHorizon, Storage } from '../../../storage/port.ts'
import type { Difference } from './difference.ts'

/** Maximum rows of an owner in a slot: more than a slot has positions. */
const SLOT_ROWS_MAX = 2 ** 20

/**
 * Decodes a block again and compares it with the store: the block's facts, every trade, pool event and launch, as far
 * as they follow from the block alone. A row's USD value, and whether its price counts, depend on earlier rows and
 * are not compared. Trades and pool events below a horizon are also skipped. `feeOf` returns the transfer fees of the
 * block's epoch.
 */
export async function* blockDifferences(
  storage: Storage,
  block: Block,
  options: FoldOptions,
  horizon: RowHorizon | null,
  feeOf: TransferFeeLookup | null = null
): AsyncGenerator<Difference> {
  const { slot, blockTime, parentSlot } = block
  const { entries } = decodeTransactions(block.transactions, 0, feeOf)
  const transactions = block.transactions.length + block.votes
  const place = {
    slot,
    blockTime,
    parentSlot,
    blockhash: null,
    receivedAtMs: 0,
    commitment: 'confirmed' as const
  }
  const decoded = { ...place, transactions, entries }
  const fold = foldAlone(decoded, options)

  const row = await storage.blocks.at(slot)
  if (row === null) {
    yield { kind: 'block', of: { slot }, stored: null, computed: factsOf(fold.slot) }
    return
  }
  if (!sameValue(factsOf(row), factsOf(fold.slot)))
    yield { kind: 'block', of: { slot }, stored: factsOf(row), computed: factsOf(fold.slot) }
  const page: PageRequest = {
    from: cursorAt(slot, 0) - 1,
    until: cursorAt(slot + 1, 0) - 1,
    order: 'asc',
    limit: SLOT_ROWS_MAX
  }
  const isRetained = ({ cursor }: RowOrigin): boolean => cursor >= (horizon?.cursor ?? 0)
  for (const [mint, trades] of byOwner(fold.trades.filter(isRetained), (trade) => trade.mint)) {
    const stored = await storage.trades.ofMint(mint, page)
    yield* compared('trade', { slot, mint }, stored.map(tradeFacts), trades.map(tradeFacts))
  }
  for (const [pool, events] of byOwner(fold.poolEvents.filter(isRetained), (event) => event.pool)) {
    const stored = await storage.poolEvents.ofPool(pool, page)
    yield* compared(
      'pool_event',
      { slot, pool },
      stored.map(withoutCommitment),
      events.map(withoutCommitment)
    )
  }
  for (const { mint, cursor, venue, creator, curve, name, symbol, uri } of fold.launches) {
    const computed = { cursor, venue, creator, curve, name, symbol, uri }
    const launch = await storage.launches.get(mint)
    // A mint is launched once: a later launch of it has no row.
    if (launch !== null && launch.cursor < cursor) continue
    const stored = launch && {
      cursor: launch.cursor,
      venue: launch.venue,
      creator: launch.creator,
      curve: launch.curve,
      name: launch.name,
      symbol: launch.symbol,
      uri: launch.uri
    }
    if (!sameValue(stored, computed)) yield { kind: 'launch', of: { slot, mint }, stored, computed }
  }
}

const factsOf = ({ blockTime, parentSlot, transactions, trades, events }: SlotRow) => ({
  blockTime,
  parentSlot,
  transactions,
  trades,
  events
})

const withoutCommitment = (row: RowOrigin) => ({
  ...row,
  commitment: null
})

/** Facts of a row that follow from its block alone: neither its value nor whether it gave its pool a vault does. */
const tradeFacts = (row: TradeRow) => ({
  ...withoutCommitment(row),
  cashUsd: null,
  priceForming: null,
  vaults: null
})

function byOwner<Row>(rows: readonly Row[], ownerOf: (row: Row) => Pubkey): [Pubkey, Row[]][] {
  const groups = Map.groupBy(rows, (row) => pubkeyMapKey(ownerOf(row)))
  return Array.from(groups.values(), (group) => [ownerOf(group[0]!), group])
}

function* compared(
  kind: Difference['kind'],
  of: Readonly<Record<string, unknown>>,
  stored: readonly { readonly cursor: number }[],
  computed: readonly { readonly cursor: number }[]
): Generator<Difference> {
  const [one, other] = [stored, computed].map((rows) => new Map(rows.map((row) => [row.cursor, row])))
  for (const cursor of new Set([...one!.keys(), ...other!.keys()])) {
    const [before, after] = [one!.get(cursor) ?? null, other!.get(cursor) ?? null]
    if (!sameValue(before, after)) yield { kind, of: { ...of, cursor }, stored: before, computed: after }
  }
}
