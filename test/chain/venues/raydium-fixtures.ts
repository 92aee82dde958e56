import type { ChainEvent, Trade } from '../../../src/chain/events.ts'
import { decodeTransaction, type Decoded } from '../../../src/chain/decode.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import type { Transaction } from '../../../src/chain/transaction.ts'
import type { VenueId } from '../../../src/chain/venue-id.ts'
import { fixtureTransactions, type FixtureEntry } from '../../fixtures.ts'

/** A recorded transaction, its decoded events, and its JSON for readings that are independent of the decoder. */
export interface DecodedFixture {
  readonly entry: FixtureEntry
  readonly transaction: Transaction
  readonly decoded: Decoded
  readonly result: RpcResult
}

interface RpcInstruction {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
}

interface RpcBalance {
  readonly accountIndex: number
  readonly uiTokenAmount: { readonly amount: string }
}

export interface RpcResult {
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly string[]
      readonly instructions: readonly RpcInstruction[]
    }
  }
  readonly meta: {
    readonly innerInstructions: readonly { readonly instructions: readonly RpcInstruction[] }[]
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
    readonly preTokenBalances: readonly RpcBalance[]
    readonly postTokenBalances: readonly RpcBalance[]
  }
}

/** Returns the succeeded transactions of the catalogue that call a venue. */
export function decodedFixtures(venue: VenueId): DecodedFixture[] {
  const found: DecodedFixture[] = []
  for (const { entry, result } of fixtureTransactions()) {
    if (!entry.venues.includes(venue)) continue
    const outcome = readRpcTransaction(result)
    if (outcome.kind !== 'transaction') throw new Error(`${entry.signature}: ${outcome.kind}`)
    const { transaction } = outcome
    if (transaction.failed) continue
    found.push({
      entry,
      transaction,
      decoded: decodeTransaction(transaction),
      result: (result as { result?: RpcResult }).result ?? (result as RpcResult)
    })
  }
  return found
}

export function eventsOf<K extends ChainEvent['kind']>(
  { decoded }: DecodedFixture,
  venue: VenueId,
  kind: K
): Extract<ChainEvent, { kind: K }>[] {
  return decoded.events.filter(
    (event): event is Extract<ChainEvent, { kind: K }> => event.venue === venue && event.kind === kind
  )
}

/** The balance changes of a pool's two vaults that one instruction of a program touched. */
export interface VaultDifference {
  readonly pool: string
  readonly differences: readonly [bigint, bigint]
}

/**
 * Reads the record without the decoder: instructions of a program, their pool and vaults by position, and the vaults'
 * balances before and after. Vaults that two instructions touch are left out, because their change cannot be divided.
 */
export function vaultDifferences(
  { result }: DecodedFixture,
  program: string,
  positionsFor: (
    count: number
  ) => { readonly pool: number; readonly vaults: readonly [number, number] } | null
): VaultDifference[] {
  const { message } = result.transaction
  const loaded = result.meta.loadedAddresses
  const keys = [...message.accountKeys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])]
  const calls = [message.instructions, ...result.meta.innerInstructions.map((group) => group.instructions)]
    .flat()
    .filter(({ programIdIndex }) => keys[programIdIndex] === program)
  const balance = (balances: readonly RpcBalance[], index: number): bigint =>
    BigInt(balances.find(({ accountIndex }) => accountIndex === index)?.uiTokenAmount.amount ?? 0)
  const difference = (index: number): bigint =>
    balance(result.meta.postTokenBalances, index) - balance(result.meta.preTokenBalances, index)
  const found: VaultDifference[] = []
  for (const { accounts } of calls) {
    const positions = positionsFor(accounts.length)
    if (positions === null) continue
    const [first, second] = positions.vaults.map((position) => accounts[position]!) as [number, number]
    if (calls.filter((call) => call.accounts.includes(first) || call.accounts.includes(second)).length > 1) {
      continue
    }
    found.push({
      pool: keys[accounts[positions.pool]!]!,
      differences: [difference(first), difference(second)]
    })
  }
  return found
}

export interface StatedSwap {
  readonly program: string
  readonly inMint: string
  readonly inAmount: bigint
  readonly outMint: string
  readonly outAmount: bigint
}

/** Returns the swaps of one program that the catalogue's sources state hop by hop. */
export function statedSwaps({ entry }: DecodedFixture, program: string): StatedSwap[] {
  const found: StatedSwap[] = []
  for (const { values } of entry.expected) {
    for (const value of values as { data?: Record<string, string> }[]) {
      const { data } = value
      if (data?.amm !== program || data.inputAmount === undefined) continue
      found.push({
        program,
        inMint: data.inputMint!,
        inAmount: BigInt(data.inputAmount),
        outMint: data.outputMint!,
        outAmount: BigInt(data.outputAmount!)
      })
    }
  }
  return found
}

/** Returns the raw amounts given and received that sources state for a transaction with one fill. */
export function statedTotals({ entry }: DecodedFixture): { inAmount: bigint; outAmount: bigint }[] {
  const found: { inAmount: bigint; outAmount: bigint }[] = []
  for (const { values } of entry.expected) {
    for (const value of values as Record<string, string>[]) {
      if (value.FromTokenAmount === undefined) continue
      found.push({ inAmount: BigInt(value.FromTokenAmount), outAmount: BigInt(value.ToTokenAmount!) })
    }
  }
  return found
}

/** A trade's fill and totals, for comparison. */
export function amountsOf({ inAmount, outAmount, traderIn, traderOut }: Trade): readonly bigint[] {
  return [inAmount, outAmount, traderIn, traderOut]
}
