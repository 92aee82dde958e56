import { z } from 'zod'
import type { Test } from 'tap'
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/accounts/metaplex.ts'
import { MintDirectory } from '../../src/accounts/mint-directory.ts'
import { PoolDirectory } from '../../src/accounts/pools/pool-directory.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import type { Endpoint } from '../../src/kernel/http/endpoint.ts'
import { account } from '../../src/localnet/market/venues/record.ts'
import { DecodingReport } from '../../src/ingest/decoding-report.ts'
import { appOf } from '../http/app-of.ts'
import { marketApp } from '../http/market-app.ts'
import { block, buy, key, launch, NOON, OTHER, POOL, SOL, solSale, TOKEN } from '../market/world.ts'
import { processMetrics } from '../products/process-metrics.ts'
import { settle, virtualClock } from '../virtual-time.ts'
import { metaplexData, mintData, tokenAccountData } from './account-data.ts'
import { FakeAccountNode } from './fake-account-node.ts'
import { FakeReadingServer } from './fake-shared-readings.ts'

/** Fields that only accounts tell. An answer with one of them shows account facts. */
const ACCOUNT_FIELDS =
  /"(mint_authority|liquidity_usd|liquidity_slot|reserves_slot|state_slot|close_authority|holdings_count)"/
/** Answers that each gateway reads from its own node: equal at equal slots. */
export const OF_A_WALLET = ['/v1/wallets/{wallet}/holdings', '/v1/wallets/{wallet}/token-accounts']

const CLASSIC = TOKEN_PROGRAM_KEYS['spl-token']
const WHIRLPOOL = pubkeyFromBase58('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc')
const PUMP = pubkeyFromBase58('6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P')
const LAUNCHED = key(3)
const CURVE = key(90)
const WALLET = key(60)
const POOLS = [
  { pool: POOL, mint: TOKEN, vaults: [key(201), key(202)] },
  { pool: key(102), mint: OTHER, vaults: [key(203), key(204)] }
] as const

const whirlpool = account(
  653,
  '3f95d10ce1806309',
  'protocolFees:u64[2]@85 mintA:pubkey@101 vaultA:pubkey@133 mintB:pubkey@181 vaultB:pubkey@213'
)
const pumpCurve = account(
  166,
  '17b7f83760d8ac60',
  'virtualTokens:u64@8 virtualLamports:u64@16 realTokens:u64@24 realLamports:u64@32 complete:bool@48'
)

/** Moves a node to a slot of one chain: every account follows from the slot. */
function moveTo(node: FakeAccountNode, slot: number): void {
  node.slot = slot
  const now = BigInt(slot)
  for (const mint of [TOKEN, OTHER, LAUNCHED]) {
    node.put(mint, { owner: CLASSIC, data: mintData({ supply: 10n ** 12n + now, decimals: 6 }) })
    const names = { mint, name: `Name ${mint[0]}`, symbol: 'N', uri: '', authority: key(4) }
    node.put(metaplexAddress(mint), { owner: METAPLEX_PROGRAM, data: metaplexData(names) })
  }
  for (const { pool, mint, vaults } of POOLS) {
    const sides = { mintA: SOL, vaultA: vaults[0], mintB: mint, vaultB: vaults[1] }
    node.put(pool, { owner: WHIRLPOOL, data: whirlpool({ protocolFees: [0n, 0n], ...sides }) })
    const put = (vault: Pubkey, of: Pubkey, amount: bigint): void =>
      node.put(vault, { owner: CLASSIC, data: tokenAccountData({ mint: of, owner: pool, amount }) })
    put(vaults[0], SOL, 5_000_000_000n + now)
    put(vaults[1], mint, 8_000_000n + now)
  }
  node.put(key(61), {
    owner: CLASSIC,
    data: tokenAccountData({ mint: TOKEN, owner: WALLET, amount: 1_000n + now })
  })
  const reserves = { virtualTokens: 804_750_000_000_000n - now, virtualLamports: 40_000_000_000n + now }
  const real = { realTokens: 524_850_000_000_000n - now, realLamports: 10_000_000_000n + now }
  node.put(CURVE, { owner: PUMP, data: pumpCurve({ ...reserves, ...real, complete: false }) })
}

/** Two gateways of a fleet with a node each, over one store and one feed. */
async function gateways(t: Test, isShared: boolean) {
  const clock = virtualClock()
  clock.increment(NOON * 1_000)
  const server = new FakeReadingServer(clock)
  const accountsAt = () => {
    const node = new FakeAccountNode()
    moveTo(node, 1_000)
    const options = { node, clock, bytesMax: 2 ** 20, shared: isShared ? server.join() : null }
    return {
      node,
      mints: new MintDirectory(options),
      pools: new PoolDirectory(options),
      offChain: null,
      images: null
    }
  }
  const [one, two] = [accountsAt(), accountsAt()]
  const first = await marketApp(t, undefined, { accounts: one, clock })
  const second = appOf({ ...first.deps, accounts: two, metrics: processMetrics(new DecodingReport()) })
  t.teardown(() => second.close())
  const trade = (slot: number, mint: Pubkey, pool: Pubkey) =>
    buy(10n ** 9n, 10n ** 6n + BigInt(slot), { venue: 'orca-whirlpool', outMint: mint, pool })
  let slot = 3
  const commit = async (): Promise<void> => {
    slot++
    const { pool, mint } = POOLS[slot % POOLS.length]!
    await first.commit(block(slot, Math.floor(clock.now() / 1_000), [trade(slot, mint, pool)]))
  }
  const reserves = {
    ...{ in: 5_000_000_000n, out: 700_000_000_000_000n },
    ...{ virtualIn: 35_000_000_000n, virtualOut: 919_714_285_714_286n }
  }
  const about = { venue: 'pumpfun' as const, pool: CURVE }
  await first.commit(
    block(1, NOON - 60, [solSale(100)]),
    block(2, NOON - 2, [
      launch({ ...about, baseMint: LAUNCHED, curve: CURVE }),
      buy(5_000_000_000n, 10n ** 9n, { ...about, outMint: LAUNCHED, reserves })
    ]),
    block(3, NOON - 1, [trade(3, TOKEN, POOL), trade(3, OTHER, key(102))])
  )
  const apiKey = await first.makeKey(['data:read'], { ratePerMinute: 100_000 })
  const ask = async (app: typeof second, url: string) => {
    const answer = await app.inject({ method: 'GET', url, headers: { 'x-api-key': apiKey } })
    return { status: answer.statusCode, tag: answer.headers['etag'], text: answer.body }
  }
  return { clock, commit, nodes: [one.node, two.node] as const, apps: [first.app, second] as const, ask }
}

/** The declared endpoints whose answers show facts of accounts. */
const endpointsOf = (served: readonly { readonly endpoint: Endpoint }[]): readonly Endpoint[] =>
  served
    .map(({ endpoint }) => endpoint)
    .filter(({ method, answer }) => {
      const schema = JSON.stringify(z.toJSONSchema(answer, { io: 'input', unrepresentable: 'any' }))
      return method === 'GET' && ACCOUNT_FIELDS.test(schema)
    })

const base58 = [TOKEN, OTHER, LAUNCHED].map(pubkeyToBase58)
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  mint: base58,
  pool: POOLS.map(({ pool }) => pubkeyToBase58(pool)),
  wallet: [pubkeyToBase58(WALLET)]
}
const QUERIES: Readonly<Record<string, string>> = {
  '/v1/metadata': `?mints=${base58.join(',')}`,
  '/v1/prices': `?mints=${base58.join(',')}`
}

/** Returns URLs of an endpoint: one for each object that it can be about. */
function urlsOf({ path }: Endpoint): string[] {
  const [, name] = /\{(\w+)\}/.exec(path) ?? []
  const query = QUERIES[path] ?? ''
  if (name === undefined) return [path + query]
  const owners = OWNERS[name]
  if (owners === undefined) throw new Error(`the test has no object for ${path}`)
  return owners.map((owner) => path.replace(`{${name}}`, owner) + query)
}

const slotsIn = (text: string): string => JSON.stringify(text.match(/"\w*slot":\d+/g))

/** Pseudo-random whole numbers below a limit, the same in every run. */
function numbers(): (below: number) => number {
  let state = 7
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/**
 * Asks two gateways for pairs of the same answers while chain, nodes and time move on. Returns the pairs that differ, and the
 * number of good answers by endpoint.
 */
export async function compared(
  t: Test,
  { pairs, isShared = true }: { readonly pairs: number; readonly isShared?: boolean }
) {
  const { clock, commit, nodes, apps, ask } = await gateways(t, isShared)
  await apps[0].ready()
  const endpoints = endpointsOf(apps[0].served)
  const questions = endpoints.flatMap((endpoint) => urlsOf(endpoint).map((url) => ({ endpoint, url })))
  const next = numbers()
  const good = new Map<string, number>()
  const differing: string[] = []
  const rest = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await settle()
  }
  for (let pair = 0; pair < pairs; pair++) {
    clock.increment([0, 3, 400, 1_300, 5_100][next(5)]!)
    for (const node of nodes) moveTo(node, Math.max(1, node.slot + next(9) - 2))
    if (next(4) === 0) await commit()
    const { endpoint, url } = questions[pair % questions.length]!
    const [one, other] = next(2) === 0 ? apps : [apps[1], apps[0]]
    // Both may read accounts, at once or in the background, and hear of what the other one has read.
    for (const app of [one, other]) {
      await ask(app, url)
      await rest()
    }
    const [a, b] = [await ask(one, url), await ask(other, url)]
    if (a.status !== 200) continue
    good.set(endpoint.path, (good.get(endpoint.path) ?? 0) + 1)
    const mayDiffer = OF_A_WALLET.includes(endpoint.path) && slotsIn(a.text) !== slotsIn(b.text)
    if (!mayDiffer && (a.text !== b.text || a.tag !== b.tag)) differing.push(`${url}\n${a.text}\n${b.text}`)
  }
  return { endpoints, good, differing }
}

/** Checks that answers of every endpoint that shows facts of accounts are equal at two gateways. */
export async function checkSameAnswers(t: Test, pairs: number): Promise<void> {
  const { endpoints, good, differing } = await compared(t, { pairs })
  t.comment([...good].map(([path, count]) => `${path} ${count}`).join(', '))
  const paths = endpoints.map(({ path }) => path)
  for (const path of ['/v1/metadata/{mint}', '/v1/metadata', '/v1/trending', ...OF_A_WALLET])
    t.ok(paths.includes(path), `${path} shows facts of accounts`)
  t.strictSame(
    paths.filter((path) => !good.has(path)),
    [],
    'each of them was answered'
  )
  t.strictSame(differing.slice(0, 2), [], `${differing.length} pairs differ`)
}
