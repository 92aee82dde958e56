import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { isRefused } from '../optional-key.ts'
import type { AccountServices } from '../services.ts'
import { readTokenAccount } from '../token-account.ts'
import { TOKEN_PROGRAM_KEYS, TOKEN_PROGRAM_NAMES } from '../token-program.ts'
import { shownAmounts } from '../../data/bodies/shown-amounts.ts'
import { TOKEN_ACCOUNTS, tokenAccountBody, type HeldAccount } from '../bodies/token-account.ts'
import { distinctPubkeys, pubkeyMapKey, pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { fromNode } from '../../node/upstream.ts'
import { withinNodeTime } from '../../node/node-time.ts'
import { ANSWER_MS, NODE_DEADLINE_MS, nodeTime } from './account-services.ts'
import { chainTime } from '../../data/routes/chain-time.ts'
import type { Slices } from '../../kernel/work/slices.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { EXAMPLE_WALLET } from '../../edge/routes/example-values.ts'
import { decimalsOf } from '../../data/routes/mint-decimals.ts'
import { factsOf } from '../../data/routes/known-mint.ts'
import { address, flag } from '../../kernel/http/parameters.ts'

export const tokenAccounts = endpoint({
  path: '/v1/wallets/{wallet}/token-accounts',
  tag: 'Wallets',
  summary: 'Token accounts of a wallet',
  description:
    'The token accounts of a wallet in both token programs. They are read from the node at confirmed, and the answer is cached for up to 1 s. The list is empty for an unknown wallet. If no node answers, the status is 502.',
  scope: 'data:read',
  params: z.object({ wallet: address.describe('The wallet') }),
  query: z.object({
    include_zero: flag(false).describe('Whether accounts without tokens are listed too')
  }),
  answer: TOKEN_ACCOUNTS,
  errors: ['UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'],
  examples: [{ name: 'A wallet', params: { wallet: EXAMPLE_WALLET }, query: { include_zero: 'true' } }],
  deadlineMs: NODE_DEADLINE_MS
})

export const tokenAccountRoutes: FastifyPluginAsync<Pick<AppDeps, 'accounts' | 'clock' | 'feed'>> = async (
  app,
  { accounts: parts, clock, feed }
) => {
  if (parts === null) return
  serveCached(app, tokenAccounts, async ({ params: { wallet }, query, signal, slices }) => {
    const restMs = nodeTime(clock)
    const { slot, accounts } = await fromNode(
      withinNodeTime(clock, restMs(), (end) => heldBy(wallet, parts, slices, end), signal)
    )
    const listed = accounts.filter(({ account }) => query.include_zero || account.amount > 0n)
    const decimals = await decimalsOf(
      distinctPubkeys(listed.map(({ account }) => account.mint)),
      parts,
      restMs()
    )
    const atSeconds = chainTime({ feed, clock })
    const bodies = await slices.map(listed, (held) => {
      const { mint, tokenProgram } = held.account
      const known = decimals.get(pubkeyMapKey(mint)) ?? null
      const account = factsOf(parts, mint)?.account ?? null
      return tokenAccountBody(
        held,
        known,
        shownAmounts({ decimals: known, tokenProgram }, account, atSeconds)
      )
    })
    const data = bodies.sort((a, b) => (a.pubkey < b.pubkey ? -1 : 1))
    return {
      body: { wallet: pubkeyToBase58(wallet), slot, data },
      dependsOn: [],
      changesWith: 'tags',
      maxAgeMs: ANSWER_MS
    }
  })
}

/** Reads the token accounts of a wallet in both programs, at the older of both slots. */
async function heldBy(
  wallet: Pubkey,
  { node }: AccountServices,
  slices: Slices,
  signal: AbortSignal
): Promise<{ readonly slot: number; readonly accounts: readonly HeldAccount[] }> {
  const answers = await Promise.all(
    TOKEN_PROGRAM_NAMES.map(async (name) => node.tokenAccounts(wallet, TOKEN_PROGRAM_KEYS[name], signal))
  )
  const accounts = await slices.map(
    answers.flatMap((answer) => answer.accounts),
    ({ address, account }) => {
      const read = readTokenAccount(account)
      return isRefused(read) ? null : { address, lamports: account.lamports, account: read }
    }
  )
  return {
    slot: Math.min(...answers.map(({ slot }) => slot)),
    accounts: accounts.filter((each) => each !== null)
  }
}
