import { decodeTransaction } from '../../src/chain/decode.ts'
import type { Note } from '../../src/chain/emitter.ts'
import type { ChainEvent, Trade } from '../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { readRpcTransaction } from '../../src/chain/rpc/transaction.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { fixtureTransactions, type FixtureEntry } from '../fixtures.ts'

/**
 * A recorded transaction read without the decoder: a program's instructions as recorded, and the changes of the reported
 * balances.
 */
export interface RecordedCall {
  readonly ixIndex: number
  readonly innerIxIndex: number | null
  readonly program: string
  readonly accounts: readonly string[]
}

interface RecordedInstruction {
  readonly programIdIndex?: number
  readonly programId?: string
  readonly accounts?: readonly (number | string)[]
}

interface RecordedTransaction {
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly (string | { readonly pubkey: string })[]
      readonly instructions: readonly RecordedInstruction[]
    }
  }
  readonly meta: {
    readonly innerInstructions: readonly {
      readonly index: number
      readonly instructions: readonly RecordedInstruction[]
    }[]
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
    readonly preTokenBalances: readonly RecordedBalance[]
    readonly postTokenBalances: readonly RecordedBalance[]
    readonly preBalances: readonly number[]
    readonly postBalances: readonly number[]
  }
}

interface RecordedBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly uiTokenAmount: { readonly amount: string }
}

export class RecordedFacts {
  readonly #keys: readonly string[]
  readonly #record: RecordedTransaction

  constructor(result: unknown) {
    const body = result as { result?: RecordedTransaction }
    this.#record = body.result ?? (result as RecordedTransaction)
    const { message } = this.#record.transaction
    const keys = message.accountKeys.map((key) => (typeof key === 'string' ? key : key.pubkey))
    const loaded = this.#record.meta.loadedAddresses
    const isParsed = message.accountKeys.some((key) => typeof key !== 'string')
    this.#keys = isParsed || loaded === undefined ? keys : [...keys, ...loaded.writable, ...loaded.readonly]
  }

  /** The calls of a program, outer and inner. */
  calls(program: string): RecordedCall[] {
    const found: RecordedCall[] = []
    const visit = (each: RecordedInstruction, ixIndex: number, innerIxIndex: number | null): void => {
      const called = each.programId ?? this.#keys[each.programIdIndex!]
      if (called !== program) return
      const accounts = (each.accounts ?? []).map((key) => (typeof key === 'string' ? key : this.#keys[key]!))
      found.push({ ixIndex, innerIxIndex, program, accounts })
    }
    this.#record.transaction.message.instructions.forEach((each, ixIndex) => {
      visit(each, ixIndex, null)
      const group = this.#record.meta.innerInstructions.find(({ index }) => index === ixIndex)
      group?.instructions.forEach((inner, innerIndex) => visit(inner, ixIndex, innerIndex))
    })
    return found
  }

  /** Returns the change of a token account, or null if the record has no balance of it. */
  tokenDifference(account: string): { readonly mint: string; readonly amount: bigint } | null {
    const { preTokenBalances, postTokenBalances } = this.#record.meta
    const index = this.#keys.indexOf(account)
    const before = preTokenBalances.find(({ accountIndex }) => accountIndex === index)
    const after = postTokenBalances.find(({ accountIndex }) => accountIndex === index)
    const mint = (before ?? after)?.mint
    if (mint === undefined) return null
    return {
      mint,
      amount: BigInt(after?.uiTokenAmount.amount ?? 0) - BigInt(before?.uiTokenAmount.amount ?? 0)
    }
  }

  lamportDifference(account: string): bigint {
    const index = this.#keys.indexOf(account)
    const { preBalances, postBalances } = this.#record.meta
    return BigInt(postBalances[index]!) - BigInt(preBalances[index]!)
  }
}

/**
 * Compares trades with the balance changes of their pools' vaults, if only one call of the program touches a vault. Returns
 * the checked trades in order. `vaultsOf` names a call's two vaults by the venue's published account lists.
 */
export function checkVaults(
  facts: RecordedFacts,
  trades: readonly Trade[],
  program: string,
  vaultsOf: (call: RecordedCall) => readonly [string, string] | null
): { readonly checked: number; readonly differences: string[] } {
  const calls = facts.calls(program)
  const touched = new Map<string, number>()
  for (const call of calls) {
    for (const vault of vaultsOf(call) ?? []) touched.set(vault, (touched.get(vault) ?? 0) + 1)
  }
  let checked = 0
  const differences: string[] = []
  for (const trade of trades) {
    const call = calls.find(
      ({ ixIndex, innerIxIndex }) => ixIndex === trade.ixIndex && innerIxIndex === trade.innerIxIndex
    )
    const vaults = call === undefined ? null : vaultsOf(call)
    if (vaults === null) {
      differences.push(`no call at ${trade.ixIndex}, ${trade.innerIxIndex}`)
      continue
    }
    if (vaults.some((vault) => touched.get(vault) !== 1)) continue
    const changes = vaults.map((vault) => facts.tokenDifference(vault)?.amount ?? null)
    checked++
    const [most, least] = changes[0]! > changes[1]! ? changes : [changes[1], changes[0]]
    if (most !== trade.inAmount || least !== -trade.outAmount) {
      differences.push(`vaults ${String(changes)}, trade ${trade.inAmount} → ${trade.outAmount}`)
    }
  }
  return { checked, differences }
}

/** A recorded transaction with the decoded events and notes of one venue. */
export interface RecordedVenue {
  readonly entry: FixtureEntry
  readonly facts: RecordedFacts
  readonly failed: boolean
  readonly events: readonly ChainEvent[]
  readonly trades: readonly Trade[]
  readonly notes: readonly Note[]
}

/** Every recorded transaction that invokes a venue, under its name in the catalogue. */
export function* recordedVenue(name: string, venue: VenueId): Generator<RecordedVenue> {
  for (const { entry, result } of fixtureTransactions()) {
    if (!entry.venues.includes(name)) continue
    const outcome = readRpcTransaction(result)
    if (outcome.kind !== 'transaction') throw new Error(`${entry.file} is not a transaction`)
    const decoded = decodeTransaction(outcome.transaction)
    const events = decoded.events.filter((event) => event.venue === venue)
    yield {
      entry,
      facts: new RecordedFacts(result),
      failed: outcome.transaction.failed,
      events,
      trades: events.filter((event) => event.kind === 'trade'),
      notes: decoded.notes.filter((note) => note.venue === venue)
    }
  }
}

/**
 * Compares a venue's trades with the hops that the catalogue's sources state for it: program, mints, amounts. A
 * route's hop names the program, so hops and trades of one program are in one order.
 */
export function statedHops(
  name: string,
  venue: VenueId,
  program: string
): { readonly differences: string[]; readonly hops: number } {
  const differences: string[] = []
  let hops = 0
  for (const { entry, trades } of recordedVenue(name, venue)) {
    const read = trades.map(({ inMint, inAmount, outMint, outAmount }) =>
      [pubkeyToBase58(inMint), inAmount, pubkeyToBase58(outMint), outAmount].join(' ')
    )
    for (const { values, from } of entry.expected) {
      const stated = (values as { name?: string; data?: Record<string, string> }[])
        .filter(({ name, data }) => name === 'SwapEvent' && data?.amm === program)
        .map(
          ({ data }) => `${data!.inputMint} ${data!.inputAmount} ${data!.outputMint} ${data!.outputAmount}`
        )
      hops += stated.length
      if (stated.length === 0 || read.join() === stated.join()) continue
      differences.push(`${entry.signature}: ${from} states ${stated.join()}, read ${read.join()}`)
    }
  }
  return { differences, hops }
}
