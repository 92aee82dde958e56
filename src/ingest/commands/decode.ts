import { explainTransaction } from '../../chain/explain.ts'
import { decodeTransactions } from '../../chain/decode-block.ts'
import { encodeBase58 } from '../../chain/base58.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { eventBodies, type Recorded } from '../bodies/recorded.ts'
import { readInputs, type InputRecord } from '../../recorded/inputs.ts'
import type { Invocation } from '../../kernel/cli/command.ts'

/** Prints the events of getTransaction and getBlock results, one JSON object a line, as the service serves them. */
export async function decode({
  operands,
  options: { explain },
  stdout,
  stderr,
  stdin
}: Invocation<{ readonly explain?: true | undefined }>): Promise<number> {
  let failed = false
  for await (const { name, outcome } of readInputs(operands.length === 0 ? ['-'] : operands, stdin)) {
    const recorded = recordedOf(outcome)
    if (typeof recorded === 'string') {
      failed = true
      stderr(`millrace: ${name}: ${recorded}`)
      continue
    }
    for (const problem of recorded.problems) stderr(`millrace: ${name}: ${problem}`)
    if (explain === true) for (const transaction of recorded.transactions) explainTo(transaction, stdout)
    const { entries } = decodeTransactions(recorded.transactions)
    for (const body of eventBodies(recorded, entries)) stdout(JSON.stringify(body))
  }
  return failed ? 1 : 0
}

/** Returns the transactions of a record, or the reason why it has none. */
function recordedOf(
  outcome: InputRecord['outcome']
): (Recorded & { readonly problems: readonly string[] }) | string {
  switch (outcome.kind) {
    case 'block': {
      const { block } = outcome
      return {
        ...block,
        problems: block.unreadable.map(({ index, reason }) => `transaction ${index}: ${reason}`)
      }
    }
    case 'transaction': {
      const { transaction, slot, blockTime } = outcome
      return { slot, blockTime, parentSlot: null, transactions: [transaction], votes: 0, problems: [] }
    }
    case 'rpc-error':
      return `a JSON-RPC error, ${outcome.code}: ${outcome.message}`
    case 'absent':
      return 'the result is null: the node has no such block or transaction'
    case 'unreadable':
      return outcome.reason
    case 'other':
      return 'neither a getTransaction nor a getBlock result'
    case 'not-json':
      return `no JSON: ${outcome.detail}`
  }
}

function explainTo(transaction: Transaction, stdout: (line: string) => void): void {
  const signature = encodeBase58(transaction.signature)
  const { failed, version, logs, nestingKnown } = transaction
  const calls = explainTransaction(transaction)
  stdout(
    JSON.stringify({
      kind: 'explain',
      signature,
      version,
      failed,
      logs: logs === null ? 'absent' : logs.includes('Log truncated') ? 'truncated' : 'complete',
      nesting: nestingKnown ? 'known' : 'not stated',
      venue_calls: calls.length
    })
  )
  for (const call of calls) {
    stdout(
      JSON.stringify({
        kind: 'explain-call',
        signature,
        ix_index: call.ixIndex,
        inner_ix_index: call.innerIxIndex,
        venue: call.venue,
        program: call.program,
        instruction: call.instruction,
        discriminator: call.discriminator,
        accounts: call.accounts,
        movements: call.movements,
        stated_events: call.stated,
        logged_events: call.logged,
        log: call.log,
        gave: failed ? [] : call.events.map((event) => event.kind),
        ...(failed ? { because: 'the transaction failed' } : {}),
        notes: call.notes
      })
    )
  }
}
