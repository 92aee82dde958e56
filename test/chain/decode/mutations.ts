import fc from 'fast-check'
import type { Instruction, Transaction } from '../../../src/chain/transaction.ts'

/** A change to a recorded transaction. Numbers are taken modulo the number of choices. */
export type Mutation = (transaction: Transaction) => Transaction

const place = fc.nat(10_000)

/** A transaction as a plain value, so that sections of it can be replaced. */
function withParts(transaction: Transaction, parts: Partial<Transaction>): Transaction {
  const { signature, index, version, failed, keys, signerCount, feeLamports, instructions } = transaction
  const { nestingKnown, logs, preTokenBalances, postTokenBalances, preBalances, postBalances } = transaction
  const own = { signature, index, version, failed, keys, signerCount, feeLamports, instructions }
  const told = { nestingKnown, logs, preTokenBalances, postTokenBalances, preBalances, postBalances }
  return { ...own, ...told, ...parts }
}

/** Changes one instruction's bytes or accounts. */
function onInstruction(at: number, change: (instruction: Instruction) => Partial<Instruction>): Mutation {
  return (transaction) => {
    const position = at % transaction.instructions.length
    const { program, accounts, data, height, outerIndex, innerIndex } = transaction.instructions[position]!
    const plain = { program, accounts, data, height, outerIndex, innerIndex }
    const instructions = transaction.instructions.with(position, { ...plain, ...change(plain) })
    return withParts(transaction, { instructions })
  }
}

const cutData = fc
  .tuple(place, place)
  .map(([at, length]) =>
    onInstruction(at, ({ data }) => ({ data: data.slice(0, length % (data.length + 1)) }))
  )

const otherBytes = fc
  .tuple(place, fc.array(fc.tuple(place, fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 3 }))
  .map(([at, flips]) =>
    onInstruction(at, ({ data }) => {
      const changed = data.slice()
      for (const [where, bits] of flips) if (changed.length > 0) changed[where % changed.length]! ^= bits
      return { data: changed }
    })
  )

const otherTail = fc
  .tuple(place, fc.nat(16), fc.uint8Array({ maxLength: 300 }))
  .map(([at, kept, tail]) =>
    onInstruction(at, ({ data }) => ({ data: Uint8Array.from([...data.slice(0, kept), ...tail]) }))
  )

const fewerAccounts = fc.tuple(place, place).map(([at, count]) =>
  onInstruction(at, ({ accounts }) => ({
    accounts: Array.from(accounts).slice(0, count % (accounts.length + 1))
  }))
)

const swappedAccounts = fc.tuple(place, place, place).map(([at, a, b]) =>
  onInstruction(at, ({ accounts }) => {
    const list = Array.from(accounts)
    if (list.length === 0) return {}
    const [first, second] = [a % list.length, b % list.length]
    return { accounts: list.with(first, list[second]!).with(second, list[first]!) }
  })
)

const withoutInstruction = place.map((at): Mutation => (transaction) => {
  const inner = transaction.instructions.filter(({ innerIndex }) => innerIndex !== null)
  const removed = inner[at % Math.max(inner.length, 1)]
  return withParts(transaction, { instructions: transaction.instructions.filter((each) => each !== removed) })
})

/** Mutations that change bytes or accounts or drop an inner instruction. Balances stay and show the truth. */
export const instructionMutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(cutData, otherBytes, otherTail) },
  fewerAccounts,
  swappedAccounts,
  withoutInstruction
)

const withoutBalance = fc.tuple(place, fc.boolean()).map(([at, before]): Mutation => (transaction) => {
  const side = before ? 'preTokenBalances' : 'postTokenBalances'
  const kept = transaction[side].filter((_, i, all) => i !== at % all.length)
  return withParts(transaction, { [side]: kept })
})

/** Drops stack heights, as in older records. */
export const withoutHeights: Mutation = (transaction) =>
  withParts(transaction, {
    nestingKnown: false,
    instructions: transaction.instructions.map(({ program, accounts, data, outerIndex, innerIndex }) => ({
      program,
      accounts,
      data,
      outerIndex,
      innerIndex,
      height: innerIndex === null ? 1 : 0
    }))
  })

/** Drops, doubles, reorders or changes log lines, or drops the log. */
export const logMutation: fc.Arbitrary<Mutation> = fc
  .tuple(
    fc.constantFrom('none', 'cut', 'remove', 'double', 'swap', 'garble'),
    place,
    place,
    fc.base64String()
  )
  .map(([kind, a, b, text]): Mutation => (transaction) => {
    const { logs } = transaction
    if (logs === null || logs.length === 0 || kind === 'none') return withParts(transaction, { logs: null })
    const [first, second] = [a % logs.length, b % logs.length]
    switch (kind) {
      case 'cut':
        return withParts(transaction, { logs: [...logs.slice(0, first), 'Log truncated'] })
      case 'remove':
        return withParts(transaction, { logs: logs.toSpliced(first, 1) })
      case 'double':
        return withParts(transaction, { logs: logs.toSpliced(first, 0, logs[first]!) })
      case 'swap':
        return withParts(transaction, { logs: logs.with(first, logs[second]!).with(second, logs[first]!) })
      default:
        return withParts(transaction, { logs: logs.with(first, garbled(logs[first]!, text)) })
    }
  })

function garbled(line: string, text: string): string {
  const start = /^Program (data: |log: ray_log: )/.exec(line)?.[0] ?? 'Program data: '
  return start + text
}

export const anyMutation: fc.Arbitrary<Mutation> = fc
  .array(fc.oneof(instructionMutation, withoutBalance, fc.constant(withoutHeights), logMutation), {
    minLength: 1,
    maxLength: 4
  })
  .map((mutations) => (transaction) => mutations.reduce((mutated, mutate) => mutate(mutated), transaction))
