import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { decodeTransaction, type Decoded } from '../../../src/chain/decode.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import type { Venue } from '../../../src/chain/venue.ts'
import { fixtureTransactions, type FixtureEntry } from '../../fixtures.ts'
import { buildTransaction, type CallSpec, type TransactionSpec } from '../build-transaction.ts'

// Checks that both Pump venues share.

export const SOL = 'So11111111111111111111111111111111111111112'
const SELF_CALL = Uint8Array.fromHex('e445a52e51cb9a1d')

/** Returns the self-call by which a program states an event. */
export function stating(program: string, event: Uint8Array): CallSpec {
  return { program, accounts: ['event authority'], data: Uint8Array.from([...SELF_CALL, ...event]) }
}

/** Returns a layout's full value without the appended groups from the named field on. */
export function until(value: Record<string, unknown>, field: string): Record<string, unknown> {
  const names = Object.keys(value)
  return Object.fromEntries(names.slice(0, names.indexOf(field)).map((name) => [name, value[name]]))
}

export function decodeSpec(spec: TransactionSpec): Decoded {
  return decodeTransaction(buildTransaction(spec))
}

/** Every recorded transaction that calls the venue and succeeded. */
export function recorded(venue: string): { entry: FixtureEntry; result: RawResult; decoded: Decoded }[] {
  return fixtureTransactions()
    .filter(({ entry }) => entry.venues.includes(venue) && !entry.kind.includes('failed'))
    .map(({ entry, result }) => {
      const outcome = readRpcTransaction(result)
      if (outcome.kind !== 'transaction') throw new Error(`${entry.signature}: ${outcome.kind}`)
      return { entry, result: result as RawResult, decoded: decodeTransaction(outcome.transaction) }
    })
}

/** The fields of a getTransaction result that the checks read directly. */
export interface RawResult {
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } }
  readonly meta: {
    readonly preBalances: readonly number[] | null
    readonly postBalances: readonly number[] | null
    readonly preTokenBalances: readonly RawTokenBalance[]
    readonly postTokenBalances: readonly RawTokenBalance[]
  }
}

interface RawTokenBalance {
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string }
}

/** Returns the amounts of a mint in an owner's accounts before and after a transaction. */
export function holdings(
  result: RawResult,
  owner: string,
  mint: string
): { readonly before: bigint; readonly after: bigint } {
  const sum = (balances: readonly RawTokenBalance[]): bigint =>
    balances
      .filter((balance) => balance.owner === owner && balance.mint === mint)
      .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n)
  return { before: sum(result.meta.preTokenBalances), after: sum(result.meta.postTokenBalances) }
}

export const text = pubkeyToBase58

/** Returns an event or note with addresses and amounts as text, for comparison. */
export function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.length === 32 ? text(value) : value.toHex()
  if (typeof value === 'bigint') return value
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]))
}

/** Checks that discriminators are Anchor's hashes of the names. */
export function checkDiscriminators(t: Test, venue: Venue): void {
  const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)
  for (const { name, discriminator } of venue.instructions.entries) {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    t.equal(discriminator.toHex(), hashOf(`global:${snake}`), name)
  }
  for (const { name, discriminator } of venue.events.entries) {
    t.equal(discriminator.toHex(), hashOf(`event:${name}`), name)
  }
}
