import type { Storage } from '../../../storage/port.ts'
import { DEMO_TENANT } from '../../access/bootstrap.ts'
import type { KeyDirectory } from '../../access/key-directory.ts'
import { encodeBase58 } from '../../chain/base58.ts'
import { pubkeyFromBase58, pubkeyMapKey, pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { SourceKind } from '../../kernel/config/config.ts'
import { WSOL } from '../../market/cash.ts'
import type { TradeRow } from '../../market/rows.ts'
import { WatchedAddresses } from '../../revenue/watched-addresses.ts'
import { webhooksOf } from '../../webhooks/registry.ts'
import type { Example } from '../../kernel/http/endpoint.ts'

/** Values in examples until data of their kind is indexed. */
export const EXAMPLE_LAUNCH = '4i39ueoavjHaMwv6Lizq5LYjAi4xDqGDEnj7CmS3pump'
export const EXAMPLE_POOL = '58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2'
export const EXAMPLE_WALLET = '3zi7ET8HFv7CbfQ87Y9ziuNidLZz7biTeG5jTusE7LUm'
export const EXAMPLE_WATCHED = '9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu'
export const EXAMPLE_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const EXAMPLE_NODE = 'rpc.example.org:8899'
export const EXAMPLE_KEY_ID = '3f0c6f5e-2b7a-4c1d-9e8f-5a6b7c8d9e0f'
export const EXAMPLE_WEBHOOK_ID = '196744173809221'
export const EXAMPLE_SIGNATURE =
  '2gNKjBgQF2oLQHKu1ycAJDEf6Q1EHNyb2p5kqY8VQVwfST9tGhbnpehGC8JxTa5c3mUUDHQ6acQCnsEK34kMZFFB'
/** The signed transfer with that signature. Its blockhash belongs to no cluster, so sending it has no effect. */
export const EXAMPLE_TRANSACTION =
  'AVP3VdIUTa2kzNnvLTZHNKf+emTBhoiXzlplb7DqN5VEuUG/LnKRVGT0gSVjqOd1QhVw1J7hwQEVb7ElGL6QMw6AAQABA7H4BNq8aCdMEjOZXFqRGbVpNbzdg7feB+xybc7cTpznag9qKDqOTobSo9YO+eN+wz8qtgcaMOCkd3NRKOdXHrAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAI9pg21h8aZu99ohiQEPZsgD6KqZTRg9GBvDq983Th/WAQICAAEMAgAAAOgDAAAAAAAAAA=='
/** A host that is reserved for documentation (RFC 2606). */
export const EXAMPLE_BUNDLE_ID = '892b79ed49138bfb3aa5441f0df6e06ef34f9ee8f3976c15b323605bae0cf51d'
export const EXAMPLE_WEBHOOK_URL = 'https://example.com/hook'

/** SOL's newest trades, of which one is the example. A localnet spreads them over nine pools, ten seconds or more each. */
const SOL_TRADES_READ = 100

/** Replacements of example values, by the value replaced. */
export type ExampleValues = ReadonlyMap<string, string>

export interface ExampleSources {
  readonly storage: Pick<Storage, 'launches' | 'trades' | 'documents'>
  readonly keys: Pick<KeyDirectory, 'keysOf'>
  readonly sourceKind: SourceKind | null
}

/**
 * Returns example values that have an answer: the newest launch that trades, and the pool, the trader and the signature of a
 * trade of SOL, whose pool has a chart of seconds. On a localnet, these include the demo tenant's first key, webhook and
 * watched address; elsewhere the public document names no tenant's.
 */
export async function exampleValues({ storage, keys, sourceKind }: ExampleSources): Promise<ExampleValues> {
  const newest = { order: 'desc', limit: 1 } as const
  const [[launch], solTrades] = await Promise.all([
    storage.launches.page({ ...newest, status: 'trading' }),
    storage.trades.ofMint(pubkeyFromBase58(WSOL), { ...newest, limit: SOL_TRADES_READ })
  ])
  const trade = newestOfSteadiestPool(solTrades)
  const isOfDemo = sourceKind === 'localnet'
  const key = isOfDemo ? keys.keysOf(DEMO_TENANT)[0] : undefined
  const [[webhook], [watched]] = await Promise.all([
    isOfDemo ? webhooksOf(storage.documents, DEMO_TENANT) : [],
    isOfDemo ? new WatchedAddresses(storage.documents).list(DEMO_TENANT) : []
  ])
  const ledger = watched?.address ?? (trade && pubkeyToBase58(trade.user))
  return new Map([
    ...(launch === undefined ? [] : [[EXAMPLE_LAUNCH, pubkeyToBase58(launch.mint)] as const]),
    ...(trade === undefined
      ? []
      : ([
          [EXAMPLE_POOL, pubkeyToBase58(trade.pool)],
          [EXAMPLE_WALLET, pubkeyToBase58(trade.user)],
          [EXAMPLE_SIGNATURE, encodeBase58(trade.signature)]
        ] as const)),
    ...(ledger === undefined ? [] : [[EXAMPLE_WATCHED, ledger] as const]),
    ...(key === undefined ? [] : [[EXAMPLE_KEY_ID, key.id] as const]),
    ...(webhook === undefined ? [] : [[EXAMPLE_WEBHOOK_ID, String(webhook.value.id)] as const])
  ])
}

/**
 * Returns the first of the trades in the pool that traded in the most distinct seconds, and so has that many candles of a
 * second. The pool of the newest trade can be seconds old. One page of rows tells, without a read for each pool.
 */
function newestOfSteadiestPool(trades: readonly TradeRow[]): TradeRow | undefined {
  const pools = Map.groupBy(trades, ({ pool }) => pubkeyMapKey(pool))
  const secondsOf = (rows: readonly TradeRow[]): number =>
    new Set(rows.map(({ blockTime }) => blockTime)).size
  const [steadiest] = [...pools.values()].sort((a, b) => secondsOf(b) - secondsOf(a))
  return steadiest?.[0]
}

/** Returns an example with its values replaced. */
export function filledExample(example: Example, values: ExampleValues): Example {
  const filled = (parameters: Example['params']) =>
    parameters &&
    Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, values.get(value) ?? value]))
  const { params, query, body } = example
  return {
    ...example,
    ...(params && { params: filled(params)! }),
    ...(query && { query: filled(query)! }),
    ...(isObject(body) && { body: filledBody(body, values) })
  }
}

const isObject = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !Array.isArray(body)

/** Replaces the fields of a body that are values of examples. */
function filledBody(body: object, values: ExampleValues): object {
  const fields = Object.entries(body).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? (values.get(value) ?? value) : value
  ])
  return Object.fromEntries(fields) as object
}
