import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import {
  holderBody,
  HOLDER_COLUMNS,
  HOLDERS_PAGE,
  listBody,
  timesOf,
  type HoldersBody
} from '../bodies/holders.ts'
import type { WorkCount } from '../../access/work-meter.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { shownAmounts } from '../../data/bodies/shown-amounts.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { percentOf } from '../concentration.ts'
import type { HolderListState } from '../holder-mint.ts'
import { HolderFactsCache } from '../holder-facts.ts'
import { HolderLists, type Holder, type HolderStatus, type HolderView } from '../holder-lists.ts'
import { isBurn, withPoolsAmong } from '../known-owners.ts'
import { supplyAt } from '../supply.ts'
import { WSOL } from '../../market/cash.ts'
import { sleep } from '../../ports.ts'
import { fromNode } from '../../node/upstream.ts'
import { chainTime } from '../../data/routes/chain-time.ts'
import type { HolderNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { chargeFirstReading } from './first-reading.ts'
import { serve } from '../../kernel/http/serve.ts'
import type { Unmarked } from '../../kernel/http/tenant-mark.ts'
import { knownFacts } from '../../data/routes/known-mint.ts'
import { readWordsCursor, writeWordsCursor } from '../../kernel/http/page-cursor.ts'
import { address, checkPaging, oneOf, paging } from '../../kernel/http/parameters.ts'

/** Deadline in milliseconds of an answer that may wait for a list. Below the 30 s of many clients and proxies. */
export const LIST_DEADLINE_MS = 25_000
/**
 * Milliseconds that a request waits for a list to be read. Below the deadline, so that the refusal can state the
 * progress.
 */
export const LIST_WAIT_MS = 20_000
const { limit, offset, after } = paging(100, 50)

export const tokenHolders = endpoint({
  path: '/v1/tokens/{mint}/holders',
  tag: 'Tokens',
  summary: 'Holders of a token',
  description: `The owners of a token with their amounts, the largest first, and the concentration of ownership. The first request for a token starts a read of all its token accounts from the node, and waits for it up to ${LIST_WAIT_MS / 1000} seconds. If it takes longer, the answer is the error \`index_loading\`, which states the progress of the read. After it, the list follows the blocks without requests to the node. All pages of a paging run show the list at one slot; a run lasts at most five minutes. While the node is unavailable, the stored list is served with its slot and age. The list is empty for an address that is not a token.`,
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  query: z.object({
    limit,
    offset,
    after,
    by: oneOf(['owner', 'token_account'])
      .default('owner')
      .describe('Whether the accounts of an owner are one row'),
    min_pct: z
      .string()
      .regex(/^\d{1,3}(\.\d{1,9})?$/, 'must be a number from 0 to 100')
      .transform(Number)
      .refine((pct) => pct <= 100, 'must be a number from 0 to 100')
      .optional()
      .describe('Only holders with at least this share, in percent')
  }),
  answer: HOLDERS_PAGE,
  columns: HOLDER_COLUMNS,
  errors: [
    ERRORS.CURSOR_INVALID,
    ERRORS.CURSOR_EXPIRED,
    ERRORS.INDEX_LOADING,
    ERRORS.UPSTREAM_ERROR,
    ERRORS.UPSTREAM_TIMEOUT
  ],
  examples: [{ name: 'Holders of wrapped SOL', params: { mint: WSOL }, query: { limit: '10' } }],
  deadlineMs: LIST_DEADLINE_MS,
  weighted: 'holders',
  work: ['holder', 'row', 'kibibyte']
})

type Deps = Pick<HolderNeeds, 'accounts' | 'cash' | 'clock' | 'feed' | 'storage' | 'holdersRequested'>

export const holderRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { accounts: parts, cash, clock, feed, storage, holdersRequested = () => undefined } = deps
  if (parts === null) return
  const lists = new HolderLists(storage, clock, holdersRequested)
  const closing = new AbortController()
  app.addHook('onClose', async () => closing.abort())
  const facts = new HolderFactsCache(storage, lists, clock, cash)

  /** Returns the list of a token; null for an address that is not a token. */
  const listOf = async (mint: Pubkey, signal: AbortSignal, work: WorkCount): Promise<HolderView | null> => {
    let status = await lists.status(mint)
    if (status.kind === 'view') return status.view
    const late = new AbortController()
    const leave = (): void => late.abort()
    signal.addEventListener('abort', leave)
    void sleep(clock, LIST_WAIT_MS, late.signal).then(leave)
    try {
      if (status.kind === 'unknown') {
        const [known] = await fromNode(parts.mints.read([mint]))
        if (known!.reading.kind === 'refused') return null
        const isBegun = await lists.ask(known!.reading)
        try {
          status = await lists.readable(mint, late.signal)
        } finally {
          const charged = isBegun ? chargeFirstReading(lists, mint, work, clock, closing.signal) : null
          // The answer pays for a list that is read in time.
          if (status.kind === 'view') await charged
        }
      } else status = await lists.readable(mint, late.signal)
    } finally {
      leave()
    }
    if (status.kind === 'view') return status.view
    throw unread(mint, status)
  }

  serve(app, tokenHolders, async ({ params: { mint }, query, signal, slices, work }) => {
    checkPaging(query)
    const { by, min_pct: leastPct } = query
    const name = `holders:${pubkeyToBase58(mint)}:${by}:${leastPct ?? ''}`
    const place = query.after === undefined ? null : placeIn(name, query.after, by)
    const view = await listOf(mint, signal, work)
    if (view === null) return nothing(mint, clock.now())
    const found = await facts.of(view, slices.pause)
    if (found === null) throw unread(mint, { kind: 'loading', state: view.state })
    const slot = place?.slot ?? view.slot
    if (place !== null && place.reading !== view.state.reading) throw expired(slot)
    const skip = query.offset
    const end = skip + query.limit
    // Facts that were just read include the first page.
    const largest = place === null && by === 'owner' ? found.largest : null
    const read =
      largest !== null && (end <= largest.length || largest.length === found.sums.owners)
        ? { holders: largest.slice(skip, end), hasMore: end < found.sums.owners }
        : await lists.pageFrom(view, by, {
            slot,
            after: place?.last,
            offset: skip,
            limit: query.limit,
            pause: slices.pause
          })
    // Versions of the slot may have been dropped while the page was read.
    const now = await lists.status(mint)
    const isWhole = now.kind === 'view' && now.view.state.reading === view.state.reading
    if (!isWhole || slot > now.view.slot || slot < now.view.oldestSlot) throw expired(slot)
    const at = place === null ? found : { ...found, ...(await sumsAt(view, slot)) }
    const pctOf = ({ amount }: Holder): number => percentOf(amount, at.sums.held) ?? 0
    const listed = read.holders
    const data = listed.filter((holder) => pctOf(holder) >= (leastPct ?? 0))
    const last = data.at(-1)
    const rank = (place?.rank ?? 0) + skip
    const hasMore = read.hasMore && data.length === listed.length && last !== undefined
    const cursor = (): string =>
      writeWordsCursor(name, [
        String(slot),
        String(view.state.reading),
        String(rank + data.length),
        String(last!.amount),
        pubkeyToBase58(last!.account ?? last!.owner)
      ])
    const { decimals, tokenProgram } = view.about
    const stated = await mintOf(mint, view)
    const shown = shownAmounts({ decimals, tokenProgram }, stated?.account ?? null, await secondsAt(slot))
    const { held } = at.sums
    const owners = data.map(({ owner }) => owner)
    const known = await withPoolsAmong(owners, found.known, mint, storage.pools)
    return {
      ...listBody(at, {
        mint,
        decimals,
        shown,
        supply: supplyAt({ mint, tokenProgram, held, slot, changedSlot: at.changedSlot }, stated),
        slot,
        atMs: view.atMs,
        nowMs: clock.now(),
        staleReason: view.state.reason
      }),
      data: data.map((holder, i) =>
        holderBody(holder, rank + i + 1, {
          shown,
          pct: pctOf(holder),
          known,
          isBurn: isBurn(holder.owner)
        })
      ),
      nextCursor: hasMore ? cursor() : null
    }
  })

  /** Returns the account of a listed mint; null if it is unread and no node answers. Only Token-2022 waits for a node. */
  const mintOf = async (mint: Pubkey, { about }: HolderView) => {
    const known = await knownFacts(parts, mint)
    if (known.facts !== null) return { account: known.facts.account, slot: known.slot }
    if (about.tokenProgram === 'spl-token') return null
    const [read] = await parts.mints.read([mint]).catch(() => [null])
    return read?.reading.kind === 'facts' ? { account: read.reading.account, slot: read.slot } : null
  }

  /** Returns the chain's time at a slot, in Unix seconds: its block's, or the head's if the block is deleted. */
  const secondsAt = async (slot: number): Promise<number> =>
    (await storage.blocks.at(slot))?.blockTime ?? chainTime({ feed, clock })

  const sumsAt = async (view: HolderView, slot: number) => {
    const read = await lists.sums({ ...view, slot })
    if (read === null) throw expired(slot)
    return { sums: read.sums, changedSlot: read.slot }
  }
}

function placeIn(name: string, text: string, by: 'owner' | 'token_account') {
  const [slot = '', reading = '', rank = '', amount = '', last = ''] = readWordsCursor(name, text)
  const key = pubkeyFromBase58(last)
  const account = by === 'owner' ? null : key
  return {
    slot: Number(slot),
    reading: Number(reading),
    rank: Number(rank),
    last: { owner: key, account, amount: BigInt(amount) }
  }
}

const expired = (slot: number): ServiceError =>
  new ServiceError(
    ERRORS.CURSOR_EXPIRED,
    `the list at slot ${slot} can no longer be read; begin with the first page`
  )

function unread(mint: Pubkey, status: HolderStatus): ServiceError {
  const token = pubkeyToBase58(mint)
  const state = status.kind === 'loading' ? status.state : null
  if (state?.fault != null)
    return new ServiceError(
      ERRORS.UPSTREAM_ERROR,
      `the holders of ${token} cannot be read now: ${state.fault}`
    )
  return new ServiceError(
    ERRORS.INDEX_LOADING,
    `the holders of ${token} are being read: ${progressOf(state)}`
  )
}

/** Describes the progress of reading a list; `state` is null before its follower has begun. */
function progressOf(state: HolderListState | null): string {
  if (state === null || state.begun === 0) return 'other lists are read before it'
  if (state.fromSlot !== null)
    return `its ${state.accounts} accounts are stored, and the index has yet to reach slot ${state.fromSlot}`
  return state.accounts === 0
    ? 'the node has not answered yet'
    : `${state.accounts} accounts are stored so far`
}

const nothing = (mint: Pubkey, nowMs: number): Unmarked<HoldersBody> => ({
  mint: pubkeyToBase58(mint),
  decimals: null,
  supply: null,
  supply_raw: null,
  supply_slot: null,
  held: null,
  held_raw: null,
  withheld: null,
  withheld_raw: null,
  ui_multiplier: null,
  holders_count: 0,
  token_accounts_count: 0,
  slot: 0,
  ...timesOf({ atMs: nowMs, nowMs }),
  stale_reason: null,
  concentration: null,
  data: [],
  nextCursor: null
})
