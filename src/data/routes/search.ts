import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { SEARCH, searchHit, type SearchHit } from '../bodies/search.ts'
import { pubkeyFromBase58, type Pubkey } from '../../chain/pubkey.ts'
import type { MintWindow } from '../../market/windows.ts'
import { fromNode } from '../../node/upstream.ts'
import { STATUS_ANSWER_MS } from '../../kernel/time-limits.ts'
import { ChainStatuses } from '../../transactions/chain-statuses.ts'
import { Submissions } from '../../transactions/submissions.ts'
import { foldedText, isWholeWord } from '../name-text.ts'
import { ANSWER_MS } from '../../accounts/routes/account-services.ts'
import { addressHits } from './address-hits.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { marketReader } from './market-reader.ts'
import { wholeNumber } from '../../kernel/http/parameters.ts'
import { isSignature } from '../../kernel/http/signature.ts'
import { ERRORS } from '../../kernel/errors.ts'

/** Maximum characters of a search; a signature has 88. */
const TEXT_MAX = 100
const TEXT_RULE = `must have 2 to ${TEXT_MAX} characters; one ideograph or emoji is enough`
/** The window of a hit's volume, in seconds. */
const WINDOWS = { day: 86_400 }
/** Maximum hits of an answer. Beyond one screen, a longer search text helps more. */
const LIMIT_MAX = 50

export const search = endpoint({
  path: '/v1/search',
  tag: 'Market',
  summary: 'Search',
  description: `Finds tokens by any part of their symbol or name. Finds tokens, pools, wallets and transactions by their whole \
address or signature. The search ignores case and a \`$\` before a symbol. Several words match only side by side. \
Tokens are sorted by volume in USD in the last 24 hours, then by \`match\` (in the order of its values), then by the bytes of \
their address. An address can match a token, a pool or curve, and a wallet that has traded. A signature is searched among \
the tenant's submissions and at the node. The list is empty if nothing matches. It has one page.`,
  scope: 'data:read',
  query: z.object({
    q: z
      .string()
      .refine(isSearchable, TEXT_RULE)
      .meta({ minLength: 1, maxLength: TEXT_MAX })
      .describe(`Text, address or signature; 2 to ${TEXT_MAX} characters, or one ideograph or emoji`),
    limit: wholeNumber(1, LIMIT_MAX, 20).describe('Maximum number of tokens')
  }),
  answer: SEARCH,
  work: ['name', 'row', 'kibibyte'],
  errors: [ERRORS.INDEX_LOADING, ERRORS.UPSTREAM_ERROR, ERRORS.UPSTREAM_TIMEOUT],
  examples: [
    { name: 'by symbol', query: { q: 'sol' } },
    { name: 'by part of a name, the first three', query: { q: 'coin', limit: '3' } }
  ],
  deadlineMs: STATUS_ANSWER_MS
})

type Deps = Pick<
  DataNeeds,
  'storage' | 'archive' | 'index' | 'names' | 'mintWindows' | 'clock' | 'cash' | 'accounts' | 'transactions'
>

export const searchRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { storage, index, clock, transactions, mintWindows } = deps
  const marketOf = marketReader(deps)
  const chain = transactions === null ? null : new ChainStatuses(transactions, clock)
  const submissions = transactions === null ? null : new Submissions(storage.documents, transactions)

  serveCached(app, search, async ({ query: { q, limit }, tenant, head, signal, slices, work }) => {
    const text = q.trim()
    const address = addressIn(text)
    const dayOf = async (mint: Pubkey): Promise<MintWindow> =>
      (await mintWindows.of(mint, head?.blockTime ?? 0, WINDOWS, { traders: false })).day
    const hitsOfAddress = async (address: Pubkey): Promise<readonly SearchHit[]> => {
      await index.rankings(signal)
      return addressHits({ ...deps, market: marketOf(), dayOf }, { address, head })
    }
    const named = async () => {
      const compared = (names: number): void => work.count('name', names)
      const found = await index.search(foldedText(text), limit, { compared, pause: slices.pause, signal })
      const data = await slices.mapReads(found.hits, async ({ mint, symbol, name, match }) =>
        searchHit('token', mint, { symbol, name, day: await dayOf(mint), match })
      )
      return { ...found, data }
    }
    const addressed = async () => {
      const data = await (address === null ? transactionHits(tenant, text) : hitsOfAddress(address))
      return { data, ...(await index.indexedNames(signal)) }
    }
    const isAddressed = address !== null || isSignature(text)
    const { data, tokensSearched, isComplete } = await (isAddressed ? addressed() : named())
    const body = { data: [...data], tokens_searched: tokensSearched, complete: isComplete }
    // Names of accounts change without a block.
    return { body, dependsOn: [], changesWith: 'block', maxAgeMs: ANSWER_MS }
  })

  async function transactionHits(tenant: string, signature: string): Promise<SearchHit[]> {
    if (chain === null || submissions === null) return []
    const own = await submissions.get(tenant, signature)
    if (own === null && (await fromNode(chain.status(signature))) === null) return []
    const none = { symbol: null, name: null, venue: null, volume_24h_usd: null }
    return [{ kind: 'transaction', address: signature, ...none, match: 'signature' }]
  }
}

function isSearchable(q: string): boolean {
  const characters = [...q.trim()]
  if (characters.length > TEXT_MAX) return false
  const folded = [...foldedText(q)]
  return folded.length >= 2 || (folded.length === 1 && isWholeWord(folded[0]!))
}

function addressIn(text: string): Pubkey | null {
  try {
    return pubkeyFromBase58(text)
  } catch {
    return null
  }
}
