import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { sentTransactionAnswer, submissionList, transactionStatusAnswer } from '../bodies/transaction.ts'
import { BundleIntake } from '../bundle-intake.ts'
import { ChainStatuses } from '../chain-statuses.ts'
import { TransactionIntake, transactionIn, type SendRequest } from '../intake.ts'
import type { SignatureStatus } from '../ports.ts'
import { isPossibleLanding } from '../possible-landing.ts'
import { TRANSACTION_STATES } from '../submission.ts'
import { stateOf, Submissions, type SubmissionState } from '../submissions.ts'
import { fromNode } from '../../node/upstream.ts'
import { SEND_ANSWER_MS, STATUS_ANSWER_MS } from '../../kernel/time-limits.ts'
import { tenantOf } from '../../kernel/http/caller-tenant.ts'
import type { TransactionNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'
import { EXAMPLE_SIGNATURE, EXAMPLE_TRANSACTION } from '../../edge/routes/example-values.ts'
import { readWordsCursor, writeWordsCursor } from '../../kernel/http/page-cursor.ts'
import { invalid, oneOf, wholeNumber } from '../../kernel/http/parameters.ts'
import { isSignature } from '../../kernel/http/signature.ts'
import { foreignBody, memberBody, repeatBody, submissionBody } from './transaction-bodies.ts'
import { TRANSACTION_ERRORS } from '../errors.ts'
import { ERRORS } from '../../kernel/errors.ts'

/** Maximum submissions of one page, as in other lists. */
const LIST_MAX = 1_000

const signatureParam = z
  .string()
  .refine(isSignature, 'must be a base58 signature of 64 bytes')
  .meta({ pattern: '^[1-9A-HJ-NP-Za-km-z]{64,88}$' })
  .describe('First signature of the transaction; base58')

export const sendTransaction = endpoint({
  method: 'POST',
  path: '/v1/tx/send',
  tag: 'Transactions',
  summary: 'Send a transaction',
  description:
    'Stores a signed transaction and sends it. It is resent every 2 s until it is confirmed, has failed or can no longer land. The call is idempotent: a repeated signature starts no second submission, and its sends become no more frequent. A repeat adds its route, and restarts sends that have stopped while the transaction can still land; the answer states its effect.',
  scope: 'tx:send',
  body: z.object({
    tx: z
      .string()
      .describe(
        'The fully signed transaction in base64. Legacy and version 0 have up to 1,232 bytes, version 1 up to 4,096'
      ),
    skip_preflight: z
      .boolean()
      .default(true)
      .describe(
        '`false`: simulate the transaction first, and refuse it with `preflight_failed` if the simulation fails'
      ),
    via: oneOf(['jito'])
      .optional()
      .describe('`jito`: send it only through the block engine; it needs a tip of at least 1,000 lamports'),
    revert_protection: z
      .boolean()
      .default(false)
      .describe('With `via`: the transaction lands only if it succeeds')
  }),
  answer: sentTransactionAnswer,
  errors: [
    TRANSACTION_ERRORS.TRANSACTION_INVALID,
    TRANSACTION_ERRORS.TRANSACTION_UNSIGNED,
    TRANSACTION_ERRORS.TIP_MISSING,
    TRANSACTION_ERRORS.PREFLIGHT_FAILED,
    TRANSACTION_ERRORS.TRANSACTION_LIMIT_REACHED,
    ERRORS.UPSTREAM_ERROR,
    ERRORS.UPSTREAM_TIMEOUT,
    ERRORS.NOT_CONFIGURED
  ],
  leavesWork: true,
  isIdempotent: true,
  shownBy: 'GET /v1/tx/{signature}/status',
  deadlineMs: SEND_ANSWER_MS,
  examples: [{ name: 'a transfer', body: { tx: EXAMPLE_TRANSACTION } }]
})

export const transactionStatus = endpoint({
  path: '/v1/tx/{signature}/status',
  tag: 'Transactions',
  summary: 'Status of a transaction',
  description:
    'The status of a transaction on the chain. If the tenant has submitted it, the answer also shows how it was sent. If it belongs to a bundle of the tenant, the answer names the bundle.',
  scope: 'tx:send',
  params: z.object({ signature: signatureParam }),
  answer: transactionStatusAnswer,
  errors: [ERRORS.UPSTREAM_ERROR, ERRORS.UPSTREAM_TIMEOUT],
  deadlineMs: STATUS_ANSWER_MS,
  examples: [{ name: 'a transaction', params: { signature: EXAMPLE_SIGNATURE } }]
})

export const listTransactions = endpoint({
  path: '/v1/tx',
  tag: 'Transactions',
  summary: 'List submitted transactions',
  description: 'The transactions that the tenant has submitted, newest first. `status` selects one state.',
  scope: 'tx:send',
  query: z.object({
    status: oneOf(TRANSACTION_STATES)
      .optional()
      .describe('Only submissions in this state (`state` of the answer)'),
    limit: wholeNumber(1, LIST_MAX, 100).describe('Maximum number of submissions'),
    after: z.string().optional().describe('The `nextCursor` of the previous page, with the same parameters')
  }),
  answer: submissionList,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [{ name: 'the newest', query: { limit: '10' } }]
})

export const transactionRoutes: FastifyPluginAsync<
  Pick<TransactionNeeds, 'transactions' | 'storage' | 'clock'>
> = async (app, { transactions: parts, storage: { documents }, clock }) => {
  if (parts === null) return
  const intake = new TransactionIntake({ documents, parts, clock })
  const submissions = new Submissions(documents, parts)
  const bundles = new BundleIntake({ documents, parts, clock })
  const chain = new ChainStatuses(parts, clock)

  serve(app, sendTransaction, async ({ body, caller, signal, once }) => {
    const tenant = tenantOf(caller)
    if (body.revert_protection && body.via === undefined)
      throw invalid('revert_protection', 'is used with via only')
    const request: SendRequest = {
      transaction: transactionIn('tx', body.tx),
      route: body.via ?? 'node',
      revertProtection: body.revert_protection,
      preflight: !body.skip_preflight
    }
    const { signature } = request.transaction
    const repeat = await once(
      body,
      async () => {
        await intake.check(tenant, request, signal)
        return signature
      },
      ({ isDone }) => (isDone ? Promise.resolve(null) : intake.take(tenant, request))
    )
    if (repeat === null) return { signature }
    return repeatBody(
      repeat,
      clock.now(),
      repeat.state.submission.end === null ? null : await onChain(repeat.state)
    )
  })

  serve(app, transactionStatus, async ({ params: { signature }, caller }) => {
    const known = parts.sightings.newest?.height ?? null
    const [found, height] = await Promise.all([
      submissions.get(tenantOf(caller), signature),
      known ?? chain.height()
    ])
    if (found === null)
      return { ...(await notSent(tenantOf(caller), signature)), current_block_height: height }
    return { ...submissionBody(found, clock.now(), await onChain(found)), current_block_height: height }
  })

  serve(app, listTransactions, async ({ query: { status = null, limit, after }, caller, slices }) => {
    const tenant = tenantOf(caller)
    const list = `tx:${tenant}:${status ?? ''}`
    const { states, next } = await submissions.list(tenant, {
      state: status,
      limit,
      after: after === undefined ? null : placeIn(list, after),
      pause: slices.pause
    })
    return {
      data: await slices.map(states, (each) => submissionBody(each, clock.now())),
      nextCursor: next && writeWordsCursor(list, [String(next.receivedAtMs), next.signature])
    }
  })

  /**
   * Returns the status of a transaction that the tenant has not submitted: the status of a bundle member, or the chain's
   * status.
   */
  async function notSent(tenant: string, signature: string): Promise<ReturnType<typeof foreignBody>> {
    const member = await bundles.findMember(tenant, signature)
    if (member === null) return foreignBody(signature, await fromNode(chain.status(signature)))
    return memberBody(member, await chain.status(signature).catch(() => null))
  }

  /**
   * Requests the status of a submission that seems not to have landed, unless this process tracks it and a node has already
   * reported its absence. It may have landed before its reception, the process that tracks it may be down, and an expiry
   * may rest on an abandoned fork. If no node answers, or its answer cannot be true, the stored record stands.
   */
  async function onChain({
    progress,
    isTrackedHere,
    submission
  }: SubmissionState): Promise<SignatureStatus | null> {
    const state = stateOf(progress)
    const isAsked = isTrackedHere && progress?.absentSlot !== undefined
    if (isAsked || (state !== 'sent' && state !== 'expired')) return null
    const status = await chain.status(submission.signature).catch(() => null)
    if (status === null || (status.nodes ?? 1) > 1) return status
    const newestSlot = Math.max(parts!.sightings.newest?.slot ?? 0, status.slot)
    const isPossible = (isBlockhashOld: boolean): boolean =>
      isPossibleLanding(
        { ...submission, unusedNonceSlot: null, isBlockhashOld },
        status,
        newestSlot,
        clock.now()
      )
    if (isPossible(false)) return status
    return (await chain.isValid(submission.blockhash)) === false ? status : null
  }
}

function placeIn(list: string, after: string): { receivedAtMs: number; signature: string } {
  const [receivedAtMs, signature] = readWordsCursor(list, after)
  return { receivedAtMs: Number(receivedAtMs), signature: signature! }
}
