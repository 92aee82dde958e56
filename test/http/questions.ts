import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { USDC } from '../../src/market/cash.ts'
import type { RefreshTrigger } from '../../src/kernel/http/invalidation-index.ts'
import { key, NOON, OTHER, PEGGED, POOL, SOL, TOKEN } from '../market/world.ts'

/** A URL of an endpoint with cached answers, and the events that invalidate an answer besides a change of its content. */
export interface Question {
  readonly url: string
  readonly trigger: RefreshTrigger
}

const mints = [TOKEN, OTHER, key(3), key(4), SOL, key(90)]
const pools = [POOL, key(102), key(103), key(104), key(105), key(91)]
const wallets = [key(300), key(301), key(92)]

const FILTERS = [
  'side=buy&limit=2',
  'side=sell',
  'venue=pumpfun',
  'min_usd=150',
  `from=${NOON + 60}`,
  `to=${NOON + 20}`,
  `from=${NOON}&to=${NOON + 90}&order=asc`,
  `from=${NOON + 7200}`
]
const PAGES = ['', 'limit=1', 'order=asc&limit=3', 'limit=2&offset=2', 'order=asc&offset=3']

/** Queries of candles up to the head's bucket; the second list queries finished buckets. */
const RUNNING = [
  '',
  'interval=1h',
  'interval=1w&currency=usd',
  'fill=previous&limit=5',
  'fill=previous&interval=5m&limit=20&raw=1',
  'interval=4h&fill=previous&currency=usd',
  'interval=1d&raw=1',
  `cash=${USDC}&interval=1h`,
  `cash=${pubkeyToBase58(PEGGED)}`,
  'limit=2&raw=1&currency=usd',
  `from=${NOON + 60}&fill=previous&limit=3`
]
const CLOSED = [`to=${NOON}`, `from=${NOON}&to=${NOON + 120}&fill=previous`, `interval=5m&to=${NOON + 300}`]

function ask(trigger: RefreshTrigger, path: string, queries: readonly string[] = ['']): Question[] {
  return queries.map((query) => ({ url: query === '' ? path : `${path}?${query}`, trigger }))
}

const of = (kind: string, owner: Pubkey, rest: string): string =>
  `/v1/${kind}/${pubkeyToBase58(owner)}/${rest}`

/** A broad set of requests to every endpoint with cached answers, about the world of `world.ts`. */
export const QUESTIONS: readonly Question[] = [
  ...mints.flatMap((mint) => [
    ...ask('tags', of('tokens', mint, 'trades'), mint === TOKEN ? [...PAGES, ...FILTERS] : PAGES.slice(0, 2)),
    ...ask('minute', of('tokens', mint, 'candles'), mint === TOKEN ? RUNNING : RUNNING.slice(0, 2)),
    ...ask('tags', of('tokens', mint, 'candles'), mint === TOKEN ? CLOSED : []),
    ...ask('minute', of('tokens', mint, 'price')),
    ...ask('minute', `/v1/tokens/${pubkeyToBase58(mint)}`),
    ...ask('minute', of('tokens', mint, 'pools'), ['', 'order=asc&limit=1']),
    ...ask('tags', of('tokens', mint, 'bonding-curve'))
  ]),
  ...ask('block', of('tokens', TOKEN, 'candles'), ['interval=5s', 'interval=1s&fill=previous&limit=9']),
  ...ask('block', of('pools', POOL, 'candles'), ['interval=15s']),
  ...ask('minute', of('tokens', SOL, 'candles'), [`cash=${USDC}`, `cash=${USDC}&interval=1h&fill=previous`]),
  ...pools.flatMap((pool) => [
    ...ask('tags', of('pools', pool, 'activity'), ['', 'limit=2']),
    ...ask('minute', `/v1/pools/${pubkeyToBase58(pool)}`),
    ...ask(
      'minute',
      of('pools', pool, 'candles'),
      pool === POOL ? ['fill=previous&limit=5', 'interval=1d&currency=usd'] : ['']
    ),
    ...ask('tags', of('pools', pool, 'candles'), pool === POOL ? CLOSED.slice(0, 1) : []),
    ...ask('tags', of('pools', pool, 'trades'), pool === POOL ? [...PAGES, FILTERS[0]!] : [''])
  ]),
  ...wallets.flatMap((wallet) => ask('tags', of('wallets', wallet, 'trades'), ['', 'limit=1'])),
  ...ask('tags', of('wallets', key(300), 'trades'), [...PAGES.slice(3), ...FILTERS.slice(0, 3)]),
  ...ask('minute', '/v1/prices', [
    `mints=${mints.map(pubkeyToBase58).join(',')}`,
    `mints=${pubkeyToBase58(OTHER)}`
  ]),
  ...ask('tags', '/v1/launches', [
    '',
    'limit=1',
    'order=asc&limit=2',
    'offset=1',
    'status=created',
    'status=trading',
    'status=graduated&order=asc'
  ]),
  ...ask('block', '/v1/trades', [
    `from=${NOON - 60}&to=${NOON + 90}&limit=3`,
    `from=0&to=${NOON + 100_000}&venue=pumpfun`,
    `from=0&to=${NOON + 100_000}&side=sell&min_usd=150`
  ]),
  ...ask('block', '/v1/candles', [
    `from=${NOON - 60}&to=${NOON + 90}&limit=3`,
    `from=0&to=${NOON + 100_000}&interval=1h&currency=usd&raw=1`
  ]),
  ...ask('block', '/v1/stats'),
  ...ask('block', '/v1/priority-fees', ['', `accounts=${pubkeyToBase58(POOL)}`]),
  ...ask('block', '/v1/search', [
    'q=grn',
    'q=grain&limit=1',
    'q=usdc',
    ...[TOKEN, POOL, key(300), key(90)].map((address) => `q=${pubkeyToBase58(address)}`)
  ]),
  ...ask('block', '/v1/trending', [
    '',
    'window=1h&limit=2',
    'window=4h',
    'window=24h&limit=3',
    'sort=trades&exclude_cash=1'
  ])
]
