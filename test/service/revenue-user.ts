import { PublicKey, type Connection } from '@solana/web3.js'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { LedgerEntryBody } from '../../src/revenue/bodies/ledger-entry.ts'
import { until } from './asking.ts'
import { ADMIN_KEY } from './service-process.ts'

export type Row = LedgerEntryBody & { readonly cursor: string }

interface Gap {
  readonly from_slot: number
  readonly to_slot: number
  readonly reason: string
}

/** A tenant of the revenue ledger; `urlOf` returns the URL of a process that runs. */
export class RevenueUser {
  readonly #urlOf: () => string
  readonly key: string

  constructor(urlOf: () => string, key: string) {
    this.#urlOf = urlOf
    this.key = key
  }

  /** Makes a tenant with a key. */
  static async of(urlOf: () => string, tenant: string): Promise<RevenueUser> {
    const admin = new RevenueUser(urlOf, ADMIN_KEY)
    const body = { tenant, scopes: ['revenue', 'stream'], rate_limit_per_minute: 1_000_000 }
    if (tenant !== 'operator')
      await admin.ask('POST', '/v1/admin/tenants', { name: tenant }).catch(() => null)
    return new RevenueUser(urlOf, String((await admin.ask('POST', '/v1/admin/keys', body))['key']))
  }

  /** Asks until the service answers: it waits for blocks, or for its store, or is being started. */
  async ask(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    return until(async () => {
      const answer = await fetch(this.#urlOf() + path, {
        method,
        headers: {
          'x-api-key': this.key,
          connection: 'close',
          ...(body !== undefined && { 'content-type': 'application/json' })
        },
        ...(body !== undefined && { body: JSON.stringify(body) })
      }).catch(() => null)
      if (answer === null || answer.status === 503) return null
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
      return JSON.parse(text) as Record<string, unknown>
    }, `an answer of ${path}`)
  }

  /** Watches an address. Resolves with the first slot of its ledger, once it has begun. */
  async watch(address: string): Promise<number> {
    await this.ask('POST', '/v1/revenue/accounts', { address })
    return until(async () => {
      const { data } = (await this.ask('GET', '/v1/revenue/accounts')) as {
        data: { address: string; capture_from: { slot: number } | null }[]
      }
      return data.find((each) => each.address === address)?.capture_from?.slot ?? null
    }, `the ledger of ${address} begins`)
  }

  async unwatch(address: string): Promise<void> {
    await this.ask('DELETE', `/v1/revenue/accounts/${address}`)
  }

  /** Reads all rows in pages, oldest first. */
  async rows(limit = 1_000): Promise<readonly Row[]> {
    return (await this.ledger(limit)).rows
  }

  /** Reads all rows in pages, oldest first, with the slot up to which the last page states them as complete. */
  async ledger(limit = 1_000): Promise<{ readonly rows: readonly Row[]; readonly completeTo: number }> {
    const rows: Row[] = []
    for (let after = ''; ;) {
      const page = await this.ask('GET', `/v1/revenue/events?order=asc&limit=${limit}${after}`)
      const { data, nextCursor, complete_to } = page as unknown as {
        data: Row[]
        nextCursor: string | null
        complete_to: { slot: number } | null
      }
      rows.push(...data)
      if (nextCursor === null) return { rows, completeTo: complete_to?.slot ?? -1 }
      after = `&after=${nextCursor}`
    }
  }

  /** Returns the account of a watched address. */
  async account(address: string): Promise<Record<string, unknown>> {
    const { data } = await this.ask('GET', '/v1/revenue/accounts')
    return (data as Record<string, unknown>[]).find((each) => each['address'] === address)!
  }

  /** Returns the coverage of a watched address. */
  async coverageOf(address: string): Promise<Record<string, unknown>> {
    const { addresses } = await this.ask('GET', `/v1/revenue/coverage?address=${address}`)
    return (addresses as Record<string, unknown>[])[0]!
  }

  async gaps(): Promise<readonly Gap[]> {
    const { addresses } = (await this.ask('GET', '/v1/revenue/coverage')) as {
      addresses: { gaps: Gap[] }[]
    }
    return addresses.flatMap(({ gaps }) => gaps)
  }

  /** Hears the channel `revenue` until the test ends. Resolves with the list of its events once it is subscribed. */
  async hear(t: Test, channel = 'revenue'): Promise<Record<string, unknown>[]> {
    const socket = new WebSocket(`${this.#urlOf().replace('http', 'ws')}/v1/stream?key=${this.key}`)
    t.teardown(() => socket.terminate())
    const heard: Record<string, unknown>[] = []
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.once('open', () => socket.send(JSON.stringify({ subscribe: [channel] })))
      socket.on('message', (text: Buffer) => {
        const message = JSON.parse(text.toString()) as { type: string; data: Record<string, unknown> }
        if (message.type === 'event') heard.push(message.data)
        if (message.type === 'subscribed') resolve()
      })
    })
    return heard
  }
}

const keyOf = ({ address, account, is_native }: Row): string =>
  `${address} ${is_native ? 'lamports' : account}`

/** Checks that rows come once, and that each begins with the balance of the one before; a gap excuses a difference. */
export function followEachOther(t: Test, rows: readonly Row[], gaps: readonly Gap[], message: string): void {
  t.equal(new Set(rows.map(({ id }) => id)).size, rows.length, `${message}: each of ${rows.length} rows once`)
  const last = new Map<string, Row>()
  const breaks: string[] = []
  for (const row of rows) {
    const before = last.get(keyOf(row))
    last.set(keyOf(row), row)
    if (before === undefined || before.post_raw === row.pre_raw) continue
    const isGap = gaps.some(({ from_slot, to_slot }) => from_slot <= row.slot && to_slot > before.slot)
    if (!isGap) breaks.push(`${keyOf(row)}: slot ${before.slot} to ${row.slot}, ${row.signature}`)
  }
  t.strictSame(breaks, [], `${message}: rows follow each other`)
}

/** Balances of a wallet by account, as the node states them at a slot. */
interface Balances {
  readonly slot: number
  readonly of: ReadonlyMap<string, string>
}

/**
 * Resolves with a wallet's balance of lamports, and those of its token accounts by program. The chain continues
 * between these reads.
 */
async function balancesOf(chain: Connection, wallet: string): Promise<readonly [Balances, ...Balances[]]> {
  const owner = new PublicKey(wallet)
  const lamports = async (): Promise<Balances> => {
    const { context, value } = await chain.getBalanceAndContext(owner, 'processed')
    return { slot: context.slot, of: new Map([[`${wallet} lamports`, String(value)]]) }
  }
  const tokens = async (program: Pubkey): Promise<Balances> => {
    const ofProgram = { programId: new PublicKey(program) }
    const { context, value } = await chain.getTokenAccountsByOwner(owner, ofProgram, 'processed')
    const amounts = value.map(
      ({ pubkey, account }) =>
        [`${wallet} ${pubkey.toBase58()}`, String(account.data.readBigUInt64LE(64))] as const
    )
    return { slot: context.slot, of: new Map(amounts) }
  }
  return Promise.all([lamports(), ...Object.values(TOKEN_PROGRAM_KEYS).map(tokens)])
}

/**
 * Checks that the rows of a wallet end with its balances, each at the slot at which the node states it. Resolves with the
 * number of accounts, once the ledger is complete up to these slots.
 */
export async function endAtBalances(
  t: Test,
  user: RevenueUser,
  chain: Connection,
  wallet: string,
  ledgerSlot: () => Promise<number>
): Promise<number> {
  const [lamports, ...tokens] = await balancesOf(chain, wallet)
  const last = Math.max(lamports.slot, ...tokens.map(({ slot }) => slot))
  await until(async () => (await ledgerSlot()) >= last, `the ledger has slot ${last}`)
  const rows = (await user.rows()).filter((row) => row.address === wallet)
  const endAt = (key: string, slot: number): string =>
    rows.findLast((row) => keyOf(row) === key && row.slot <= slot)?.post_raw ?? '0'
  const first = Math.min(lamports.slot, ...tokens.map(({ slot }) => slot))
  const keys = new Set(rows.filter(({ slot }) => slot <= first).map(keyOf))
  for (const key of keys) {
    const stated = [lamports, ...tokens].find(({ of }) => of.has(key))
    if (stated !== undefined)
      t.equal(endAt(key, stated.slot), stated.of.get(key), `the balance of ${key} at slot ${stated.slot}`)
    // A closed account is of either program.
    else
      t.ok(
        tokens.some(({ slot }) => endAt(key, slot) === '0'),
        `the closed account ${key} ends with nothing`
      )
  }
  return keys.size
}

interface Totals {
  readonly totals: { readonly events: number; readonly net_usd: number }
  readonly by_mint: readonly { readonly mint: string; readonly net_raw: string }[]
}

/** Checks that the totals of a tenant are those of its rows. */
export async function totalsEqual(t: Test, user: RevenueUser): Promise<void> {
  // The chain continues: totals are those of all rows up to a slot, and no earlier slot than that of the rows before.
  const known = (await user.rows()).length
  const { totals, by_mint } = await until(async () => {
    const answer = (await user.ask('GET', '/v1/revenue/totals?window=86400')) as unknown as Totals
    return answer.totals.events >= known && answer
  }, `totals of ${known} rows`)
  const all = await user.rows()
  const rows = all.slice(0, totals.events)
  t.equal(rows.length, totals.events, 'no more rows are summed up than there are')
  t.not(all[totals.events]?.slot, rows.at(-1)?.slot, 'whole slots are summed up')
  for (const { mint, net_raw } of by_mint) {
    const deltas = rows.filter((row) => row.mint === mint).map((row) => BigInt(row.delta_raw))
    t.equal(net_raw, String(deltas.reduce((a, b) => a + b, 0n)), `the net change of ${mint}`)
  }
  const usd = rows.reduce((sum, { value_usd }) => sum + (value_usd ?? 0), 0)
  // A transaction counts in whole millionths.
  t.ok(Math.abs(usd - totals.net_usd) < 0.00001 * rows.length, `${usd} USD are ${totals.net_usd}`)
}
