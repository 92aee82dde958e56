import { AccountSet } from '../../src/accounts/account-set.ts'
import { isRefused } from '../../src/accounts/optional-key.ts'
import { readPool } from '../../src/accounts/pools/pool-reader.ts'
import { orientedSides, type PoolState } from '../../src/accounts/pools/pool-state.ts'
import type { Account } from '../../src/accounts/ports.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58, pubkeyMapKey, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import type { LocalBank } from '../../src/localnet/bank/bank.ts'
import { USDC } from '../../src/localnet/programs.ts'
import { chainShape, tokenAccountsOf } from '../holders/list-shape.ts'
import { curveReserves } from '../localnet/market/oracle-comparison.ts'
import { until } from './asking.ts'
import type { OracleComparison } from './oracle-answers.ts'
import type { OracleChain } from './oracle-chain.ts'
import { differences } from './oracle-differences.ts'
import type { Body, ServiceProcess } from './service-process.ts'

type Row = Readonly<Record<string, unknown>>

/** Traders of the market whose wallets are compared. */
const TRADERS = 10
/** Launches of the market whose holders are compared. */
const LAUNCHES = 3

/**
 * Compares a service's answers about accounts with the accounts of its chain: holder lists, holdings, token accounts,
 * reserves of pools and curves. The chain has settled, so its newest accounts are those of its confirmed slot.
 */
export async function compareAccounts(
  service: ServiceProcess,
  chain: OracleChain
): Promise<Omit<OracleComparison, 'venues'>> {
  const { bank, traffic } = chain
  const slot = bank.slot('confirmed')
  const events = chain.landed(slot).map(({ event }) => event)
  const launches = events.filter((event) => event.kind === 'launch')
  const compared: Record<string, number> = {}
  const found: string[] = []
  const hold = (what: string, actual: readonly string[], expected: readonly string[]): void => {
    compared[what] = (compared[what] ?? 0) + expected.length
    found.push(...differences(`${what} at slot ${slot}`, actual, expected))
  }

  const mints = [
    ...[NATIVE_MINT, USDC, traffic!.classic.mint.toBytes(), traffic!.fees.mint.toBytes()],
    ...launches.slice(0, LAUNCHES).map(({ mint }) => mint)
  ]
  const accounts = tokenAccountsOf(bank)
  for (const mint of mints) {
    const shape = chainShape(accounts, mint)
    for (const by of ['owner', 'token_account'] as const) {
      const { first, rows } = await holdersOf(service, encodeBase58(mint), by, slot)
      const listed = rows.map((row) =>
        by === 'owner'
          ? textOf(row, ['amount_raw', 'owner', 'token_accounts'])
          : textOf(row, ['amount_raw', 'token_account', 'owner'])
      )
      const name = encodeBase58(mint)
      hold(
        'holders',
        listed.map((line) => `${name} ${line}`),
        (by === 'owner' ? shape.owners : shape.accounts).map((line) => `${name} ${line}`)
      )
      const { owners, accounts, held } = shape.sums!
      hold(
        'sums of holder lists',
        [
          textOf(first, ['mint', 'slot', 'holders_count', 'token_accounts_count', 'held_raw', 'stale_reason'])
        ],
        [words(name, slot, owners, accounts, held, null)]
      )
    }
  }

  const traders = new Set(
    events.flatMap((event) => (event.kind === 'trade' ? [encodeBase58(event.user)] : []))
  )
  const wallets = [...traffic!.wallets.map((key) => key.toBase58()), ...[...traders].slice(-TRADERS)]
  const accountsOf = accountsByOwner(bank)
  for (const wallet of wallets) {
    const held = accountsOf.get(wallet) ?? []
    const rows = await pages(service, `/v1/wallets/${wallet}/holdings?limit=50`)
    hold(
      'holdings',
      rows
        .map(
          (row) => `${wallet} ${textOf(row, ['mint', 'amount_raw', 'token_accounts', 'is_native', 'frozen'])}`
        )
        .toSorted(),
      [...holdingsOf(bank, wallet, held)].map((line) => `${wallet} ${line}`).toSorted()
    )
    const { body } = await service.get(`/v1/wallets/${wallet}/token-accounts?include_zero=true`)
    hold(
      'token accounts',
      body.data
        .map((row) => textOf(row, ['pubkey', 'mint', 'amount_raw', 'state', 'withheld_raw']))
        .toSorted(),
      held.map((each) => words(each.address, each.mint, each.amount, each.state, each.withheld)).toSorted()
    )
    compared['frozen accounts'] =
      (compared['frozen accounts'] ?? 0) + held.filter(({ state }) => state === 'frozen').length
    compared['withheld fees'] =
      (compared['withheld fees'] ?? 0) + held.filter(({ withheld }) => (withheld ?? 0n) > 0n).length
  }

  const pools = new Map(
    events.flatMap((event) => (event.kind === 'trade' ? [[encodeBase58(event.pool), event] as const] : []))
  )
  for (const [pool, event] of pools) {
    const state = poolState(bank, event)
    if (state === null) continue
    const row = await until(async () => {
      const { body } = await service.get(`/v1/pools/${pool}`)
      const sides = orientedSides(state, ...sidesOf(body))
      // A curve whose funds have gone to a pool has no reserves, and a curve of events alone has no account.
      if (sides === null || (sides.base.reserve === null && sides.quote.reserve === null))
        return { body, sides: null }
      return body['reserves_from'] === 'account' && Number(body['reserves_slot']) >= slot
        ? { body, sides }
        : null
    }, `the reserves of ${pool} at slot ${slot}`)
    if (row.sides === null) continue
    const { base, quote } = row.sides
    hold(
      'reserves of pools',
      [`${pool} ${textOf(row.body, ['base_reserve_raw', 'quote_reserve_raw'])}`],
      [words(pool, base.reserve, quote.reserve)]
    )
    const shown = curveReserves(event.venue, bank.account(event.pool)!.data)
    if (shown === null) continue
    // The account of one that has migrated is not read.
    const { body: curve } = await service.get(`/v1/tokens/${String(row.body['base_mint'])}/bonding-curve`)
    if (curve['status'] === 'graduated') continue
    hold(
      'curves',
      [`${pool} ${textOf(curve['reserves'] as Row, ['real_token_raw', 'real_cash_raw'])}`],
      [words(pool, shown.base, shown.quote)]
    )
  }
  return { compared, differences: found }
}

const sidesOf = (body: Body) =>
  [pubkeyFromBase58(String(body['base_mint'])), pubkeyFromBase58(String(body['quote_mint']))] as const

/** Reads a pool from the chain's newest accounts; null if its account does not contain it. */
function poolState(bank: LocalBank, { pool, venue }: Parameters<typeof readPool>[0]): PoolState | null {
  const known = new Map<string, Account | null>()
  for (;;) {
    const set = new AccountSet(known)
    const state = readPool({ pool, venue }, set)
    if (set.unread.length === 0) return isRefused(state) ? null : state
    for (const address of set.unread) {
      const account = bank.account(address)
      known.set(pubkeyMapKey(address), account === null ? null : { ...account, rentEpoch: 0n })
    }
  }
}

interface Held {
  readonly address: string
  readonly mint: string
  readonly amount: bigint
  readonly state: 'initialized' | 'frozen'
  readonly withheld: bigint | null
}

/** Returns all token accounts of both programs by owner, read by their places in the bytes. */
function accountsByOwner(bank: LocalBank): Map<string, Held[]> {
  const all = Object.values(TOKEN_PROGRAM_KEYS)
    .flatMap((program) => bank.accountsOf(program))
    .filter(({ data }) => (data.length === 165 || data[165] === 2) && data[108] !== 0)
  const byOwner = new Map<string, Held[]>()
  for (const { address, data } of all) {
    const bytes = Buffer.from(data)
    const owner = pubkeyToBase58(data.slice(32, 64))
    const own = byOwner.get(owner) ?? []
    byOwner.set(owner, own)
    own.push({
      address: pubkeyToBase58(address),
      mint: pubkeyToBase58(data.slice(0, 32)),
      amount: bytes.readBigUInt64LE(64),
      state: data[108] === 2 ? 'frozen' : 'initialized',
      withheld: withheldIn(bytes)
    })
  }
  return byOwner
}

/** Returns the TransferFeeAmount of an account, which is the extension of type 2; null where it has none. */
function withheldIn(bytes: Buffer): bigint | null {
  for (let at = 166; at + 4 <= bytes.length; at += 4 + bytes.readUInt16LE(at + 2)) {
    const type = bytes.readUInt16LE(at)
    if (type === 0) return null
    if (type === 2) return bytes.readBigUInt64LE(at + 4)
  }
  return null
}

/** Returns the holdings of a wallet: SOL, and each token with a balance. */
function holdingsOf(bank: LocalBank, wallet: string, held: readonly Held[]): string[] {
  const lamports = bank.account(pubkeyFromBase58(wallet))?.lamports ?? 0n
  const tokens = [
    ...Map.groupBy(
      held.filter(({ amount }) => amount > 0n),
      ({ mint }) => mint
    )
  ]
  return [
    [encodeBase58(NATIVE_MINT), lamports, 0, true, false].join(' '),
    ...tokens.map(([mint, all]) =>
      [
        mint,
        all.reduce((sum, { amount }) => sum + amount, 0n),
        all.length,
        false,
        all.some(({ state }) => state === 'frozen')
      ].join(' ')
    )
  ]
}

/** Reads a holder list once it has come to a slot, with the first page's sums. */
export async function holdersOf(service: ServiceProcess, mint: string, by: string, slot: number) {
  const path = `/v1/tokens/${mint}/holders?by=${by}&limit=100`
  const first = await until(async () => {
    const { status, body } = await service.get(path)
    return status === 200 && body['stale_reason'] === null && Number(body['slot']) >= slot ? body : null
  }, `the holders of ${mint} at slot ${slot}`)
  const { nextCursor } = first
  const further = typeof nextCursor === 'string' ? await pages(service, path, nextCursor) : []
  return { first, rows: [...first.data, ...further] }
}

async function pages(service: ServiceProcess, path: string, cursor?: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let after = cursor; ;) {
    const { status, body } = await service.get(after === undefined ? path : `${path}&after=${after}`)
    if (status !== 200) throw new Error(`${path} is answered with ${status}`)
    rows.push(...body.data)
    if (typeof body['nextCursor'] !== 'string') return rows
    after = body['nextCursor']
  }
}

const words = (...values: readonly unknown[]): string => values.map(String).join(' ')

const textOf = (row: Row, fields: readonly string[]): string => words(...fields.map((field) => row[field]))
