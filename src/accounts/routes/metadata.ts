import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { KnownMint, MintFacts } from '../mint-facts.ts'
import { METADATA, METADATA_BATCH, metadataBody } from '../bodies/metadata.ts'
import { offChainBody } from '../bodies/off-chain-metadata.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { DATA_ERRORS } from '../../data/errors.ts'
import { USDC, WSOL } from '../../market/cash.ts'
import { fromNode } from '../../node/upstream.ts'
import { NODE_DEADLINE_MS } from './account-services.ts'
import { addressList } from '../../kernel/http/address-list.ts'
import type { AccountNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { address } from '../../kernel/http/parameters.ts'
import { untilNextSecond } from '../../kernel/http/time.ts'
import { allOf } from '../../data/routes/known-mint.ts'
import { statedNames } from '../../data/routes/stated-names.ts'

/** Maximum mints of one request (src/docs/endpoints.md). */
const MINTS_MAX = 100
const RULES =
  'The accounts are read from the node at confirmed and cached for up to 6 s. `slot` and `age_seconds` give their age. While no node answers, older cached accounts are served; if no account is cached, the status is 502.'

export const metadata = endpoint({
  path: '/v1/metadata/{mint}',
  tag: 'Tokens',
  summary: 'Metadata of a token',
  description: `Names, decimals, supply, authorities and extensions of a mint of either token program, as its accounts state them now. ${RULES} For an address that is not a mint, the status is 404.`,
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: METADATA,
  errors: [DATA_ERRORS.TOKEN_NOT_FOUND, ERRORS.UPSTREAM_ERROR, ERRORS.UPSTREAM_TIMEOUT],
  examples: [{ name: 'Wrapped SOL', params: { mint: WSOL } }],
  deadlineMs: NODE_DEADLINE_MS
})

export const metadataBatch = endpoint({
  path: '/v1/metadata',
  tag: 'Tokens',
  summary: 'Metadata of several tokens',
  description: `The metadata of up to ${MINTS_MAX} tokens, in the order of the request, each once. \`missing\` lists addresses that are not mints. ${RULES}`,
  scope: 'data:read',
  query: z.object({
    mints: addressList(MINTS_MAX).describe(`Addresses of mints, separated by commas; at most ${MINTS_MAX}`)
  }),
  answer: METADATA_BATCH,
  errors: [ERRORS.UPSTREAM_ERROR, ERRORS.UPSTREAM_TIMEOUT],
  examples: [{ name: 'Wrapped SOL and USDC', query: { mints: `${WSOL},${USDC}` } }],
  deadlineMs: NODE_DEADLINE_MS
})

type Body = z.input<typeof METADATA>
type Deps = Pick<AccountNeeds, 'accounts' | 'storage' | 'cash' | 'clock'>

export const metadataRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { clock, accounts } = deps
  if (accounts === null) return
  /** Returns how long an answer may be repeated: until an age in it changes, or a newer reading comes. */
  const limitsOf = (mints: readonly Pubkey[], known: readonly KnownMint[]) => ({
    ...({ dependsOn: [], changesWith: 'tags' } as const),
    maxAgeMs: untilNextSecond(clock.now()),
    isCurrent: allOf(mints.map((mint, at) => accounts.mints.untilReplaced(mint, known[at]!)))
  })
  const read = async (mints: readonly Pubkey[]) => fromNode(accounts.mints.read(mints))
  const bodyOf = async (facts: MintFacts, known: KnownMint): Promise<Body> =>
    metadataBody(facts, known, await statedNames(deps, facts), clock.now())

  /** Adds known fields of the JSON at the URIs, if the operator has allowed off-chain reads. */
  const withOffChain = async (bodies: readonly Body[]): Promise<readonly Body[]> => {
    const { offChain } = accounts
    if (offChain === null) return bodies
    const uris = [...new Set(bodies.flatMap(({ uri }) => (uri === null || uri === '' ? [] : [uri])))]
    const known = await offChain.read(uris)
    const byUri = new Map(uris.map((uri, at) => [uri, known[at]!]))
    return bodies.map((body) => ({
      ...body,
      off_chain: offChainBody(byUri.get(body.uri ?? ''), clock.now())
    }))
  }

  serveCached(app, metadata, async ({ params: { mint } }) => {
    const [known] = await read([mint])
    const { reading } = known!
    if (reading.kind === 'refused')
      throw new ServiceError(
        DATA_ERRORS.TOKEN_NOT_FOUND,
        `this address is not a mint: its account ${reading.reason}`
      )
    const limits = limitsOf([mint], [known!])
    const [body] = await withOffChain([await bodyOf(reading, known!)])
    return { ...limits, body: body! }
  })

  serveCached(app, metadataBatch, async ({ query }) => {
    const { mints } = query
    const known = await read(mints)
    const limits = limitsOf(mints, known)
    const bodies = known.map(async (each) =>
      each.reading.kind === 'refused' ? null : bodyOf(each.reading, each)
    )
    const found = await Promise.all(bodies)
    const missing = mints.filter((_, at) => found[at] === null).map(pubkeyToBase58)
    const data = await withOffChain(found.filter((body) => body !== null))
    return { ...limits, body: { data: [...data], missing } }
  })
}
