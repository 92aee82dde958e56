import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { momentText } from '../../access/bodies/api-key.ts'
import {
  accountList,
  endBody,
  placeBody,
  unwatchedAnswer,
  watchedAnswer,
  watchedBody,
  type AccountBody
} from '../bodies/revenue.ts'
import { progressBody, statusOf } from '../bodies/revenue-history.ts'
import { largestMints, mintsBody, sumsBody } from '../bodies/revenue-sums.ts'
import { secondsText } from '../../kernel/http/time.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { BackfillJobs } from '../backfill-jobs.ts'
import type { BackfillJob } from '../backfill-document.ts'
import { LedgerReader } from '../ledger-reader.ts'
import { WATCHED_PER_TENANT_MAX, type WatchedAddress } from '../watched-address.ts'
import { WatchedAddresses } from '../watched-addresses.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { RevenueNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_WALLET, EXAMPLE_WATCHED } from '../../edge/routes/example-values.ts'
import { symbolsOf } from '../../data/mint-symbols.ts'
import { ledgerEnd } from './ledger-end.ts'
import { address } from '../../kernel/http/parameters.ts'
import { checkSince, since } from './since.ts'
import { SUMS_DEADLINE_MS, watchedSums, type WatchedSums } from './watched-sums.ts'
import { REVENUE_ERRORS } from '../errors.ts'
import { ERRORS } from '../../kernel/errors.ts'

/** Characters of a label. Arbitrary; nothing depends on it. */
const LABEL_MAX = 64
const LABEL_MESSAGE = `must be 1 to ${LABEL_MAX} characters, without control characters`
/** Text for tables of a terminal; without \p{Cc}, which few clients know. */
const CONTROL_FREE = /^[^\u0000-\u001f\u007f-\u009f]+$/
/** Role of an address that was registered without a role. */
const OTHER = 'other'

/** Role of a watched address. */
export const ROLE = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be 1 to 32 lower-case letters, digits and _, a letter first')

export const watchAddress = endpoint({
  method: 'POST',
  path: '/v1/revenue/accounts',
  tag: 'Revenue',
  summary: 'Watch an address',
  description: `Records every change of the SOL and token balances of an address from now on, and with \`since\` from then on: the earlier changes are read from the archive node, see \`progress\` of \`GET /v1/revenue/accounts\`. If the address is already watched, the answer is 200, and its label and role are replaced. A tenant watches at most ${WATCHED_PER_TENANT_MAX} addresses. Other fields of the body are ignored.`,
  scope: 'revenue',
  body: z.looseObject({
    address: address.describe('The address: a wallet, or one token account; base58'),
    label: z
      .string()
      .regex(CONTROL_FREE, LABEL_MESSAGE)
      .refine((text) => [...text].length <= LABEL_MAX, LABEL_MESSAGE)
      .meta({ maxLength: LABEL_MAX })
      .optional()
      .describe('A name for people; default: the address'),
    role: ROLE.default(OTHER).describe(
      'A group for sums, such as `fee_wallet`, `treasury`, `creator`, `referral`, `tip`, `liquidity` or `operations`'
    ),
    since: since.optional()
  }),
  status: 201,
  otherStatuses: [200],
  answer: watchedAnswer,
  errors: [ERRORS.ADDRESS_INVALID, REVENUE_ERRORS.WATCH_LIMIT_REACHED, REVENUE_ERRORS.WATCH_NOT_FOUND],
  leavesWork: true,
  isIdempotent: true,
  shownBy: 'GET /v1/revenue/accounts',
  examples: [
    {
      name: 'a wallet that collects fees',
      body: { address: EXAMPLE_WALLET, label: 'Fees', role: 'fee_wallet' }
    }
  ]
})

export const backfillAddress = endpoint({
  method: 'POST',
  path: '/v1/revenue/accounts/{address}/backfill',
  tag: 'Revenue',
  summary: 'Read the history of a watched address',
  description:
    'Extends the ledger of a watched address back to a slot or a time, from the archive node. The rows appear together, with `source` = `archive`, once all of them are stored; until then `status` is `backfilling`, and `GET /v1/revenue/accounts` shows the `progress`. A repeat requests again what the node did not have, and compares the ledger with the chain again.',
  scope: 'revenue',
  params: z.object({ address: address.describe('The watched address') }),
  body: z.object({ since }),
  answer: watchedAnswer,
  leavesWork: true,
  isIdempotent: true,
  shownBy: 'GET /v1/revenue/accounts',
  errors: [ERRORS.ADDRESS_INVALID, REVENUE_ERRORS.WATCH_NOT_FOUND],
  examples: [{ name: 'since the first block', params: { address: EXAMPLE_WATCHED }, body: { since: 0 } }]
})

export const listAccounts = endpoint({
  path: '/v1/revenue/accounts',
  tag: 'Revenue',
  summary: 'List watched addresses',
  description:
    'Every watched address of the tenant, in the order of their base58, with the sums of its ledger since `capture_from`, and of the archived rows before it. Rows older than 400 days are not counted. A transaction counts with its net change of a mint.',
  scope: 'revenue',
  answer: accountList,
  deadlineMs: SUMS_DEADLINE_MS,
  examples: [{ name: 'the watched addresses of the key’s tenant' }]
})

export const unwatchAddress = endpoint({
  method: 'DELETE',
  path: '/v1/revenue/accounts/{address}',
  tag: 'Revenue',
  summary: 'Stop watching an address',
  description:
    'The ledger of the address is no longer shown. If the address is watched again within 400 days, its earlier rows are shown again, with a gap for the time between.',
  scope: 'revenue',
  params: z.object({ address: address.describe('The watched address') }),
  answer: unwatchedAnswer,
  shownBy: 'GET /v1/revenue/accounts',
  errors: [REVENUE_ERRORS.WATCH_NOT_FOUND],
  examples: [{ name: 'an address', params: { address: EXAMPLE_WATCHED } }]
})

export const revenueAccountRoutes: FastifyPluginAsync<
  Pick<RevenueNeeds, 'storage' | 'names' | 'cash' | 'clock' | 'watchedChanged'>
> = async (app, deps) => {
  const { storage, clock, watchedChanged } = deps
  const registry = new WatchedAddresses(storage.documents)
  const reader = new LedgerReader(storage)
  const jobs = new BackfillJobs(storage.documents)
  const answerOf = async (watched: WatchedAddress) =>
    watchedBody(watched, await jobs.of(watched.tenant, watched.address))

  serve(app, watchAddress, async ({ body, caller, reply, once }) => {
    const tenant = tenantOf(caller)
    const address = pubkeyToBase58(body.address)
    if (body.since !== undefined) checkSince(body.since, clock.now())
    const facts = {
      address,
      label: body.label ?? address,
      role: body.role,
      ...(body.since !== undefined && { since: body.since })
    }
    const { isNew, watched } = await once(
      facts,
      async () => address,
      // A repeat changes nothing: the label may have been changed since, or the watch may have ended.
      async ({ isDone }) =>
        isDone
          ? { isNew: false, watched: await registry.get(tenant, address) }
          : registry.watch(tenant, facts, clock.now())
    )
    watchedChanged?.()
    if (!isNew) void reply.code(200)
    return answerOf(watched)
  })

  serve(app, backfillAddress, async ({ params, body: { since }, caller, once }) => {
    checkSince(since, clock.now())
    const tenant = tenantOf(caller)
    const address = pubkeyToBase58(params.address)
    const watched = await once(
      { address, since },
      async () => String(await registry.nextRequestMs(tenant, address, clock.now())),
      ({ id, isDone }) =>
        isDone ? registry.get(tenant, address) : registry.requestHistory(tenant, address, since, Number(id))
    )
    watchedChanged?.()
    return answerOf(watched)
  })

  serve(app, listAccounts, async ({ caller, signal, slices }) => {
    const tenant = tenantOf(caller)
    const [watched, end, backfills] = await Promise.all([
      registry.list(tenant),
      ledgerEnd(reader, storage.blocks),
      jobs.list(tenant)
    ])
    const until = end?.slot ?? Infinity
    const control = { signal, pause: slices.pause }
    const sums = await watchedSums(reader, watched, { from: 0, until }, control)
    const mints = await slices.map(sums, ({ byMint }) => largestMints(byMint).map(({ mint }) => mint))
    const symbolOf = await symbolsOf(mints.flat(), deps)
    const data = await slices.map(sums, (each) =>
      accountBody(each, backfills.get(each.watched.address) ?? null, symbolOf)
    )
    return {
      data,
      nextCursor: null,
      complete_to: endBody(end),
      limits: { max: WATCHED_PER_TENANT_MAX }
    }
  })

  serve(app, unwatchAddress, async ({ params, caller }) => {
    const address = pubkeyToBase58(params.address)
    await registry.unwatch(tenantOf(caller), address, await ledgerEnd(reader, storage.blocks))
    watchedChanged?.()
    return { address, deleted: true as const }
  })
}

function accountBody(
  { watched, all, byMint, lastAt }: WatchedSums,
  job: BackfillJob | null,
  symbolOf: (mint: string) => string | null
): AccountBody {
  return {
    address: watched.address,
    label: watched.label,
    role: watched.role,
    status: statusOf(watched, job),
    created_at: momentText(watched.createdAtMs),
    capture_from: placeBody(watched.captureFrom),
    progress: progressBody(watched, job),
    ...sumsBody(all),
    ...mintsBody(byMint, symbolOf),
    last_event_at: lastAt === null ? null : secondsText(lastAt),
    last_event_at_ms: lastAt === null ? null : lastAt * 1_000
  }
}
