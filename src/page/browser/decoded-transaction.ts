import { encodeBase58 } from '../../chain/base58.ts'
import { explainTransaction, type CallExplanation } from '../../chain/explain.ts'
import type { ChainEvent } from '../../chain/events.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { readRpcTransaction } from '../../chain/rpc/transaction.ts'
import { readMovements, VALUE_PROGRAMS, type Movement } from '../../chain/token-movement.ts'
import type { Transaction } from '../../chain/transaction.ts'

/** A movement of tokens or lamports, with its accounts and owners as far as the transaction states them. */
export interface ShownMovement {
  readonly place: string
  readonly kind: Movement['kind']
  readonly from: string | null
  readonly to: string | null
  /** Null for lamports, and for a token account whose mint the transaction does not state. */
  readonly mint: string | null
  readonly amountRaw: bigint
  readonly decimals: number | null
}

/** An event of the decoder as names and values. */
export interface ShownEvent {
  readonly kind: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

export interface ShownCall extends Omit<CallExplanation, 'events'> {
  readonly place: string
  readonly events: readonly ShownEvent[]
}

export interface DecodedTransaction {
  readonly signature: string
  readonly slot: number | null
  readonly blockTimeMs: number | null
  readonly failed: boolean
  readonly version: string
  readonly feeLamports: bigint
  readonly signers: readonly string[]
  readonly calls: readonly ShownCall[]
  readonly movements: readonly ShownMovement[]
  readonly changes: readonly ShownChange[]
  readonly logs: readonly string[]
}

/** The change of an owner's balance of a mint. */
export interface ShownChange {
  readonly owner: string
  /** Null for SOL. */
  readonly mint: string | null
  readonly changeRaw: bigint
  readonly decimals: number
}

/**
 * Decodes the answer of `getTransaction` with the service's own decoder, as `millrace decode --explain` does. Returns the reason as
 * a text if it cannot.
 */
export function decodeAnswer(answer: unknown): DecodedTransaction | string {
  const outcome = readRpcTransaction(answer)
  switch (outcome.kind) {
    case 'rpc-error':
      return `The node refuses: ${outcome.message}`
    case 'absent':
      return 'The node has no such transaction.'
    case 'unreadable':
      return `The transaction cannot be read: ${outcome.reason}`
    case 'transaction':
  }
  const { transaction, slot, blockTime } = outcome
  const { keys, signerCount, failed, version, feeLamports, logs } = transaction
  return {
    signature: encodeBase58(transaction.signature),
    slot,
    blockTimeMs: blockTime === null ? null : blockTime * 1_000,
    failed,
    version: String(version),
    feeLamports,
    signers: Array.from({ length: signerCount }, (_, at) => pubkeyToBase58(keys.bytes(at))),
    calls: explainTransaction(transaction).map((call) => ({
      ...call,
      place: placeText(call.ixIndex, call.innerIxIndex),
      events: failed ? [] : call.events.map((event) => eventOf(event as ChainEvent))
    })),
    movements: movementsOf(transaction),
    changes: changesOf(transaction),
    logs: logs ?? []
  }
}

const placeText = (outer: number, inner: number | null): string =>
  inner === null ? `${outer}` : `${outer}.${inner}`

interface TokenAccount {
  readonly mint: Pubkey
  readonly owner: Pubkey | null
  readonly decimals: number
}

const tokenAccountsOf = ({ preTokenBalances, postTokenBalances }: Transaction): Map<number, TokenAccount> =>
  new Map([...preTokenBalances, ...postTokenBalances].map((balance) => [balance.account, balance]))

function movementsOf(transaction: Transaction): ShownMovement[] {
  const { keys, instructions } = transaction
  const accounts = tokenAccountsOf(transaction)
  const opened = new Map<number, number>()
  const found: ShownMovement[] = []
  const keyText = (at: number): string | null => (at < 0 ? null : pubkeyToBase58(keys.bytes(at)))
  const ownerText = (at: number): string | null => {
    const owner = accounts.get(at)?.owner ?? null
    return owner === null ? keyText(at) : pubkeyToBase58(owner)
  }
  const decimalsOf = new Map(
    [...accounts.values()].map(({ mint, decimals }) => [pubkeyToBase58(mint), decimals])
  )
  for (const instruction of instructions) {
    const program = keys.lookup(instruction.program, VALUE_PROGRAMS)
    if (program === undefined) continue
    readMovements(instruction, program, {
      opening: ({ account, mint }) => void opened.set(account, mint),
      movement: ({ kind, source, destination, amount, mint, decimals }) => {
        const side = accounts.get(source) ?? accounts.get(destination)
        const mintText =
          kind === 'lamports'
            ? null
            : mint >= 0
              ? keyText(mint)
              : side !== undefined
                ? pubkeyToBase58(side.mint)
                : keyText(opened.get(source) ?? opened.get(destination) ?? -1)
        const known = decimals >= 0 ? decimals : mintText === null ? null : (decimalsOf.get(mintText) ?? null)
        found.push({
          place: placeText(instruction.outerIndex, instruction.innerIndex),
          kind,
          from: ownerText(source),
          to: ownerText(destination),
          mint: mintText,
          amountRaw: amount,
          decimals: kind === 'lamports' ? 9 : known
        })
      }
    })
  }
  return found
}

function changesOf({
  keys,
  preBalances,
  postBalances,
  preTokenBalances,
  postTokenBalances
}: Transaction): ShownChange[] {
  const changes = new Map<string, ShownChange>()
  const add = (owner: string, mint: string | null, changeRaw: bigint, decimals: number): void => {
    const name = `${owner} ${mint ?? ''}`
    changes.set(name, { owner, mint, decimals, changeRaw: (changes.get(name)?.changeRaw ?? 0n) + changeRaw })
  }
  const balances = [
    ...preTokenBalances.map((balance) => ({ balance, sign: -1n })),
    ...postTokenBalances.map((balance) => ({ balance, sign: 1n }))
  ]
  for (const { balance, sign } of balances) {
    const { account, mint, owner, amount, decimals } = balance
    add(pubkeyToBase58(owner ?? keys.bytes(account)), pubkeyToBase58(mint), sign * amount, decimals)
  }
  for (const [at, before] of preBalances.entries()) {
    const change = BigInt(postBalances[at] ?? before) - BigInt(before)
    if (change !== 0n) add(pubkeyToBase58(keys.bytes(at)), null, change, 9)
  }
  return [...changes.values()].filter(({ changeRaw }) => changeRaw !== 0n)
}

/** Lists the fields of an event. Keys are base58, and raw amounts stay whole numbers. */
function eventOf({ kind, ...fields }: ChainEvent): ShownEvent {
  const shown = Object.entries(fields).filter(
    ([name, value]) =>
      !['program', 'ixIndex', 'innerIxIndex'].includes(name) && value !== null && value !== undefined
  )
  return { kind, fields: shown.map(([name, value]) => [name, valueText(value)] as const) }
}

function valueText(value: unknown): string {
  if (value instanceof Uint8Array) return value.length === 32 ? pubkeyToBase58(value) : encodeBase58(value)
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join('; ')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, each]) => `${name} ${valueText(each)}`)
      .join(', ')
  return String(value)
}

/** Returns an amount in human units, exactly. */
export function exactAmount(raw: bigint, decimals: number): string {
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${raw < 0n ? '−' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}
