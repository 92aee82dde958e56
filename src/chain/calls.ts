import { attachLogs, type AttachedLogs, type InvocationLog } from './invocation-logs.ts'
import { Invocation } from './invocation.ts'
import { PubkeyTable } from './pubkey.ts'
import { Movements } from './movements.ts'
import { TokenAccounts } from './token-accounts.ts'
import type { Instruction, Transaction } from './transaction.ts'
import type { TransferFeeLookup } from './transfer-fee.ts'
import type { Venue } from './venue.ts'

/** The venue calls of a transaction in execution order, each with the movements and events below it. */
export interface VenueCalls {
  /** The token accounts of the transaction; null if it has no venue call. */
  readonly tokens: TokenAccounts | null
  readonly calls: readonly Invocation<Venue>[]
  /** Calls whose nesting is unknown and could not be recovered; their movements cannot be assigned. */
  readonly unplaced: readonly Invocation<Venue>[]
}

/** Precompiles run before the transaction's programs and write no log lines. */
const SILENT_PROGRAMS = new PubkeyTable<true>([
  ['Ed25519SigVerify111111111111111111111111111', true],
  ['KeccakSecp256k11111111111111111111111111111', true],
  ['Secp256r1SigVerify1111111111111111111111111', true]
])

/**
 * Venue by key index, for the transaction being decoded. The list is reused: most transactions have no venue, and a
 * new list for each would be garbage.
 */
const venueByKey: (Venue | null | undefined)[] = []

const NO_CALLS: VenueCalls = { tokens: null, calls: [], unplaced: [] }

/**
 * Walks a transaction in execution order with a stack of open venue calls. A movement belongs to the innermost open
 * call. A stated event belongs to the innermost open call of its own program. `feeOf` returns transfer fees, if they
 * are known.
 */
export function collectCalls(
  transaction: Transaction,
  venues: PubkeyTable<Venue>,
  feeOf: TransferFeeLookup | null = null
): VenueCalls {
  const { instructions, keys } = transaction
  while (venueByKey.length < keys.length) venueByKey.push(undefined)
  venueByKey.fill(undefined, 0, keys.length)
  let any = false
  for (const { program } of instructions) {
    if (venueByKey[program] !== undefined) continue
    const venue = keys.lookup(program, venues) ?? null
    venueByKey[program] = venue
    if (venue !== null) any = true
  }
  if (!any) return NO_CALLS
  const venueOf = ({ program }: Instruction): Venue | null => venueByKey[program] ?? null

  // Logs are attached on first use: most transactions are decoded without reading their log.
  let attached: AttachedLogs | undefined
  const logs = (): AttachedLogs =>
    (attached ??= attachLogs(
      transaction.logs,
      instructions,
      (instruction) => keys.lookup(instruction.program, SILENT_PROGRAMS) === true
    ))
  const moved = new Movements(transaction)
  const tokens = new TokenAccounts(transaction, moved, feeOf)

  const heights = transaction.nestingKnown
    ? null
    : (logs().heights ?? guesslessHeights(instructions, venueOf))
  const calls: Invocation<Venue>[] = []
  const unplaced: Invocation<Venue>[] = []
  const open: { call: Invocation<Venue>; height: number }[] = []
  for (let position = 0; position < instructions.length; position++) {
    const instruction = instructions[position]!
    const height = heights === null ? instruction.height : heights[position]!
    if (instruction.innerIndex === null) open.length = 0
    else while (open.length > 0 && open.at(-1)!.height >= height && height > 0) open.pop()
    const venue = venueOf(instruction)
    if (venue !== null) {
      const eventAt = venue.statedEventOffset(instruction.data)
      if (eventAt >= 0) {
        giveToCall(instruction, eventAt, open)
        continue
      }
      const log = (): InvocationLog | null => logs().byInstruction[position] ?? null
      const call = new Invocation({ transaction, tokens, moved, venue, instruction, position, log })
      if (height === 0) {
        unplaced.push(call)
        open.length = 0
        continue
      }
      open.at(-1)?.call.nested.push(call)
      open.push({ call, height })
      calls.push(call)
      continue
    }
    open.at(-1)?.call.below.push(position)
  }
  return { tokens, calls, unplaced }
}

/** Adds a stated event to the innermost open call of its program; drops the event if no such call is open. */
function giveToCall(instruction: Instruction, eventAt: number, open: readonly { call: Invocation }[]): void {
  const owner = open.findLast(({ call }) => call.instruction.program === instruction.program)
  owner?.call.stated.push({ bytes: instruction.data.subarray(eventAt), instruction })
}

/**
 * Derives heights that the record lacks. In a group with one venue call, everything after that call is below it. In a
 * group with several, a transfer cannot be assigned, so every call of the group keeps height 0.
 */
function guesslessHeights(
  instructions: readonly Instruction[],
  venueOf: (instruction: Instruction) => Venue | null
): number[] {
  const candidates = new Map<number, number>()
  const isCall = (instruction: Instruction): boolean => {
    const venue = venueOf(instruction)
    return venue !== null && venue.statedEventOffset(instruction.data) < 0
  }
  for (const instruction of instructions) {
    if (!isCall(instruction)) continue
    candidates.set(instruction.outerIndex, (candidates.get(instruction.outerIndex) ?? 0) + 1)
  }
  let below = false
  return instructions.map((instruction) => {
    if (instruction.innerIndex === null) below = false
    const count = candidates.get(instruction.outerIndex) ?? 0
    const call = isCall(instruction)
    if (count > 1) return call ? 0 : 1
    if (call) below = true
    const base = instruction.innerIndex === null ? 1 : 2
    return call || !below ? base : base + 1
  })
}
