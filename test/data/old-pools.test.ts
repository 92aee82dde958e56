import t from 'tap'
import { decodeTransaction } from '../../src/chain/decode.ts'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import {
  holderMintsIn,
  holderProgressIn,
  HOLDER_MINTS_PARTITION,
  NO_LIST
} from '../../src/holders/holder-mint.ts'
import { wholeList } from '../../src/holders/list-rows.ts'
import type { BlockEntry } from '../../src/market/block.ts'
import { WSOL } from '../../src/market/cash.ts'
import { isLaunchpad } from '../../src/market/curves.ts'
import { publishedCall, publishedPools } from '../chain/decode/published-accounts.ts'
import { RawRecord } from '../chain/decode/raw-record.ts'
import { fixtureTransactions, testWithFixtures } from '../fixtures.ts'
import { block, key, NOON, OPTIONS } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

interface Balance {
  readonly owner: string
  readonly amount: bigint
}

/** A token of recorded trades, read without the decoder: its vaults by venue, and balances of its accounts. */
interface RecordedToken {
  readonly vaults: Map<string, VenueId>
  readonly balances: Map<string, Balance>
}

/** Slot of the lists. */
const SLOT = 10
/** Owners that are not in the records, so that the largest twenty are not all. */
const PEOPLE = 30

/** Returns the trades of recorded transactions, without any other event, and their tokens. */
function recorded(): { readonly entries: BlockEntry[]; readonly tokens: Map<string, RecordedToken> } {
  const entries: BlockEntry[] = []
  const tokens = new Map<string, RecordedToken>()
  for (const { result } of fixtureTransactions()) {
    const outcome = readRpcTransaction(result)
    if (outcome.kind !== 'transaction' || outcome.transaction.failed) continue
    const body = 'result' in (result as object) ? (result as { result: unknown }).result : result
    const raw = new RawRecord(body)
    const { signature, keys } = outcome.transaction
    const trades = decodeTransaction(outcome.transaction).events.filter(({ kind }) => kind === 'trade')
    for (const event of trades)
      entries.push({ signature, txIndex: entries.length, feePayer: keys.bytes(0), event })
    for (const call of trades.length === 0 ? [] : raw.calls)
      for (const { vaults } of publishedCall(call)?.isSwap === true ? publishedPools(call) : [])
        for (const vault of vaults) {
          const mint = raw.mintOf(vault)
          if (mint !== null) tokenOf(mint).vaults.set(vault, publishedCall(call)!.venue as VenueId)
        }
    const { postTokenBalances } = (body as { meta: { postTokenBalances: readonly RawBalance[] | null } }).meta
    for (const { accountIndex, mint, owner, uiTokenAmount } of postTokenBalances ?? []) {
      const amount = BigInt(uiTokenAmount.amount)
      if (owner !== undefined && amount > 0n)
        tokenOf(mint).balances.set(raw.keys[accountIndex]!, { owner, amount })
    }
  }
  return { entries, tokens }

  function tokenOf(mint: string): RecordedToken {
    const known = tokens.get(mint) ?? { vaults: new Map(), balances: new Map() }
    tokens.set(mint, known)
    return known
  }
}

interface RawBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string }
}

/** Adds people whose amounts lie around those of the recorded accounts. */
function withPeople({ balances }: RecordedToken): Map<string, Balance> {
  const largest = [...balances.values()].reduce((most, { amount }) => (amount > most ? amount : most), 1n)
  const all = new Map(balances)
  for (let n = 1; n <= PEOPLE; n++)
    all.set(pubkeyToBase58(key(70_000 + n)), {
      owner: pubkeyToBase58(key(80_000 + n)),
      amount: (largest * BigInt(n)) / 20n + BigInt(n)
    })
  return all
}

interface Holder {
  readonly owner: string
  readonly is_pool: boolean
  readonly is_curve: boolean
}

interface Adjusted {
  readonly top10_pct: number
  readonly top20_pct: number
  readonly hhi: number
  readonly excluded_pct: number
}

testWithFixtures(
  t,
  'a service that began after the pools leaves their vaults out of the concentration',
  async (t) => {
    const { entries, tokens } = recorded()
    const app = await marketApp(t)
    const { documents, holders } = app.storage
    // Trades alone: the creation of no pool is among the events.
    for (let at = 0; at < entries.length; at += 100) {
      const part = entries.slice(at, at + 100).map((entry, txIndex) => ({ ...entry, txIndex }))
      await app.commit({ ...block(SLOT + 1 + at, NOON + at, []), entries: part })
    }
    const { save } = await holderProgressIn(documents).claim(1)
    const list = async (mint: string, balances: ReadonlyMap<string, Balance>): Promise<void> => {
      await holderMintsIn(documents).insert({ mint, decimals: 6, tokenProgram: 'spl-token', askedAtMs: 1 })
      const rows = Array.from(
        balances,
        ([account, { owner, amount }]) =>
          [pubkeyFromBase58(account), { owner: pubkeyFromBase58(owner), amount }] as const
      )
      const of = { mint: pubkeyFromBase58(mint), reading: 1 }
      for (const part of wholeList(rows, SLOT, 500)) await holders.put(of, part)
      const stored = await holderMintsIn(documents).get(HOLDER_MINTS_PARTITION, [mint])
      const live = { state: 'live', reading: 1, fromSlot: SLOT, accounts: balances.size } as const
      await holderMintsIn(documents).putHot(stored!, 1, { ...NO_LIST, ...live })
    }
    const read = async (mint: string, limit: number) => {
      const { status, body, text } = await app.get(`/v1/tokens/${mint}/holders?limit=${limit}`)
      if (status !== 200) throw new Error(text)
      return {
        rows: body.data as unknown as readonly Holder[],
        adjusted: (body['concentration'] as { adjusted: Adjusted | null }).adjusted
      }
    }
    await save({ slot: SLOT, oldestSlot: SLOT, atMs: app.nowMs, rollbacks: 0 })
    const complete = Array.from(tokens, ([mint, token]) => ({
      ...{ mint, token, balances: withPeople(token) },
      held: [...token.vaults].filter(([vault]) => token.balances.has(vault))
    })).filter(
      ({ mint, token, held }) =>
        OPTIONS.cash.of(pubkeyFromBase58(mint)) === undefined &&
        token.vaults.size > 0 &&
        held.length === token.vaults.size
    )
    // All at once: each waits for the next group of documents to be written.
    await Promise.all(complete.map(({ mint, balances }) => list(mint, balances)))
    const shown = new Set<string>()
    for (const { mint, token, balances, held } of complete) {
      const outside = new Map(held.map(([vault, venue]) => [token.balances.get(vault)!.owner, venue]))
      const owned = Map.groupBy(balances.values(), ({ owner }) => owner)
      const sums = Array.from(owned, ([owner, all]) => ({
        owner,
        amount: Number(all.reduce((sum, { amount }) => sum + amount, 0n))
      })).sort((a, b) => b.amount - a.amount)
      const all = sums.reduce((sum, { amount }) => sum + amount, 0)
      const people = sums.filter(({ owner }) => !outside.has(owner))
      const rest = people.reduce((sum, { amount }) => sum + amount, 0)
      const top = (count: number) =>
        (100 * people.slice(0, count).reduce((sum, { amount }) => sum + amount, 0)) / rest
      const { rows, adjusted } = await read(mint, 100)
      const expected = {
        top10_pct: top(10),
        top20_pct: top(20),
        hhi: people.reduce((sum, { amount }) => sum + (amount / rest) ** 2, 0),
        excluded_pct: (100 * (all - rest)) / all
      }
      const name = `${[...outside.values()].join()} ${mint}`
      t.ok(adjusted, name)
      for (const field of Object.keys(expected) as (keyof Adjusted)[])
        t.ok(
          Math.abs(adjusted![field] - expected[field]) <= 1e-6 * (1 + expected[field]),
          `${name}: ${field} ${adjusted![field]}, expected ${expected[field]}`
        )
      for (const { owner, is_pool, is_curve } of rows) {
        const venue = outside.get(owner)
        const isCurve = venue !== undefined && isLaunchpad(venue)
        t.strictSame([is_pool, is_curve], [venue !== undefined && !isCurve, isCurve], `${name}: ${owner}`)
      }
      for (const venue of outside.values()) shown.add(venue)
    }
    t.ok(shown.size >= 12, `venues: ${[...shown].join(', ')}`)
    for (const venue of [
      'meteora-dbc',
      'raydium-launchlab',
      'raydium-cpmm',
      'meteora-damm-v1',
      'meteora-damm-v2'
    ])
      t.ok(shown.has(venue), venue)

    const sol = tokens.get(WSOL)!
    await list(WSOL, sol.balances)
    const found = new Map((await read(WSOL, 100)).rows.map((row) => [row.owner, row]))
    const flagged = new Set<string>()
    for (const [vault, venue] of sol.vaults) {
      const row = found.get(sol.balances.get(vault)?.owner ?? '')
      if (row === undefined) continue
      t.ok(row.is_pool || row.is_curve, `${venue} under SOL`)
      flagged.add(venue)
    }
    t.ok(flagged.size >= 10, `venues under SOL: ${[...flagged].join(', ')}`)
    for (const venue of ['phoenix', 'lifinity']) t.ok(flagged.has(venue), `${venue} under SOL`)
    t.equal((await read(WSOL, 1)).adjusted, null, 'the pools of cash are too many to be known')
  }
)
