import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { AccountServices } from '../../accounts/services.ts'
import { HOLDING_COLUMNS, holdingBody, HOLDINGS_PAGE, type HoldingBody } from '../bodies/holdings.ts'
import { shownAmounts } from '../../data/bodies/shown-amounts.ts'
import { secondsText } from '../../kernel/http/time.ts'
import { pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_DECIMALS, NATIVE_MINT } from '../../chain/token-accounts.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { heldTokens, type HeldToken } from '../held-tokens.ts'
import type { Holding } from '../holding-bytes.ts'
import { byValue, HoldingRuns, type Holdings } from '../holdings.ts'
import { humanAmount } from '../../market/amount.ts'
import { priceUsd as usdOf } from '../../market/cash-price.ts'
import { newestPair } from '../../market/latest-price.ts'
import { mintNames } from '../../market/mint-names.ts'
import type { PairRow } from '../../market/rows.ts'
import { fromNode } from '../../node/upstream.ts'
import { withinNodeTime } from '../../node/node-time.ts'
import { ANSWER_MS, NODE_DEADLINE_MS, nodeTime } from '../../accounts/routes/account-services.ts'
import { chainTime } from '../../data/routes/chain-time.ts'
import type { HolderNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { EXAMPLE_WALLET } from '../../edge/routes/example-values.ts'
import { factsOf } from '../../data/routes/known-mint.ts'
import { decimalsOf } from '../../data/routes/mint-decimals.ts'
import { readWordsCursor, writeWordsCursor } from '../../kernel/http/page-cursor.ts'
import { address, flag, wholeNumber } from '../../kernel/http/parameters.ts'

/** Prices that are read before other clients' requests may run: about 1 ms of CPU time. */
const PRICES_AT_ONCE = 250

export const walletHoldings = endpoint({
  path: '/v1/wallets/{wallet}/holdings',
  tag: 'Wallets',
  summary: 'Holdings of a wallet',
  description:
    'SOL and the tokens of a wallet in both token programs, valued at the latest prices. SOL comes first, then the most valuable token. The first page reads the balances from the node at confirmed, and is cached for up to a second. Further pages of the paging run show the same balances, for five minutes. The list is empty for an unknown wallet. If no node answers, the status is 502.',
  scope: 'data:read',
  params: z.object({ wallet: address.describe('The wallet') }),
  query: z.object({
    limit: wholeNumber(1, 50, 50).describe('Maximum number of holdings'),
    after: z.string().optional().describe('The `nextCursor` of the previous page, with the same parameters'),
    show_native: flag(true).describe('Whether SOL is listed')
  }),
  answer: HOLDINGS_PAGE,
  columns: HOLDING_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID, ERRORS.CURSOR_EXPIRED, ERRORS.UPSTREAM_ERROR, ERRORS.UPSTREAM_TIMEOUT],
  examples: [{ name: 'A wallet', params: { wallet: EXAMPLE_WALLET }, query: { limit: '10' } }],
  deadlineMs: NODE_DEADLINE_MS
})

type Deps = Pick<HolderNeeds, 'accounts' | 'storage' | 'cash' | 'clock' | 'feed'>

export const holdingRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { accounts, storage, clock } = deps
  if (accounts === null) return
  const runs = new HoldingRuns(storage.documents)

  serveCached(app, walletHoldings, async ({ params, query, signal, slices }) => {
    const wallet = pubkeyToBase58(params.wallet)
    const { limit, show_native: isNativeShown } = query
    const name = `holdings:${wallet}:${isNativeShown}`
    const place = query.after === undefined ? null : placeIn(name, query.after)
    const restMs = nodeTime(clock)
    const found =
      place === null
        ? await holdingsOf(params.wallet, accounts, deps, { signal, restMs, pause: slices.pause })
        : await runs.get(place.run, place.from, limit)
    if (found === null || found.wallet !== wallet) throw expired()
    const native = place === null && isNativeShown && found.lamports > 0n ? [nativeOf(found)] : []
    const from = place?.from ?? 0
    const list = found.list.slice(0, limit - native.length)
    const next = from + list.length
    const hasMore = next < found.count
    const run = place?.run ?? randomUUID()
    const [tokens] = await Promise.all([
      namedAll(list, accounts, deps, restMs()),
      hasMore && place === null ? runs.put(run, found) : null
    ])
    const data = [...native, ...tokens]
    const hasSol = isNativeShown && found.lamports > 0n
    const solUsd = hasSol ? solValue(found) : 0
    const unvalued = found.unvalued === null ? null : found.unvalued + (solUsd === null ? 1 : 0)
    const body = {
      wallet,
      total_value_usd: found.tokensUsd + (solUsd ?? 0),
      ...(unvalued !== 0 && { unvalued_holdings: unvalued }),
      slot: found.slot,
      updated_at: secondsText(Math.floor(found.atMs / 1_000)),
      age_seconds: Math.max(0, Math.floor((clock.now() - found.atMs) / 1_000)),
      holdings_count: found.count + (hasSol ? 1 : 0),
      data,
      nextCursor: hasMore ? writeWordsCursor(name, [run, String(next)]) : null
    }
    return { body, dependsOn: [], changesWith: 'block', maxAgeMs: ANSWER_MS }
  })
}

function placeIn(name: string, text: string): { readonly run: string; readonly from: number } {
  const [run = '', from = ''] = readWordsCursor(name, text)
  return { run, from: Number(from) }
}

const expired = (): ServiceError =>
  new ServiceError(ERRORS.CURSOR_EXPIRED, 'the holdings of this cursor are gone; begin with the first page')

/** Reads all holdings of a wallet, sorted. */
async function holdingsOf(
  wallet: Pubkey,
  accounts: AccountServices,
  { storage, cash, clock }: Deps,
  {
    signal,
    restMs,
    pause
  }: { readonly signal: AbortSignal; readonly restMs: () => number; readonly pause: () => Promise<void> }
): Promise<Holdings> {
  const { slot, lamports, tokens } = await fromNode(
    withinNodeTime(clock, restMs(), (end) => heldTokens(accounts.node, wallet, end), signal)
  )
  const atMs = clock.now()
  const priceOf = (mint: Pubkey, pairs: readonly PairRow[]): Pick<Holding, 'priceUsd' | 'priceAt'> => {
    const pair = newestPair(pairs)
    // A dollar mint that was never traded has the price 1, as in the answer about its price.
    if (pair === null) return { priceUsd: cash.of(mint)?.pegged === true ? 1 : null, priceAt: null }
    return { priceUsd: usdOf(pair.last), priceAt: pair.last.blockTime }
  }
  let tokensUsd = 0
  const valued = (held: HeldToken, pairs: readonly PairRow[], decimals: number | null): Holding => {
    const { mint, amount, tokenProgram, accounts: count, isFrozen } = held
    const { priceUsd, priceAt } = priceOf(mint, pairs)
    const isValued = priceUsd !== null && decimals !== null
    const valueUsd = isValued ? humanAmount(amount, decimals) * priceUsd : null
    tokensUsd += valueUsd ?? 0
    // A single literal, because thousands of them are made.
    return { mint, amount, tokenProgram, accounts: count, isFrozen, decimals, priceUsd, priceAt, valueUsd }
  }
  const list: Holding[] = []
  const untraded: HeldToken[] = []
  for (let from = 0; from < tokens.length; from += PRICES_AT_ONCE) {
    if (from > 0) await pause()
    signal.throwIfAborted()
    const part = tokens.slice(from, from + PRICES_AT_ONCE)
    const pairsOf = await storage.pairs.ofMints(part.map(({ mint }) => mint))
    for (const [i, held] of part.entries()) {
      const pairs = pairsOf[i]!
      if (pairs.length === 0) untraded.push(held)
      else list.push(valued(held, pairs, pairs[0]!.decimals))
    }
  }
  const decimals = await decimalsOf(
    untraded.map(({ mint }) => mint),
    accounts,
    restMs()
  )
  for (const held of untraded) list.push(valued(held, [], decimals.get(pubkeyMapKey(held.mint)) ?? null))
  const sol = priceOf(NATIVE_MINT, await storage.pairs.ofMint(NATIVE_MINT))
  return {
    wallet: pubkeyToBase58(wallet),
    slot,
    atMs,
    lamports,
    solUsd: sol.priceUsd,
    solPriceAt: sol.priceAt,
    tokensUsd,
    unvalued: list.filter(({ valueUsd }) => valueUsd === null).length,
    count: list.length,
    list: list.sort(byValue)
  }
}

const solValue = ({ lamports, solUsd }: Holdings): number | null =>
  solUsd === null ? null : humanAmount(lamports, NATIVE_DECIMALS) * solUsd

function nativeOf(found: Holdings): HoldingBody {
  const held = {
    mint: NATIVE_MINT,
    amount: found.lamports,
    decimals: NATIVE_DECIMALS,
    priceUsd: found.solUsd,
    priceAt: found.solPriceAt,
    valueUsd: solValue(found),
    tokenProgram: null,
    accounts: 0,
    isFrozen: false
  }
  return holdingBody(held, { symbol: 'SOL', name: 'Solana' }, shownAmounts(held, null, 0))
}

/** Renders holdings with their names. Reads the mints that are not cached. */
async function namedAll(
  list: readonly Holding[],
  accounts: AccountServices,
  deps: Deps,
  limitMs: number
): Promise<HoldingBody[]> {
  const unread = list.map(({ mint }) => mint).filter((mint) => accounts.mints.peek(mint) === null)
  // If the read fails, the launches still state names.
  if (unread.length > 0) await accounts.mints.read(unread, limitMs).catch(() => undefined)
  return Promise.all(list.map(async (each) => named(each, accounts, deps)))
}

async function named(
  held: Holding,
  accounts: AccountServices,
  { storage, cash, clock, feed }: Deps
): Promise<HoldingBody> {
  const { mint } = held
  const facts = factsOf(accounts, mint)
  const shown = shownAmounts(held, facts?.account ?? null, chainTime({ feed, clock }))
  if (facts !== null && facts.names !== null) return holdingBody(held, facts.names, shown)
  const known = cash.of(mint)
  const { name, symbol } = mintNames(known, known === undefined ? await storage.launches.get(mint) : null)
  return holdingBody(held, { name, symbol }, shown)
}
