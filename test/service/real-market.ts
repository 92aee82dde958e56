import type { PublicKey } from '@solana/web3.js'
import type { ServiceProcess } from './service-process.ts'

/** A service's answers about a token: all its trades, oldest first, and by path the answers that follow from them. */
export interface ServedMarket {
  readonly trades: readonly Readonly<Record<string, unknown>>[]
  readonly answers: Readonly<Record<string, unknown>>
}

export async function servedMarket(
  service: ServiceProcess,
  { token, cash, pool, trader }: Readonly<Record<'token' | 'cash' | 'pool' | 'trader', PublicKey>>
): Promise<ServedMarket> {
  const of = `/v1/tokens/${token.toBase58()}`
  const trades: Readonly<Record<string, unknown>>[] = []
  const first = `${of}/trades?limit=1000&order=asc`
  for (let path: string | null = first; path !== null;) {
    const { body } = await service.get(path)
    trades.push(...body.data)
    path = typeof body.nextCursor === 'string' ? `${first}&after=${body.nextCursor}` : null
  }
  const paths = [
    `${of}/candles?interval=1m&cash=${cash.toBase58()}`,
    `${of}/candles?interval=1d&cash=${cash.toBase58()}&currency=usd`,
    `${of}/price`,
    `${of}/pools`,
    `/v1/pools/${pool.toBase58()}/activity`,
    `/v1/wallets/${trader.toBase58()}/trades?limit=1000`
  ]
  const answers = await Promise.all(
    paths.map(async (path) => {
      const { status, body } = await service.get(path)
      // The age of the last trade changes with the head, which advances meanwhile.
      return [path, { status, body: steady({ ...body, age_seconds: undefined }) }] as const
    })
  )
  return { trades, answers: Object.fromEntries(answers) }
}

/**
 * Slots and ages of accounts, which each service reads when it needs them, and the reason of a failed read. Two services
 * that query a node while it shuts down get different reasons.
 */
const OF_READINGS = ['supply_slot', 'reserves_slot', 'reserves_age_seconds', 'reserves_reason']

/** Returns an answer without the fields that depend on the time of the accounts' reads. */
function steady(body: object): object {
  const text = JSON.stringify(body, (name, value: unknown) =>
    OF_READINGS.includes(name) ? undefined : value
  )
  return JSON.parse(text) as object
}
