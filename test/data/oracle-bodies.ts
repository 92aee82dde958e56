import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { human, signatureOf, symbolOf, type Listed, type StoryEvent } from './oracle-story.ts'

export type Json = Record<string, unknown>

export const address = (key: Pubkey | null): string | null => (key === null ? null : pubkeyToBase58(key))
const raw = (amount: bigint | null | undefined): string | null => amount?.toString() ?? null

/** Formats unix seconds as `YYYY-MM-DD HH:MM:SS`. */
export const stamp = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')

function event(told: StoryEvent, kind: string, name: string): Json {
  const { block, entry, event: on } = told
  return {
    kind,
    event: name,
    venue: on.venue,
    program: pubkeyToBase58(on.program),
    pool: told.pool,
    slot: block.slot,
    block_time: block.blockTime,
    ts: stamp(block.blockTime),
    ts_ms: block.blockTime * 1000,
    signature: signatureOf(told),
    tx_index: entry.txIndex,
    ix_index: on.ixIndex,
    inner_ix_index: on.innerIxIndex,
    cursor: told.cursor,
    commitment: block.commitment,
    user: pubkeyToBase58(on.user),
    fee_payer: pubkeyToBase58(entry.feePayer)
  }
}

export function tradeJson(row: Listed): Json {
  const { trade, side, cash, cashUsd, price } = row
  const cashAmount = cash === null ? null : human(row.cashRaw, row.cashDecimals)
  const feeMints = new Set(trade.fees.map(({ mint }) => pubkeyToBase58(mint)))
  const feeSum = trade.fees.reduce((sum, { amount }) => sum + amount, 0n)
  const leg = (mint: Pubkey, amount: bigint, decimals: number): Json => ({
    mint: pubkeyToBase58(mint),
    amount_raw: amount.toString(),
    amount: human(amount, decimals),
    decimals
  })
  return {
    ...event(row, 'trade', side ?? 'swap'),
    trader: row.user,
    mint: row.mint,
    decimals: row.tokenDecimals,
    is_buy: side === null ? null : side === 'buy' ? 1 : 0,
    cash_mint: cash,
    cash_symbol: cash === null ? null : symbolOf(cash),
    cash_amount: cashAmount,
    cash_amount_raw: cash === null ? null : row.cashRaw.toString(),
    token_amount: human(row.tokenRaw, row.tokenDecimals),
    token_amount_raw: row.tokenRaw.toString(),
    price,
    amount_usd: cashAmount === null || cashUsd === null ? null : cashAmount * cashUsd,
    price_usd: price === null || cashUsd === null ? null : price * cashUsd,
    ...(cash === null && {
      legs: [
        leg(trade.inMint, trade.inAmount, trade.inDecimals),
        leg(trade.outMint, trade.outAmount, trade.outDecimals)
      ]
    }),
    in_mint: pubkeyToBase58(trade.inMint),
    out_mint: pubkeyToBase58(trade.outMint),
    exec_in: human(trade.inAmount, trade.inDecimals),
    exec_out: human(trade.outAmount, trade.outDecimals),
    in_amount_raw: trade.inAmount.toString(),
    out_amount_raw: trade.outAmount.toString(),
    trader_in_raw: trade.traderIn.toString(),
    trader_out_raw: trade.traderOut.toString(),
    fees: trade.fees.map(({ kind, mint, amount }) => ({
      kind,
      mint: pubkeyToBase58(mint),
      amount_raw: amount.toString()
    })),
    ...(feeMints.size === 1 && { fee_raw: feeSum.toString(), fee_mint: [...feeMints][0] }),
    reserves:
      trade.reserves === null
        ? null
        : {
            in_raw: raw(trade.reserves.in),
            out_raw: raw(trade.reserves.out),
            virtual_in_raw: raw(trade.reserves.virtualIn),
            virtual_out_raw: raw(trade.reserves.virtualOut)
          },
    exact: trade.exact,
    price_forming: row.forming,
    ...(trade.route !== null && {
      route_id: `${signatureOf(row)}:${trade.route.ixIndex}`,
      route_program: pubkeyToBase58(trade.route.program),
      hop: trade.route.hop,
      hops: trade.route.hops
    }),
    failed: false
  }
}

export const walletTradeJson = (row: Listed): Json => ({
  ...tradeJson(row),
  wallet: row.user,
  side: row.side
})

/** Returns the launches of a story, newest first, with their status at its end. */
export function launchesJson(story: readonly StoryEvent[]): Json[] {
  const seen = new Set<string>()
  const launches = story.flatMap((told, at) => {
    const { event: launch, block } = told
    if (launch.kind !== 'launch') return []
    const mint = pubkeyToBase58(launch.baseMint)
    if (seen.has(mint)) return []
    seen.add(mint)
    const later = story.slice(at + 1).map((after) => after.event)
    const isTraded = later.some(
      (other) =>
        other.kind === 'trade' && [other.inMint, other.outMint].some((key) => pubkeyToBase58(key) === mint)
    )
    const isGraduated = later.some(
      (other) =>
        other.kind === 'curve' && other.event === 'migrate' && pubkeyToBase58(other.baseMint) === mint
    )
    return [
      {
        ...event(told, 'launch', 'create'),
        ingested_at: new Date(block.receivedAtMs).toISOString().slice(0, 23).replace('T', ' '),
        creator: pubkeyToBase58(launch.creator),
        mint,
        base_mint: mint,
        quote_mint: pubkeyToBase58(launch.quoteMint),
        symbol: launch.symbol,
        name: launch.name,
        uri: launch.uri,
        decimals: launch.decimals,
        supply_raw: raw(launch.supply),
        curve: pubkeyToBase58(launch.curve),
        status: isGraduated ? 'graduated' : isTraded ? 'trading' : 'created'
      }
    ]
  })
  return launches.toReversed()
}
