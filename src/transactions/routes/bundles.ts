import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { bundleStatusAnswer, sentBundleAnswer } from '../bodies/bundle.ts'
import { BUNDLE_SIZE_MAX } from '../../signing/bundle-id.ts'
import { BundleIntake, bundleRequestOf, type BundleRequest } from '../bundle-intake.ts'
import { transactionIn } from '../intake.ts'
import { SEND_ANSWER_MS } from '../../kernel/time-limits.ts'
import { bundleBody, unknownBundleBody } from './bundle-bodies.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { TransactionNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_BUNDLE_ID, EXAMPLE_TRANSACTION } from '../../edge/routes/example-values.ts'
import { invalid } from '../../kernel/http/parameters.ts'
import { TRANSACTION_ERRORS } from '../errors.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const sendBundle = endpoint({
  method: 'POST',
  path: '/v1/tx/bundle',
  tag: 'Transactions',
  summary: 'Send a bundle',
  description:
    'Stores 1 to 5 signed transactions and submits them to the block engine. The engine executes them in order in one block, all or nothing. The call is idempotent: a repeated bundle gets the first answer and is not submitted twice.',
  scope: 'tx:send',
  body: z.object({
    txs: z
      .array(z.string())
      .min(1, 'must have at least 1 transaction')
      .max(BUNDLE_SIZE_MAX, `must have at most ${BUNDLE_SIZE_MAX} transactions`)
      .describe(
        'Fully signed transactions in base64, in the order of execution; the last one has a tip of at least 1,000 lamports'
      )
  }),
  answer: sentBundleAnswer,
  errors: [
    TRANSACTION_ERRORS.TRANSACTION_INVALID,
    TRANSACTION_ERRORS.TRANSACTION_UNSIGNED,
    TRANSACTION_ERRORS.TIP_MISSING,
    TRANSACTION_ERRORS.TRANSACTION_LIMIT_REACHED,
    ERRORS.UPSTREAM_ERROR,
    ERRORS.NOT_CONFIGURED
  ],
  leavesWork: true,
  isIdempotent: true,
  shownBy: 'GET /v1/tx/bundle/{bundle_id}/status',
  deadlineMs: SEND_ANSWER_MS,
  examples: [{ name: 'a transfer', body: { txs: [EXAMPLE_TRANSACTION] } }]
})

export const bundleStatus = endpoint({
  path: '/v1/tx/bundle/{bundle_id}/status',
  tag: 'Transactions',
  summary: 'Status of a bundle',
  description:
    'The status of a bundle that the tenant has submitted, as the block engine and the chain report it. It is stored for longer than the engine stores it. If a bundle lands after all, `failed` is corrected.',
  scope: 'tx:send',
  params: z.object({
    bundle_id: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case')
      .describe('Id of the bundle')
  }),
  answer: bundleStatusAnswer,
  examples: [{ name: 'a bundle', params: { bundle_id: EXAMPLE_BUNDLE_ID } }]
})

export const bundleRoutes: FastifyPluginAsync<
  Pick<TransactionNeeds, 'transactions' | 'storage' | 'clock'>
> = async (app, { transactions: parts, storage: { documents }, clock }) => {
  if (parts === null) return
  const intake = new BundleIntake({ documents, parts, clock })

  serve(app, sendBundle, async ({ body, caller, signal, once }) => {
    const tenant = tenantOf(caller)
    const request = requestIn(body.txs)
    await once(
      body,
      async () => {
        await intake.check(tenant, request, signal)
        return request.bundleId
      },
      ({ isDone }) => (isDone ? Promise.resolve() : intake.take(tenant, request, signal))
    )
    return { bundle_id: request.bundleId, signatures: request.members.map(({ signature }) => signature) }
  })

  serve(app, bundleStatus, async ({ params: { bundle_id: bundleId }, caller }) => {
    const found = await intake.find(tenantOf(caller), bundleId)
    return found === null ? unknownBundleBody(bundleId) : bundleBody(found.bundle, found.progress)
  })
}

/** Reads and checks all members. Throws an error that names the first wrong member. */
function requestIn(txs: readonly string[]): BundleRequest {
  const members = txs.map((text, at) => transactionIn(`txs.${at}`, text))
  for (const [at, { signature }] of members.entries()) {
    const first = members.findIndex((other) => other.signature === signature)
    if (first < at) throw invalid(`txs.${at}`, `is the same transaction as txs.${first}`)
  }
  return bundleRequestOf(members)
}
